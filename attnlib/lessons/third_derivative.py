"""How fast the slope's own bend changes: the third derivative of L along every entry.

It says how wrong a central difference is for a wide step: by h² / 6 times this number.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class ThirdDerivatives:
    """The third derivative of the objective along each entry, one entry moved at a time.

    Attributes
    ----------
    query, key : numpy.ndarray
        Shape [batch, tokens, d_k].
    value : numpy.ndarray
        Shape [batch, tokens, d_v]: zeros, since L is a straight line in every value.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray


def third_derivatives(head, gradients):
    """Compute the third derivative of the objective along every entry of Q, K and V.

    Parameters
    ----------
    head : SelfAttentionForward
        Any head.
    gradients : SelfAttentionGradients
        Of the same head; they hold which objective is meant.

    Returns
    -------
    ThirdDerivatives
        In the shapes of the inputs.

    Notes
    -----
    An entry that moves by t adds ``t c_j`` to the scaled score of key j. Each derivative for t of
    a mean under softmax weights is one more joint cumulant with c (Kendall's Advanced Theory of
    Statistics, vol. 1, ch. 3); the third is ``E[g c c c] - 3 E[g c] E[c c]``, with g = dA and c
    both taken less their means. ``E[g x]`` is then the sum over keys of dS times x.
    """
    weights, grad_scores = head.weights, gradients.scaled_scores  # [B, T, T]
    moves = head.key[:, None] * head.scale  # [B, 1, T, d_k]: c for an entry of a query
    centred = moves - (weights @ head.key)[:, :, None] * head.scale  # [B, T, T, d_k]
    cubed = np.einsum("bij,bijf->bif", grad_scores, centred**3)
    mixed = np.einsum("bij,bijf->bif", grad_scores, centred)
    spread = np.einsum("bij,bijf->bif", weights, centred**2)
    # For an entry of a key only that key's scores move, and the cumulants shrink to this factor.
    alone = grad_scores * (1 - 6 * weights + 6 * weights**2)
    return ThirdDerivatives(
        query=cubed - 3 * mixed * spread,
        key=alone.swapaxes(1, 2) @ (head.query * head.scale) ** 3,
        value=np.zeros_like(head.value),
    )
