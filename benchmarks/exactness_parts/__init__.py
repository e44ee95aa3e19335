"""What `exactness.py` measures: seeded heads, the exact stages, three sides, errors, bars."""
