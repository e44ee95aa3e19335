"""A record in, a thing to look at out: text, HTML, matplotlib pictures. Nothing computes here."""
