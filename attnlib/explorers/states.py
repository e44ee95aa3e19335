"""What an explorer can be set to: accepted inputs of one head, presets, and the code for them."""

from dataclasses import dataclass

import numpy as np

from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.lessons import examples

LARGEST_TOKENS = LARGEST_WIDTH = 8

PRESETS = tuple(name for name in examples.NAMES if name != "real-head")
"""Names of the examples that an explorer can start from: one batch item each."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """One batch item's inputs, each with its batch axis of one.

    Attributes
    ----------
    query, key : numpy.ndarray
        Shape [1, tokens, d_k], float64.
    value, grad_output : numpy.ndarray
        Shape [1, tokens, d_v], float64.
    labels : tuple of str
        The tokens' own words, or none.
    note : str
        Where the numbers come from; empty for most.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    grad_output: np.ndarray
    labels: tuple = ()
    note: str = ""

    @property
    def arrays(self):
        """The four arrays by name."""
        return {name: x for name, x in vars(self).items() if isinstance(x, np.ndarray)}

    @property
    def words(self):
        """Labels and note by name, where there are any."""
        named = {"labels": list(self.labels), "note": self.note}
        return {name: words for name, words in named.items() if words}


def as_inputs(query=None, key=None, value=None, grad_output=None, labels=None, note=""):
    """Accept what a person gives: nothing for the worked example, or matrices of one item.

    Returns
    -------
    Inputs
        Copies in float64.

    Raises
    ------
    ValueError
        If only some of Q, K and V are given, or more than one batch item, or too many tokens or
        features to stand side by side, or labels of another count.
    SelfAttentionError
        If the core refuses them.
    """
    if query is None and key is None and value is None:
        example = examples.load("worked-example")
        query, key, value = example.query, example.key, example.value
    missing = [n for n, x in (("query", query), ("key", key), ("value", value)) if x is None]
    if missing:
        raise ValueError(
            f"query, key and value go together, got no {' and no '.join(missing)}: give all three, "
            "or none for the worked example"
        )
    head = scaled_dot_product_self_attention(*(_with_batch(x) for x in (query, key, value)))
    batch, tokens, _ = head.query.shape
    if batch != 1:
        raise ValueError(
            f"an explorer shows one batch item, got {batch}: choose one, such as query[0:1], "
            "key[0:1] and value[0:1]"
        )
    if max(tokens, head.key_width, head.value_width) > LARGEST_WIDTH:
        raise ValueError(
            f"an explorer shows up to {LARGEST_TOKENS} tokens and {LARGEST_WIDTH} features, got "
            f"{tokens} tokens, d_k = {head.key_width} and d_v = {head.value_width}: take a part, "
            "such as query[:, :8, :8]"
        )
    if grad_output is None:
        grad_output = np.eye(tokens, head.value_width)
    grad_output = np.array(_with_batch(grad_output), dtype=np.float64)
    head.backward(grad_output)
    return Inputs(
        *(x.astype(np.float64) for x in (head.query, head.key, head.value)),
        grad_output,
        as_labels(labels, tokens),
        str(note),
    )


def as_labels(labels, tokens):
    """Accept the tokens' own words.

    Parameters
    ----------
    labels : sequence of str or None
        A text for each token, whatever stands in it.
    tokens : int
        How many there are to be.

    Returns
    -------
    tuple of str
        Empty for None.

    Raises
    ------
    ValueError
        If they are no texts, or not as many as tokens.
    """
    labels = as_texts(() if labels is None else labels)
    if labels and len(labels) != tokens:
        raise ValueError(
            f"labels must be one for each of the {tokens} tokens, got {len(labels)}: give as many "
            "labels as tokens, or none"
        )
    return labels


def as_texts(labels):
    """Accept a list of texts of any length; anything else is a ValueError."""
    if isinstance(labels, (str, bytes)) or not np.iterable(labels):
        raise ValueError(f"labels must be a list of texts, one a token, got {labels!r}")
    labels = tuple(labels)
    wrong = [label for label in labels if not isinstance(label, str)]
    if wrong:
        raise ValueError(f"labels must be texts, got {wrong[0]!r}: write it as a text, in quotes")
    return tuple(map(str, labels))


def preset(name):
    """The inputs of a named example.

    Parameters
    ----------
    name : str
        One of `PRESETS`.

    Returns
    -------
    Inputs
        Fresh copies.
    """
    example = examples.load(name)
    return as_inputs(example.query, example.key, example.value, example.grad_output)


def code_of(inputs):
    """Write Python that opens an explorer on these inputs.

    Returns
    -------
    str
        Two statements, with every number to the last bit, and labels and note where there are any.
    """
    arguments = "".join(
        f"    {name}={array[0].tolist()!r},\n" for name, array in inputs.arrays.items()
    )
    arguments += "".join(f"    {name}={words!r},\n" for name, words in inputs.words.items())
    return f"from attnlib.explorers import HeadExplorer\nexplorer = HeadExplorer(\n{arguments})\n"


def moved(name, old, new):
    """Name what changed between two states of one matrix: the matrix and the cells.

    Returns
    -------
    tuple
        Equal for two moves of the same slider.
    """
    lines = enumerate(zip(old, new, strict=False))
    cells = [
        (t, f)
        for t, (before, after) in lines
        for f, (one, other) in enumerate(zip(before, after, strict=False))
        if one != other
    ]
    return (name, *cells)


def _with_batch(x):
    try:
        array = np.asarray(x)
    except ValueError:
        # The core says in its own words what is wrong with it.
        return x
    return array[None] if array.ndim == 2 else x
