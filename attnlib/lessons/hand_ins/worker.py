"""``python -m attnlib.lessons.hand_ins.worker``: check one hand-in in a process of its own.

It is started by `folders` and writes one JSON object. What the hand-in prints is dropped.
"""

import contextlib
import json
import os
import sys

from attnlib.lessons.checking.attempts import in_words
from attnlib.lessons.hand_ins import results

MEMORY = 4 * 2**30
"""Bytes that a hand-in may ask for, where the system can hold it to that."""
FILE = 64 * 2**20
"""Bytes that a file may have which it writes."""


def main(arguments):
    """Check the hand-in at an address, and end this process.

    Parameters
    ----------
    arguments : list of str
        The address, and any of ``--backward`` and ``--alone`` (its neighbours stay unknown to it).
    """
    address, *options = arguments
    answer = os.dup(sys.stdout.fileno())
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    _limit()
    try:
        result = results.check(address, "--backward" in options, "--alone" not in options)
    except Exception as error:
        # A fault of ours is not to look like one of the learner's.
        said = results.one_line(f"the check itself failed: {in_words(error)}")
        result = results.Result("", results.NOT_RUN, said=said)
    os.write(answer, json.dumps(result.as_plain()).encode())
    # At once: a thread that it left, or what it asked to be done at exit, could go on for ever.
    os._exit(0)


def _limit():
    try:
        import resource
    except ModuleNotFoundError:
        # Windows has no such limits.
        return
    limits = {"RLIMIT_DATA": MEMORY, "RLIMIT_FSIZE": FILE, "RLIMIT_CORE": 0}
    for name, size in limits.items():
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (size, size))


if __name__ == "__main__":
    main(sys.argv[1:])
