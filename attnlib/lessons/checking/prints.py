"""Keep what one thread prints apart from what everyone else prints."""

import io
import sys
import threading
from contextlib import contextmanager

KEPT = 10_000
STREAMS = ("stdout", "stderr")


@contextmanager
def kept_apart(thread):
    """Keep what a thread prints, for as long as it lives.

    Parameters
    ----------
    thread : threading.Thread
        Not started yet.

    Yields
    ------
    callable
        Gives what was printed so far, at most the first 10000 characters.
    """
    kept = _Kept()
    splits = {name: _Split(_without_the_dead(getattr(sys, name)), thread, kept) for name in STREAMS}
    _put(splits)
    try:
        yield kept.getvalue
    finally:
        # A thread that can't be stopped may go on printing, so it keeps its own stream.
        _put({name: _without_the_dead(split) for name, split in splits.items()})


def _put(streams):
    for name, stream in streams.items():
        setattr(sys, name, stream)


def _without_the_dead(stream):
    while isinstance(stream, _Split) and not stream.thread.is_alive():
        stream = stream.behind
    return stream


class _Split:
    """A stream that is one thing to one thread, and the stream behind it to all others."""

    def __init__(self, behind, thread, kept):
        self.behind = behind
        self.thread = thread
        self.kept = kept

    def __getattr__(self, name):
        own = threading.current_thread() is self.thread
        return getattr(self.kept if own else self.behind, name)

    def __iter__(self):
        return iter(self.behind)


class _Kept(io.StringIO):
    """Text in memory that stays small and open."""

    def write(self, text):
        super().write(text[: max(0, KEPT - self.tell())])
        return len(text)

    def close(self):
        """Stay open: what was printed is still to be read."""
