"""Named inputs for one head, the lesson's worked example first.

Each example is small enough to follow by hand, but for the last, which a published sentence encoder
made. `load` gives one by name; `NAMES` lists them in teaching order.
"""

from dataclasses import dataclass
from importlib import resources

import numpy as np

from attnlib.core.head import scaled_dot_product_self_attention


@dataclass(frozen=True, eq=False)
class Example:
    """Inputs of one head and what they are there to show.

    Attributes
    ----------
    name, title, note : str
        The key it is loaded by, a title, and what to look at.
    query, key : numpy.ndarray
        Shape [batch, tokens, d_k].
    value, grad_output : numpy.ndarray
        Shape [batch, tokens, d_v].
    tokens : tuple of str
        A label for each token.
    """

    name: str
    title: str
    note: str
    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    grad_output: np.ndarray
    tokens: tuple

    def head(self):
        """Compute the head on these inputs.

        Returns
        -------
        SelfAttentionForward
            Every stage.
        """
        return scaled_dot_product_self_attention(self.query, self.key, self.value)


QUERY = [[0, 3], [2, -1]]
KEY = [[3, 0], [-1, 2]]
VALUE = [[3, -3], [1, 3]]
SEED = [[1, 0], [0, 1]]


def load(name):
    """Make the example of this name.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Returns
    -------
    Example
        Fresh arrays, which the caller may change.

    Raises
    ------
    ValueError
        If there is no such example; the message lists those there are.
    """
    if name not in EXAMPLES:
        raise ValueError(f"there is no example {name!r}: choose one of {', '.join(NAMES)}")
    title, note, make = EXAMPLES[name]
    *arrays, tokens = make()
    return Example(name, title, note, *arrays, tokens)


def _item(query, key, value, grad_output):
    arrays = [np.array(x, dtype=np.float64)[None] for x in (query, key, value, grad_output)]
    return *arrays, tuple(f"token {t}" for t in range(len(query)))


def _swapped():
    return _item(QUERY[::-1], KEY[::-1], VALUE[::-1], SEED[::-1])


def _random():
    draw = np.random.default_rng(2017).standard_normal
    shapes = [(3, 4), (3, 4), (3, 2), (3, 2)]
    return _item(*(np.round(draw(shape), 2) for shape in shapes))


def _real():
    path = resources.files("attnlib.lessons") / "data" / "real_head.npz"
    with path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
        arrays = [saved[name] for name in ("query", "key", "value")]
        tokens = tuple(str(token) for token in saved["tokens"])
    seed = np.random.default_rng(2017).standard_normal(arrays[2].shape)
    return *arrays, seed, tokens


EXAMPLES = {
    "worked-example": (
        "The worked example",
        "two tokens that each prefer the other: follow every number by hand",
        lambda: _item(QUERY, KEY, VALUE, SEED),
    ),
    "equal-keys": (
        "Equal keys",
        "no key stands out, so every query mixes the values evenly",
        lambda: _item(QUERY, [KEY[0], KEY[0]], VALUE, SEED),
    ),
    "one-token": (
        "One token",
        "with a single key its weight is 1, whatever the score",
        lambda: _item([[1, 2]], [[3, 1]], [[5, -2]], [[1, 1]]),
    ),
    "swapped-tokens": (
        "Swapped tokens",
        "the worked example in the other order: the outputs swap along",
        _swapped,
    ),
    "value-width-one": (
        "Values of width one",
        "d_v may differ from d_k: each output is one number",
        lambda: _item(QUERY, KEY, [[3], [1]], [[1], [-1]]),
    ),
    "large-scores": (
        "Large scores",
        "raw scores 1000 and 0: a softmax without the row's maximum taken off would overflow",
        lambda: _item([[100, 0], [0, 1]], [[10, 0], [0, 10]], VALUE, SEED),
    ),
    "random": (
        "Seeded random numbers",
        "three tokens, d_k = 4, d_v = 2: no two axes have one length but the token axes",
        _random,
    ),
    "real-head": (
        "Twelve heads of a published sentence encoder",
        "16 tokens, d_k = 32: all heads of its third layer, one a batch item",
        _real,
    ),
}
"""name -> title, note, and the function that makes its arrays and token labels."""

NAMES = tuple(EXAMPLES)
"""Every example's name, in teaching order."""
