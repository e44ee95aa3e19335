"""What `redraw.py` measures: the usual way, kernel time, memory, and a real browser."""
