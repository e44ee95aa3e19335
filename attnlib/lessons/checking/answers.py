"""What a hand-in returned, read as stages: NumPy arrays by name, or the reason why there are none.

Reading is kind about the container and the array type, and never looks at the entries: whether
they are right is for :mod:`attnlib.lessons.checking.naming`.
"""

from collections.abc import Coroutine, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

STAGES = ("raw_scores", "scaled_scores", "weights", "output")
GRADIENTS = ("query", "key", "value")
# The fixtures are small; what is larger is not even looked at.
LARGEST = 10**6
OTHER_NAMES = {"dot_products": "raw_scores", "probabilities": "weights"}
WANTED = (
    "the output, the pair (output, weights), or a dict with some of raw_scores, scaled_scores, "
    "weights and output"
)


@dataclass(frozen=True)
class Problem:
    """Why nothing can be compared.

    Attributes
    ----------
    kind : str
        ``"not-attempted"``, ``"nothing"``, ``"generator"``, ``"text"``, ``"complex"``,
        ``"not-numbers"``, ``"too-large"``, ``"items"`` or ``"stage-names"``.
    message : str
        What came, what was expected, and the mend.
    """

    kind: str
    message: str


@dataclass(frozen=True, eq=False)
class Answer:
    """The stages that were handed in, in the order in which a head computes them.

    Attributes
    ----------
    stages : dict of str to numpy.ndarray
        Empty where there is a problem.
    problem : Problem or None
        Why there is nothing to compare.
    returned : dict of str to numpy.ndarray
        The arrays themselves, of which `stages` holds copies: a hand-in may use them again.
    """

    stages: dict
    problem: Problem | None = None
    returned: dict = field(default_factory=dict)


class _ReadError(Exception):
    def __init__(self, kind, message):
        super().__init__(message)
        self.problem = Problem(kind, message)


def read(returned, stages=None):
    """Read what a forward hand-in returned.

    Parameters
    ----------
    returned : object
        An array, the pair (output, weights), a dict of stages, or a head's record.
    stages : sequence of str, optional
        What it should be read as, where it is not one of these.

    Returns
    -------
    Answer
        Never raises for what was returned.
    """
    try:
        found = _named(returned, stages)
        arrays = {name: as_array(name, found[name]) for name in STAGES if name in found}
        if not arrays:
            _check_given(None, WANTED)
    except _ReadError as error:
        return Answer({}, error.problem)
    return _kept(arrays)


def read_gradients(returned):
    """Read the three gradients that a backward hand-in returned, named query, key and value.

    Parameters
    ----------
    returned : object
        Three arrays, or a dict or a record with query, key and value.

    Returns
    -------
    Answer
        Never raises for what was returned.
    """
    try:
        _check_given(returned, "three gradients (dQ, dK, dV)")
        if isinstance(returned, Mapping):
            found = returned
        elif all(hasattr(returned, name) for name in GRADIENTS):
            found = {name: getattr(returned, name) for name in GRADIENTS}
        else:
            items = _items(returned, 3)
            found = dict(zip(GRADIENTS, items, strict=True))
        missing = [name for name in GRADIENTS if name not in found]
        if missing:
            raise _ReadError(
                "stage-names",
                f"the dict must hold query, key and value, and lacks {', '.join(missing)}: "
                "return the tuple (dQ, dK, dV)",
            )
        arrays = {name: as_array(f"the gradient of {name}", found[name]) for name in GRADIENTS}
    except _ReadError as error:
        return Answer({}, error.problem)
    return _kept(arrays)


def _kept(arrays):
    return Answer({name: array.copy() for name, array in arrays.items()}, returned=arrays)


def as_array(name, returned):
    """View one item as a NumPy array of real numbers; tensors are detached and brought to the CPU.

    Raises a private error that `read` and `read_gradients` turn into a `Problem`.
    """
    _check_given(returned, f"an array for {name}")
    try:
        if hasattr(returned, "detach"):
            returned = returned.detach().cpu().numpy()
        array = np.asarray(returned)
    except Exception as error:
        # Whatever was returned may raise anything here.
        raise _ReadError(
            "not-numbers",
            f"{name} can't become one array ({type(error).__name__}: {error}): return an array "
            "whose rows all have the same length",
        ) from None
    if array.dtype.kind == "c":
        raise _ReadError(
            "complex", f"{name} has complex entries: a head of real inputs has real stages"
        )
    if array.size > LARGEST:
        raise _ReadError(
            "too-large",
            f"{name} has the shape {array.shape}, far more than there is to compare: look for a "
            "product that broadcasts",
        )
    if array.dtype.kind not in "biuf":
        raise _ReadError(
            "not-numbers", f"{name} must hold real numbers, got the type {array.dtype}"
        )
    return array


def _check_given(returned, wanted):
    if returned is None:
        raise _ReadError(
            "nothing", f"it returned None: end the function with `return`, and give {wanted}"
        )
    if returned is Ellipsis or returned is NotImplemented:
        raise _ReadError("not-attempted", "not attempted yet")
    if isinstance(returned, Coroutine):
        returned.close()
        raise _ReadError(
            "generator",
            "it returned a coroutine, which computes nothing by itself: write `def` without "
            f"`async`, and return {wanted}",
        )
    if isinstance(returned, Iterator):
        raise _ReadError(
            "generator",
            f"it returned a generator, which computes nothing by itself: use `return` in place "
            f"of `yield`, and give {wanted}",
        )
    if isinstance(returned, str | bytes):
        raise _ReadError("text", f"it returned text, {returned[:40]!r}: return {wanted}")


def _named(returned, stages):
    _check_given(returned, WANTED)
    if isinstance(returned, Mapping):
        return _from_mapping(returned)
    if all(hasattr(returned, name) for name in STAGES):
        return {name: getattr(returned, name) for name in STAGES}
    if stages is not None:
        items = [returned] if len(stages) == 1 else _items(returned, len(stages))
        return dict(zip(stages, items, strict=True))
    if _is_pair(returned):
        output, weights = _items(returned, 2)
        # Libraries return (output, None) where the weights were not asked for.
        return {"output": output} if weights is None else {"output": output, "weights": weights}
    return {"output": returned}


def _is_pair(returned):
    """Tell (output, weights) from a list of one output for each batch item."""
    if isinstance(returned, tuple):
        return not (returned and all(getattr(item, "ndim", 3) == 2 for item in returned))
    return isinstance(returned, list) and any(getattr(item, "ndim", 0) == 3 for item in returned)


def _items(returned, count):
    items = list(returned) if isinstance(returned, tuple | list) else [returned]
    if len(items) != count:
        came = f"{len(items)} item{'s' if len(items) != 1 else ''}"
        wanted = WANTED if count == 2 else "the tuple (dQ, dK, dV)" if count == 3 else f"{count}"
        raise _ReadError("items", f"it returned {came}, where {count} were expected: give {wanted}")
    return items


def _from_mapping(returned):
    found = {OTHER_NAMES.get(name, name): item for name, item in returned.items()}
    if not set(found) & set(STAGES):
        names = ", ".join(map(repr, returned)) or "nothing"
        raise _ReadError(
            "stage-names",
            f"the dict holds {names}, and none of {', '.join(STAGES)}: name the stages so",
        )
    return {name: item for name, item in found.items() if item is not None}
