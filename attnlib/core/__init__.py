"""The attention head itself: refusals, tape, forward and backward, gradient check. NumPy only."""
