"""Undo and redo: the last states of an explorer, oldest first."""

import time

MOST = 50
PAUSE = 1.0
"""Seconds: moves of one slider that follow each other faster are one change."""


class Changes:
    """A list of states with a place in it.

    Parameters
    ----------
    state : object
        The state to begin with; states are kept as they are given.
    """

    def __init__(self, state):
        self._states = [state]
        self._now = 0
        self._last = (None, 0.0)

    @property
    def can_undo(self):
        """Whether there is a state before this one."""
        return self._now > 0

    @property
    def can_redo(self):
        """Whether there is a state after this one."""
        return self._now < len(self._states) - 1

    def record(self, state, what=None):
        """Add a state after the present one, and forget what had been undone.

        Parameters
        ----------
        state : object
            The new state.
        what : object, optional
            What was moved: further moves of the same within a second belong to the same change.
        """
        time_now = time.monotonic()
        same, before = self._last
        merged = what is not None and what == same and time_now - before < PAUSE
        del self._states[self._now + 1 :]
        if merged and self._now > 0:
            self._states[self._now] = state
        else:
            self._states.append(state)
            del self._states[: -(MOST + 1)]
            self._now = len(self._states) - 1
        self._last = (what, time_now)

    def undo(self):
        """Go one state back and return it."""
        return self._go(-1)

    def redo(self):
        """Go one state forward and return it."""
        return self._go(1)

    def _go(self, step):
        self._now = min(max(self._now + step, 0), len(self._states) - 1)
        self._last = (None, 0.0)
        return self._states[self._now]
