"""The inputs that a hand-in is tried on, and the right answer to each.

Every mistake must show on one of them. Sizes that all differ show an exchanged axis; sizes that are
all equal let it run; the extreme ones show a softmax that overflows or underflows.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from attnlib.core.head import scaled_dot_product_self_attention


@dataclass(frozen=True, eq=False)
class Fixture:
    """Inputs of one head, and a gradient of its output.

    Attributes
    ----------
    name : str
        What the fixture is called in a verdict.
    query, key : numpy.ndarray
        Shape [batch, tokens, d_k].
    value, grad_output : numpy.ndarray
        Shape [batch, tokens, d_v].
    extreme : bool
        Whether its scores are too large, or too far apart, for a softmax without care.
    """

    name: str
    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    grad_output: np.ndarray
    extreme: bool = False

    @property
    def inputs(self):
        """Query, key and value, as a hand-in takes them."""
        return self.query, self.key, self.value

    @property
    def size(self):
        """How many numbers there are to read in query, key and value."""
        return sum(array.size for array in self.inputs)


def _drawn(name, batch, tokens, width, value_width, seed, dtype=np.float64):
    """Standard normals with one decimal, for people to read."""
    random = np.random.default_rng(seed)
    widths = (width, width, value_width, value_width)
    arrays = (random.standard_normal((batch, tokens, features)).round(1) for features in widths)
    return Fixture(name, *(array.astype(dtype) for array in arrays))


def _extreme(name, query, key):
    """One feature a token, so that no scale hides the scores."""
    columns = (np.array([[[x] for x in entries]], dtype=float) for entries in (query, key, [1, 2]))
    return Fixture(name, *columns, np.array([[[1.0], [-2.0]]]), extreme=True)


def _whole(name, seed):
    random = np.random.default_rng(seed)
    widths = (5, 5, 4, 4)
    return Fixture(name, *(random.integers(-2, 4, size=(2, 3, features)) for features in widths))


MAIN = _drawn("main", batch=2, tokens=3, width=5, value_width=4, seed=27)
SQUARE = _drawn("square", batch=3, tokens=3, width=3, value_width=3, seed=28)
SMALL = Fixture(
    "small",
    np.array([[[1.0, 2.0], [0.0, 1.0]]]),
    np.array([[[1.0, 0.0], [2.0, 1.0]]]),
    np.array([[[1.0, 0.0], [2.0, 3.0]]]),
    np.array([[[1.0, -1.0], [0.5, 2.0]]]),
)
OVERFLOW = _extreme("scores 1000 and 0", [1, 1], [1000, 0])
UNLIKE_QUERIES = _extreme("scores 1, 2 and -1000, -2000", [1, -1000], [1, 2])
FAR_BELOW = _extreme("scores -60000 and -60001", [1, 1], [-60000, -60001])
ONE_ITEM = _drawn("batch of one", batch=1, tokens=3, width=5, value_width=4, seed=29)
ONE_TOKEN = _drawn("one token", batch=2, tokens=1, width=5, value_width=4, seed=30)
EMPTY_BATCH = _drawn("empty batch", batch=0, tokens=3, width=5, value_width=4, seed=31)
SINGLE = _drawn("float32", 2, 3, 5, 4, seed=32, dtype=np.float32)
INTEGERS = _whole("integers", seed=33)

FIXTURES = (
    MAIN,
    SQUARE,
    SMALL,
    ONE_ITEM,
    ONE_TOKEN,
    SINGLE,
    OVERFLOW,
    UNLIKE_QUERIES,
    FAR_BELOW,
    EMPTY_BATCH,
    INTEGERS,
)


@lru_cache(maxsize=64)
def right(fixture):
    """Return the record of the right head on a fixture.

    Parameters
    ----------
    fixture : Fixture
        One of `FIXTURES`, or another.

    Returns
    -------
    SelfAttentionForward
        Computed once for each fixture.
    """
    return scaled_dot_product_self_attention(*fixture.inputs)


@lru_cache(maxsize=64)
def right_gradients(fixture):
    """Return the gradients of the right head on a fixture, for its own grad_output.

    Returns
    -------
    SelfAttentionGradients
        Computed once for each fixture.
    """
    return right(fixture).backward(fixture.grad_output)


def part(fixture, items, tokens, width, value_width):
    """Return the first items, tokens and features of a fixture, as a fixture of its own."""
    shown = {"query": width, "key": width, "value": value_width, "grad_output": value_width}
    arrays = {
        name: getattr(fixture, name)[:items, :tokens, :features].copy()
        for name, features in shown.items()
    }
    sizes = f"{items} x {tokens} tokens, d_k={width}, d_v={value_width}"
    return Fixture(f"part of {fixture.name}: {sizes}", **arrays, extreme=fixture.extreme)
