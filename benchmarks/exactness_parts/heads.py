"""A seeded set of heads for each kind of trouble that rounding makes."""

import numpy as np

SIZES = ((8, 4, 3), (11, 8, 5), (16, 16, 16), (13, 64, 7), (24, 64, 64), (40, 32, 32))
"""Tokens, d_k and d_v."""
EACH = 4
"""Heads of every size in every kind."""


def ordinary(tokens, width, value_width, rng, size=1.0):
    """Query, key, value and grad_output, standard normal; queries and keys times `size`."""
    query, key = size * rng.standard_normal((2, tokens, width))
    value, grad_output = rng.standard_normal((2, tokens, value_width))
    return query, key, value, grad_output


def of_size(size):
    """Heads whose queries and keys have entries of this size."""
    return lambda *shape, rng: ordinary(*shape, rng, size)


def tiny(*shape, rng):
    """All inputs of one small size, from 1e-8, where scores still tell, to 1e-90."""
    size = 10.0 ** -rng.integers(8, 91)
    return tuple(size * array for array in ordinary(*shape, rng))


def ties(tokens, *widths, rng):
    """Every token stands twice, in shuffled places, with another value and gradient."""
    query, key, value, grad_output = ordinary(tokens, *widths, rng)
    twins = rng.permutation(np.arange(tokens) // 2)
    return query[twins], key[twins], value, grad_output


def sure_twins(tokens, *widths, rng):
    """The same with one choice made by each query, for two tokens that are alike in all."""
    twins = rng.permutation(np.arange(tokens) // 2)
    return tuple(array[twins] for array in ordinary(tokens, *widths, rng, 8.0))


def cancelling(tokens, width, value_width, rng):
    """Values nearly alike, so that a softmax takes nearly all of its gradient away again."""
    query, key, value, grad_output = ordinary(tokens, width, value_width, rng)
    return query, key, value[0] + 1e-6 * value, grad_output


KINDS = {
    "ordinary": of_size(1.0),
    "entries of size 8": of_size(8.0),
    "entries of size 20": of_size(20.0),
    "tiny": tiny,
    "ties": ties,
    "twins, entries of size 8": sure_twins,
    "near-cancelling": cancelling,
}


SATURATED = ("entries of size 8", "entries of size 20", "twins, entries of size 8")
"""The kinds in which most queries have made their choice."""
TIED = ("ties", "twins, entries of size 8")
"""The kinds in which every token stands twice."""


def all_heads():
    """Yield each kind's name and one head of it, always the same ones."""
    rng = np.random.default_rng(6)
    for kind, draw in KINDS.items():
        for shape in SIZES * EACH:
            yield kind, draw(*shape, rng=rng)
