"""The parts of class.py."""
