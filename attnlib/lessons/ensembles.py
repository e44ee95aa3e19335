"""Many random heads at once: what a score's divisor does to weights and gradients as d_k grows.

Queries, keys, values and grad_output are seeded standard normals, so the numbers tell of heads
that no training has touched; they say nothing about which divisor learns best.
"""

import math
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.core.inputs import read_only
from attnlib.core.tape import log_softmax

DIVISORS = {"1": lambda width: 1.0, "√dₖ": math.sqrt, "dₖ": float}
"""What the raw scores are divided by -> that number for a d_k."""

WIDTHS = tuple(2**power for power in range(9))
TOKENS, VALUE_WIDTH, HEADS, SEED = 16, 8, 64, 2017
TOP = 0.1


@dataclass(frozen=True, eq=False)
class DividedHead:
    """One batch of heads whose raw scores were divided by a number of our choice.

    Attributes
    ----------
    scores, weights, grad_scores : numpy.ndarray
        Shape [batch, tokens (query), tokens (key)]: what goes into softmax, what comes out, and
        the gradient for what goes in.
    grad_query : numpy.ndarray
        Shape [batch, tokens, d_k]: the gradient for the query as it was handed in.
    """

    scores: np.ndarray
    weights: np.ndarray
    grad_scores: np.ndarray
    grad_query: np.ndarray


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Measures of many heads; each array has the shape [divisors, widths].

    Attributes
    ----------
    widths : tuple of int
        The values of d_k, one a column.
    tokens, heads, seed : int
        T, the number of heads for each d_k, and the seed of their draws.
    score_spread : numpy.ndarray
        Standard deviation of what goes into softmax.
    entropy : numpy.ndarray
        Mean over the queries of ``-sum_keys A ln A``, in nats.
    largest_weight : numpy.ndarray
        Mean over the queries of their largest weight.
    grad_scores : numpy.ndarray
        Root mean square of the gradient for what goes into softmax.
    grad_query : numpy.ndarray
        Root mean square of dQ.
    grad_query_middle : numpy.ndarray
        Median over the queries of the root mean square of a query's own dQ.
    grad_query_top : numpy.ndarray
        The share of the sum of squares of dQ that the tenth of the queries with most of it has.
    """

    widths: tuple
    tokens: int
    heads: int
    seed: int
    score_spread: np.ndarray
    entropy: np.ndarray
    largest_weight: np.ndarray
    grad_scores: np.ndarray
    grad_query: np.ndarray
    grad_query_middle: np.ndarray
    grad_query_top: np.ndarray

    @property
    def largest_entropy(self):
        """The entropy ln T of equal weights: no weights over T keys have more."""
        return math.log(self.tokens)


def measure(widths=WIDTHS, tokens=TOKENS, heads=HEADS, seed=SEED):
    """Measure random heads for every divisor and every d_k.

    Parameters
    ----------
    widths : sequence of int, default 1, 2, 4, ... 256
        The values of d_k.
    tokens : int, default 16
        T, 2 or more.
    heads : int, default 64
        How many heads for each d_k.
    seed : int, default 2017
        Of the draws. A narrower head has the first features of the widest one; values and
        grad_output are the same for all, and so are the draws for the three divisors.

    Returns
    -------
    Ensemble
        Rows in the order of `DIVISORS`.

    Raises
    ------
    ValueError
        For no widths, a width below 1, fewer than two tokens or no head.
    """
    widths = tuple(widths)
    if not widths or any(not isinstance(width, Integral) or width < 1 for width in widths):
        raise ValueError(f"widths must be whole numbers from 1 up, got {widths}: try (1, 4, 16)")
    if tokens < 2:
        raise ValueError(f"tokens must be at least 2, got {tokens}: a lone key has weight 1 always")
    if heads < 1:
        raise ValueError(f"heads must be at least 1, got {heads}: there is nothing to measure")
    query, key, value, grad_output = _draw(max(widths), tokens, heads, seed)
    grid = [
        [
            _measures(
                divided_head(
                    query[..., :width], key[..., :width], value, grad_output, divisor(width)
                )
            )
            for width in widths
        ]
        for divisor in DIVISORS.values()
    ]
    measures = {
        name: read_only(np.array([[cell[name] for cell in row] for row in grid]))
        for name in grid[0][0]
    }
    return Ensemble(widths, tokens, heads, seed, **measures)


def divided_head(query, key, value, grad_output, divisor):
    """Compute heads whose raw scores are divided by `divisor` instead of sqrt(d_k).

    Parameters
    ----------
    query, key : array_like
        Shape [batch, tokens, d_k].
    value, grad_output : array_like
        Shape [batch, tokens, d_v].
    divisor : float
        Above 0.

    Returns
    -------
    DividedHead
        Scores, weights and the gradients of both inputs that come before them.

    Raises
    ------
    ValueError
        If the divisor is not a finite number above 0.
    SelfAttentionError
        Whatever the head refuses.

    Notes
    -----
    The head itself always divides by sqrt(d_k). It is given ``Q' = Q sqrt(d_k) / c``, so that

        S = Q' K^T / sqrt(d_k) = Q K^T / c,        dQ = dQ' sqrt(d_k) / c  (chain rule).
    """
    if not 0 < divisor < math.inf:
        raise ValueError(
            f"divisor must be a finite number above 0, got {divisor!r}: try 1 or the root of d_k"
        )
    query = np.asarray(query)
    factor = math.sqrt(query.shape[-1]) / divisor
    head = scaled_dot_product_self_attention(query * factor, key, value)
    gradients = head.backward(grad_output)
    return DividedHead(
        scores=head.scaled_scores,
        weights=head.weights,
        grad_scores=gradients.scaled_scores,
        grad_query=read_only(gradients.query * factor),
    )


def _draw(width, tokens, heads, seed):
    random = np.random.default_rng(seed)
    features = (VALUE_WIDTH, VALUE_WIDTH, width, width)
    value, grad_output, query, key = (
        random.standard_normal((heads, tokens, count)) for count in features
    )
    return query, key, value, grad_output


def _measures(head):
    # The logarithm of a weight as the head takes it: finite even where the weight rounds to 0.
    entropies = -np.sum(head.weights * log_softmax(head.scores), axis=-1)
    squares = np.mean(head.grad_query**2, axis=-1).ravel()  # one for each query
    top = np.sort(squares)[-math.ceil(TOP * squares.size) :]
    return {
        "score_spread": np.std(head.scores),
        "entropy": np.mean(entropies),
        "largest_weight": np.mean(np.max(head.weights, axis=-1)),
        "grad_scores": np.sqrt(np.mean(head.grad_scores**2)),
        "grad_query": np.sqrt(np.mean(squares)),
        "grad_query_middle": np.median(np.sqrt(squares)),
        "grad_query_top": np.sum(top) / np.sum(squares),
    }
