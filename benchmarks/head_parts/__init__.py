"""What `head.py` measures: the sides that it compares, their times in turn, and their memory."""
