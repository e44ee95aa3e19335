"""Vectors as arrows in a plane of two features: queries on keys, and values into outputs."""
