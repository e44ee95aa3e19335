"""One call of a backward hand-in on one fixture, and which of its gradients depart."""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.lessons.checking import answers
from attnlib.lessons.checking.running import Outcome, run

ORDER = ("value", "query", "key")
"""The way back meets the value first, then the query and the key."""
# Wide enough for central differences, and for single precision after a cancellation.
TOLERANCES = {np.float16: 2e-2, np.float32: 1e-4}


@dataclass(frozen=True, eq=False)
class Trial:
    """What a hand-in gave on one fixture.

    Attributes
    ----------
    fixture : Fixture
        What it was called with.
    outcome : Outcome
        What became of the call.
    gradients : dict of str to numpy.ndarray
        By ``"query"``, ``"key"`` and ``"value"``; empty where there is nothing to compare.
    departing : tuple of str
        Which of them depart, in the order of the way back.
    """

    fixture: object
    outcome: Outcome
    gradients: dict
    departing: tuple = field(default=())

    @property
    def problem(self):
        """Why there is nothing to compare though the call returned, or None."""
        return None if self.outcome.value is None else self.outcome.value.problem

    @property
    def unwritten(self):
        """Whether it says itself that it is not written yet."""
        unwritten = self.problem is not None and self.problem.kind == "not-attempted"
        return unwritten or isinstance(self.outcome.error, NotImplementedError)

    @property
    def error(self):
        """What it raised, as text, or an empty text."""
        error = self.outcome.error
        return "" if error is None else f"{type(error).__name__}: {error}".removesuffix(": ")

    @property
    def half_precision(self):
        """Whether a gradient is held in half precision, or all were rounded to it on the way."""
        grads = self.gradients
        if any(grad.dtype == np.float16 for grad in grads.values()):
            return True
        with np.errstate(all="ignore"):
            halves = {name: grad.astype(np.float16) for name, grad in grads.items()}
            exact = all(np.array_equal(halves[name], grads[name]) for name in grads)
        return bool(grads) and exact and not departing(self.fixture, halves)

    @property
    def failed(self):
        """Whether anything is wrong: no gradients, or some that depart."""
        return not self.gradients or bool(self.departing)


def try_on(function, fixture, adapter=None, seconds=2.0):
    """Call a backward hand-in on a fixture and compare what it returns with the closed form."""
    outcome = run(
        function,
        (*fixture.inputs, fixture.grad_output),
        seconds=seconds,
        adapter=adapter,
        read=answers.read_gradients,
    )
    gradients = {} if outcome.value is None else outcome.value.stages
    return Trial(fixture, outcome, gradients, departing(fixture, gradients))


def departing(fixture, gradients):
    """Return the names of the gradients that depart from the closed form on a fixture."""
    right = right_gradients(fixture)
    return tuple(
        name
        for name in ORDER
        if name in gradients and not near(gradients[name], right[name], fixture, name)
    )


def near(got, expected, fixture, name, factor=1.0):
    """Whether two gradients agree within the tolerance of their types, NaN where NaN is due.

    The tolerance is relative to the largest entry that the gradient's terms have before they
    cancel: where large terms cancel, no way of computing it can give more digits.
    """
    if got.shape != expected.shape:
        return False
    types = (got.dtype.type, expected.dtype.type, fixture.query.dtype.type)
    tolerance = max(TOLERANCES.get(kind, 1e-6) for kind in types)
    with np.errstate(all="ignore"):
        finite = np.where(np.isfinite(expected), np.abs(expected), 0)
        size = max(abs(factor) * sizes(fixture)[name], np.max(finite, initial=0))
        return np.allclose(got, expected, rtol=0, atol=tolerance * size, equal_nan=True)


@lru_cache(maxsize=64)
def right_gradients(fixture):
    """The closed form in double precision, whatever the fixture's type, by input."""
    exact = [array.astype(np.float64) for array in (*fixture.inputs, fixture.grad_output)]
    found = scaled_dot_product_self_attention(*exact[:3]).backward(exact[3])
    return {name: getattr(found, name) for name in ORDER}


@lru_cache(maxsize=64)
def sizes(fixture):
    """The largest sum of absolute terms in each gradient, before anything cancels."""
    head = scaled_dot_product_self_attention(*fixture.inputs)
    query, key, value, grad = (np.abs(x) for x in (*fixture.inputs, fixture.grad_output))
    weights = head.weights
    grad_weights = grad @ value.swapaxes(1, 2)
    row_term = np.sum(weights * grad_weights, axis=2, keepdims=True)
    grad_scores = weights * (grad_weights + row_term) * head.scale
    terms = {
        "query": grad_scores @ key,
        "key": grad_scores.swapaxes(1, 2) @ query,
        "value": weights.swapaxes(1, 2) @ grad,
    }
    return {name: float(np.max(array, initial=0)) for name, array in terms.items()}
