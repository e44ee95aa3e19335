"""Q, K and V from a file of the reader's own, ready for attnlib's head."""

from dataclasses import dataclass

import numpy as np

from attnlib.lessons.arrays import files, names
from attnlib.lessons.arrays import layout as layouts
from attnlib.lessons.arrays.refusals import ArraysError

__all__ = ["Arrays", "ArraysError", "load"]


@dataclass(frozen=True, eq=False, repr=False)
class Arrays:
    """Inputs of one or more heads, ready for `scaled_dot_product_self_attention`.

    Attributes
    ----------
    query, key, value : numpy.ndarray
        Shape [batch, tokens, features], read-only. Heads ride on the batch axis: head h of the
        file's item b is ``b * heads + h``.
    labels : tuple of str
        One for each token: the file's, or "token 0", "token 1", ...
    heads : int
        How many heads an item of the file's batch has: 1 if its layout names none.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    labels: tuple
    heads: int

    def __repr__(self):
        batch, tokens, width = self.query.shape
        return (
            f"Arrays(batch={batch}, heads={self.heads}, tokens={tokens}, key_width={width}, "
            f"value_width={self.value.shape[2]}, dtype={self.query.dtype})"
        )


def load(path, layout=None, *, query=None, key=None, value=None, labels=None):
    """Read Q, K, V and the tokens' labels from a file.

    Parameters
    ----------
    path : path
        An ``.npz`` file, which is read without pickle, or a ``.safetensors`` file.
    layout : str
        What the two to four axes of Q, K and V are, the first one first: "tokens" and "width", and
        "batch" and "heads" where there are such, in any order, for example
        ``"batch heads tokens width"``. It is asked for, since a wrong guess would be silent.
    query, key, value : str, optional
        The arrays' names in the file; else what is called query, queries, q or Q, and so on.
    labels : str or sequence of str, optional
        The labels' name in the file, or the labels themselves; else what is called labels or
        tokens. A .safetensors file keeps them among its metadata, as a list in JSON.

    Returns
    -------
    Arrays
        In [batch, tokens, features], in the file's own type of number.

    Raises
    ------
    ArraysError
        A ValueError that names the array, the axis and the mend.
    ImportError
        If the file is a .safetensors file and safetensors isn't installed.
    """
    chosen = {"query": query, "key": key, "value": value}
    with files.opened(path) as file:
        found = {each: names.operand(file, each, chosen[each]) for each in names.OPERANDS}
        arrays = {each: file.array(name) for each, name in found.items()}
        shape = arrays["query"].shape
        axes = layouts.parsed(layout, found["query"], shape)
        layouts.check(found, arrays, axes)
        ready = {each: layouts.ordered(array, axes) for each, array in arrays.items()}
        texts = names.labels(file, labels, ready["query"].shape[1])
    heads = shape[axes.index("heads")] if "heads" in axes else 1
    return Arrays(**ready, labels=texts, heads=heads)
