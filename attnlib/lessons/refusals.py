"""One smallest bad input for each refusal, and what the head says to it."""

import numpy as np

from attnlib.core.errors import SelfAttentionError
from attnlib.core.head import scaled_dot_product_self_attention


def _zeros(*shape):
    return np.zeros(shape)


def _with(array, index, entry):
    array[index] = entry
    return array


TWO = (1, 2, 2)

BAD_INPUTS = {
    "input-dtype": lambda: (np.array([[["a"]]]), _zeros(1, 1, 1), _zeros(1, 1, 1)),
    "input-rank": lambda: (_zeros(2, 2), _zeros(*TWO), _zeros(*TWO)),
    "batch-mismatch": lambda: (_zeros(*TWO), _zeros(2, 2, 2), _zeros(*TWO)),
    "token-mismatch": lambda: (_zeros(*TWO), _zeros(1, 3, 2), _zeros(*TWO)),
    "empty-token-axis": lambda: (_zeros(1, 0, 2), _zeros(1, 0, 2), _zeros(1, 0, 2)),
    "empty-feature-width": lambda: (_zeros(*TWO), _zeros(*TWO), _zeros(1, 2, 0)),
    "query-key-width-mismatch": lambda: (_zeros(*TWO), _zeros(1, 2, 3), _zeros(*TWO)),
    "non-finite-input": lambda: (
        _zeros(*TWO),
        _with(_zeros(*TWO), (0, 1, 0), np.nan),
        _zeros(*TWO),
    ),
    "non-finite-stage": lambda: (
        np.full((1, 1, 1), 1e200),
        np.full((1, 1, 1), 1e200),
        _zeros(1, 1, 1),
    ),
    "too-large": lambda: (_zeros(1, 16384, 1), _zeros(1, 16384, 1), _zeros(1, 16384, 1)),
}
"""kind -> a function that makes the Q, K and V which provoke it."""


def provoke(kind):
    """Hand the head a bad input and return the refusal it answers with.

    Parameters
    ----------
    kind : str
        One of `BAD_INPUTS`, or ``"gradient-shape"``.

    Returns
    -------
    SelfAttentionError or None
        The refusal; None if the head accepted the input.
    """
    try:
        if kind == "gradient-shape":
            good = (_zeros(*TWO), _zeros(*TWO), _zeros(1, 2, 3))
            scaled_dot_product_self_attention(*good).backward(_zeros(*TWO))
        else:
            scaled_dot_product_self_attention(*BAD_INPUTS[kind]())
    except SelfAttentionError as refusal:
        return refusal
    return None


KINDS = (*BAD_INPUTS, "gradient-shape")
"""Every kind of refusal, in the order of the checks."""
