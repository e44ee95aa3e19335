"""Run a function that may do anything: with a time limit, on copies, with its prints kept apart.

What is not held back: a function that ends the process (``os._exit``), what other programs that it
starts print, and what it shows with IPython's ``display``. One that waits inside compiled code can
be stopped by no other thread: it is left behind in its daemon thread.
"""

import ctypes
import random
import threading
import warnings
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import numpy as np

from attnlib.lessons.checking.prints import kept_apart

SECONDS = 2.0
# After an interruption, how long to wait for a thread to end, and how often to interrupt it again.
PATIENCE, TIMES = 0.1, 5


# The streams, the warning filters and the random states are everyone's.
_one_at_a_time = threading.Lock()
_here = threading.local()


class TimeLimitError(BaseException):
    """Raised in the thread of a function that runs for too long."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one call.

    Attributes
    ----------
    value : object
        What the function returned, or what `read` made of it; None if it did not return.
    error : BaseException or None
        What it raised.
    printed : str
        What it printed, at most the first 10000 characters.
    timed_out : bool
        Whether it was still running when the time limit passed.
    modified : tuple of int
        The positions of the arguments that it changed.
    handed : tuple of numpy.ndarray
        The copies that it was given.
    seconds : float
        The time limit.
    left_running : bool
        Whether it could not be stopped and is left in its daemon thread.
    """

    value: object
    error: BaseException | None
    printed: str
    timed_out: bool
    modified: tuple
    handed: tuple
    seconds: float
    left_running: bool = False


def run(function, arguments, seconds=SECONDS, adapter=None, read=None, seed=0):
    """Call a function on copies of its arguments, in a thread of its own.

    Parameters
    ----------
    function : callable
        The hand-in.
    arguments : sequence of numpy.ndarray
        What it is called with; it gets fresh copies.
    seconds : float, default 2.0
        How long it may take.
    adapter : callable, optional
        Applied to each copy first, for instance ``torch.from_numpy``.
    read : callable, optional
        Applied to what it returns, within the time limit too.
    seed : int, default 0
        Sets the global random states of `random` and `numpy.random` for the call.

    Returns
    -------
    Outcome
        Whatever happens, short of an interrupt from the keyboard.
    """
    handed = tuple(np.array(argument, order="C") for argument in arguments)
    result = {}

    def work():
        _here.is_hand_in = True
        try:
            # NumPy keeps its error state for each thread, so the caller's is not touched.
            with np.errstate(all="ignore"):
                given = [adapter(copy) for copy in handed] if adapter else handed
                value = function(*given)
                result["value"] = value if read is None else read(value)
        except BaseException as error:
            result["error"] = error

    thread = threading.Thread(target=work, daemon=True, name="hand-in")
    with _alone(), _same_afterwards(seed), kept_apart(thread) as printed:
        thread.start()
        thread.join(seconds)
        timed_out = thread.is_alive()
        left_running = timed_out and not _stopped(thread)
    # A thread that was stopped between two statements may have both, or none.
    error = None if timed_out else result.get("error")
    value = None if timed_out else result.get("value")
    modified = tuple(
        position
        for position, (before, after) in enumerate(zip(arguments, handed, strict=True))
        if not _same(np.asarray(before), after)
    )
    return Outcome(
        value, error, printed(), timed_out, modified, handed, seconds, left_running=left_running
    )


def _alone():
    """Wait until no other call runs; a hand-in that runs another one is not to wait for itself."""
    return nullcontext() if getattr(_here, "is_hand_in", False) else _one_at_a_time


def _stopped(thread):
    """Interrupt a thread and say whether it ended; one that catches everything goes on."""
    for _ in range(TIMES):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(TimeLimitError)
        )
        thread.join(PATIENCE)
        if not thread.is_alive():
            return True
    return False


def _same(before, after):
    return (
        before.shape == after.shape
        and before.dtype == after.dtype
        and np.array_equal(before, after, equal_nan=before.dtype.kind == "f")
    )


@contextmanager
def _same_afterwards(seed):
    """Put back the caller's warning filters and global random states."""
    state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        try:
            yield
        finally:
            random.setstate(state)
            np.random.set_state(numpy_state)  # noqa: NPY002
