"""How a hand-in is checked: fixtures, a guarded run, what it returned, the name of its mistake."""
