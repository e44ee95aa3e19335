"""A few tokens of a large head, in as few features as there are tokens, with the same weights.

A head of 32 features can't stand number by number on a screen. But n keys span at most n
directions: turned so that the first n features are these directions, the keys have zeros in all
others, and so have their scores no part of them. Leaving those features out changes no score.
"""

import operator
from dataclasses import dataclass

import numpy as np

from attnlib.core.head import SelfAttentionForward, scaled_dot_product_self_attention

LARGEST = 8
"""Tokens and features of a head that can be followed number by number."""


@dataclass(frozen=True, eq=False)
class FewTokens:
    """A few tokens of one item of a head, as inputs of a smaller head.

    Attributes
    ----------
    query, key : numpy.ndarray
        Shape [1, chosen, features], float64: the head's own where d_k is small enough, else turned.
    value : numpy.ndarray
        Shape [1, chosen, value features], float64, likewise.
    tokens : tuple of int
        Positions of the chosen tokens, in the order in which they were chosen.
    item, items, count : int
        The batch item, and how many items and tokens the head has.
    key_width, value_width : int
        d_k and d_v of the head.
    shares : numpy.ndarray
        Shape [chosen]: how much of each query's weight the chosen keys hold in the whole head.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    tokens: tuple
    item: int
    items: int
    count: int
    key_width: int
    value_width: int
    shares: np.ndarray

    @property
    def query_factor(self):
        """What queries, and so raw scores, were multiplied by, to keep the scaled scores."""
        return np.sqrt(self.query.shape[2] / self.key_width)


def choose(head, tokens, item=0):
    """Take a few tokens out of a head, with at most `LARGEST` features.

    Parameters
    ----------
    head : SelfAttentionForward or sequence of array_like
        The head, or its query, key and value of shapes [batch, tokens, features]; [tokens,
        features] is taken as one item.
    tokens : sequence of int
        Positions of the tokens, each once, in the order in which they are to stand.
    item : int, default 0
        Which batch item.

    Returns
    -------
    FewTokens
        Its scaled scores are the head's among the chosen tokens, to rounding; its weights are the
        head's, divided by each query's share; its outputs mix the chosen values only, and their
        lengths and angles are those of the same mixtures of the head's values.

    Raises
    ------
    ValueError
        If it isn't a head, or there is no such item or token, or too many, or one twice.
    SelfAttentionError
        If the core refuses the three arrays.

    Notes
    -----
    With K_c the chosen keys and K_cᵀ = B R its QR factorization (B: d_k × n with orthonormal
    columns), K_c = K_c B Bᵀ, and so Q_c K_cᵀ = (Q_c B)(K_c B)ᵀ. The smaller head divides by √n in
    place of √d_k (Vaswani et al. 2017, eq. 1): its queries are √(n / d_k) Q_c B. Feature 0 points
    along the first key, feature 1 along what the second adds to it, and so on.
    """
    head = _head(head)
    items, count, _ = head.query.shape
    item = _position(item, items, "item", "batch items")
    tokens = _positions(tokens, count)
    query, key, value = (
        np.asarray(x[item][list(tokens)], dtype=np.float64)
        for x in (head.query, head.key, head.value)
    )
    if head.key_width > LARGEST:
        key, directions = _turned(key)
        query = np.sqrt(len(tokens) / head.key_width) * (query @ directions)
    if head.value_width > LARGEST:
        value, _ = _turned(value)
    shares = head.weights[item][np.ix_(tokens, tokens)].sum(axis=1)
    sizes = (item, items, count, head.key_width, head.value_width)
    return FewTokens(query[None], key[None], value[None], tokens, *sizes, shares)


def _turned(vectors):
    """The rows of `vectors` along as many directions as there are rows, and these as columns."""
    directions, steps = np.linalg.qr(vectors.T)
    # Each direction points along with its row, whichever way the factorization chose.
    signs = np.where(np.diag(steps) < 0, -1.0, 1.0)
    return steps.T * signs, directions * signs


def _head(head):
    if isinstance(head, SelfAttentionForward):
        return head
    if isinstance(head, (tuple, list)) and len(head) == 3:
        return scaled_dot_product_self_attention(*map(_with_batch, head))
    raise ValueError(
        "head must be what scaled_dot_product_self_attention returns, or its (query, key, value), "
        f"got {type(head).__name__}: compute the head first, or give the three arrays"
    )


def _with_batch(array):
    try:
        array = np.asarray(array)
    except ValueError:
        # The core says in its own words what is wrong with it.
        return array
    return array[None] if array.ndim == 2 else array


def _positions(tokens, count):
    if isinstance(tokens, str) or not np.iterable(tokens):
        raise ValueError(f"tokens must be a list of positions, got {tokens!r}: such as [0, 2, 5]")
    positions = tuple(_position(token, count, "tokens", "tokens") for token in tokens)
    if not positions:
        raise ValueError("tokens must name one position at least, got none: such as [0, 2, 5]")
    twice = [token for token in positions if positions.count(token) > 1]
    if twice:
        raise ValueError(
            f"tokens must name each position once, got {twice[0]} more than once in "
            f"{list(positions)}: leave the repeats out"
        )
    if len(positions) > LARGEST:
        raise ValueError(
            f"up to {LARGEST} tokens can be followed number by number, got {len(positions)}: "
            "choose fewer"
        )
    return positions


def _position(position, count, name, things):
    try:
        whole = None if isinstance(position, (bool, np.bool_)) else operator.index(position)
    except TypeError:
        whole = None
    if whole is None:
        raise ValueError(f"{name} must be given by whole numbers, got {position!r}")
    if not 0 <= whole < count:
        there = f"choose from 0 to {count - 1}" if count else "there is none to choose"
        raise ValueError(f"{name} {whole} is out of range for {count} {things}: {there}")
    return whole
