"""Tasks shared among the cores, each product of matrices on one of them.

NumPy lets other threads run while it computes, so a few threads that take tasks from one queue keep
all cores at work; BLAS's own threads would only get into their way.
"""

import math
import threading
from contextlib import contextmanager

import numpy as np

WORTH = 2**24
"""From this many steps of a product on, a second thread does more than its waking costs."""


def share(tasks, work, steps=math.inf):
    """Do `work(task)` for every task, on as many threads as BLAS has been given.

    Tasks are begun in their order. After an exception, an interrupt included, no task is begun any
    more, and the first exception is raised when the last one running has ended.

    Parameters
    ----------
    tasks : sequence
        What to do.
    work : callable
        Does one; the caller's thread takes part.
    steps : int
        Of one product in all tasks together: below `WORTH`, the caller's thread works alone.
    """
    if steps >= WORTH:
        Crew().share(tasks, work)
        return
    with one_blas_thread():
        for task in tasks:
            work(task)


class Crew:
    """The threads of one call, and what they tell each other."""

    def __init__(self):
        self._changed = threading.Condition()
        self._failure = None
        self._reached = {}

    def share(self, tasks, work, steps=math.inf):
        """Do `work(task)` for every task, as the function `share` does."""
        with one_blas_thread() as threads:
            waiting = iter(tasks)
            others = min(threads, len(tasks)) - 1 if steps >= WORTH else 0
            helpers = [
                threading.Thread(target=self._help, args=(waiting, work), daemon=True)
                for _ in range(others)
            ]
            try:
                for each in helpers:
                    each.start()
                self._work(waiting, work)
            except BaseException as failure:
                self._stop(failure)
            finally:
                for each in helpers:
                    # One that an interrupt kept from starting can't be waited for.
                    if each.ident is not None:
                        each.join()
        if self._failure is not None:
            raise self._failure

    @contextmanager
    def turn(self, place, rank):
        """Wait until all tasks of lower rank have had their turn at a place.

        What is added up there is then added in the same order for any number of threads.

        Parameters
        ----------
        place : hashable
            What only one task at a time may change.
        rank : int
            Every rank from 0 on takes one turn at a place.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._failure is not None or self._reached.get(place, 0) == rank
            )
            if self._failure is not None:
                raise _StoppedError
        yield
        with self._changed:
            self._reached[place] = rank + 1
            self._changed.notify_all()

    def _work(self, waiting, work):
        while (task := self._next(waiting)) is not None:
            work(task)

    def _next(self, waiting):
        with self._changed:
            return None if self._failure is not None else next(waiting, None)

    def _help(self, waiting, work):
        try:
            # Each thread has its own setting; overflow is told in words when all is computed.
            with np.errstate(all="ignore"):
                self._work(waiting, work)
        except BaseException as failure:
            # Told by the caller's thread, whatever it is.
            self._stop(failure)

    def _stop(self, failure):
        with self._changed:
            if self._failure is None:
                self._failure = failure
            self._changed.notify_all()


class _StoppedError(Exception):
    """Another task has failed, so this one is given up."""


_lock = threading.Lock()
_users = 0
_saved = []


@contextmanager
def one_blas_thread():
    """Keep BLAS to one thread, and give the number of threads that it had.

    Callers in several threads share the setting: the first to come makes it, the last to leave puts
    back what was found.
    """
    threads = _enter()
    try:
        yield threads
    finally:
        _leave()


def _enter():
    global _users
    with _lock:
        if _users == 0:
            _saved[:] = [(library, library.get_num_threads()) for library in _libraries()]
            for library, _ in _saved:
                _set_threads(library, 1)
        _users += 1
        return max((number for _, number in _saved), default=1)


def _leave():
    global _users
    with _lock:
        _users -= 1
        if _users == 0:
            for library, number in _saved:
                _set_threads(library, number)


def _set_threads(library, number):
    # threadpoolctl lets only the thread that has set OpenBLAS's threads first set them again, and
    # does nothing for all others. Here the last to leave may be another than the first to come.
    release = getattr(library, "clear_controlling_thread", lambda force: None)
    release(force=True)
    library.set_num_threads(number)
    release(force=True)


_found = []


def _libraries():
    """The BLAS libraries whose threads can be told: looked for once."""
    if not _found:
        # Loaded with the first head that is large enough to need it.
        from threadpoolctl import ThreadpoolController

        blas = ThreadpoolController().select(user_api="blas")
        _found.append(blas.lib_controllers)
    return _found[0]
