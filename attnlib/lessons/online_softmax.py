"""The online softmax, tile by tile: one query reads its keys a few at a time and forgets them.

Three running numbers stand in for all that was read: the largest score, the sum of the powers
counted from it, and the mixture of the values by these powers. When a tile holds a larger score,
the sum and the mixture were counted from the wrong one, and one factor sets both right.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False, repr=False)
class TileStep:
    """What one query knows when it has read a tile more.

    Attributes
    ----------
    keys : range
        The keys of this tile.
    scores : numpy.ndarray
        Shape [keys]: the query's scaled scores against them.
    rescale : float
        ``exp(largest before - largest)``: 1 where no score of the tile is larger than all before,
        0 at the first tile, before which there was nothing.
    largest : float
        The largest score so far.
    powers : numpy.ndarray
        Shape [keys]: ``exp(scores - largest)``.
    total : float
        The sum of all powers so far, each counted from `largest`.
    mixture : numpy.ndarray
        Shape [d_v]: the sum of all values so far, each times its power.
    """

    keys: range
    scores: np.ndarray
    rescale: float
    largest: float
    powers: np.ndarray
    total: float
    mixture: np.ndarray

    def __repr__(self):
        return (
            f"TileStep(keys={list(self.keys)}, largest={self.largest:g}, "
            f"rescale={self.rescale:g}, total={self.total:g})"
        )

    @property
    def output(self):
        """What the head would answer if its keys ended here: the mixture over the total."""
        return self.mixture / self.total

    @property
    def log_sum_exp(self):
        """The logarithm of the sum of the exponentials of all scores so far."""
        return self.largest + float(np.log(self.total))


def trace(head, query=0, tile=1, item=0):
    """Follow one query of a head through its keys, tile by tile.

    Parameters
    ----------
    head : SelfAttentionForward
        Whose scaled scores and values are read.
    query : int, default 0
        Which query.
    tile : int, default 1
        Keys in a tile; the last tile may have fewer.
    item : int, default 0
        Which batch item.

    Returns
    -------
    tuple of TileStep
        In the order of the keys; the last one's `output` is the head's.

    Raises
    ------
    ValueError
        If there is no such item or query, or a tile has no key.

    Notes
    -----
    With the largest score m, the sum l and the mixture o before a tile, and m' after it,

        l' = exp(m - m') l + sum_j exp(s_j - m'),    o' = exp(m - m') o + sum_j exp(s_j - m') v_j

    over the keys j of the tile: Milakov & Gimelshein 2018, algorithm 3; with the values mixed on
    the way, Dao et al. 2022, algorithm 1.
    """
    items, queries = head.output.shape[:2]
    _check("item", item, items)
    _check("query", query, queries)
    if tile < 1:
        raise ValueError(f"tile must be 1 or more, got {tile}: a tile holds at least one key")
    scores, value = head.scaled_scores[item, query], head.value[item]
    largest, total, mixture = -np.inf, 0.0, np.zeros(value.shape[1])
    steps = []
    for start in range(0, queries, tile):
        keys = range(start, min(start + tile, queries))
        read = scores[start : keys.stop]
        higher = max(largest, float(read.max()))
        rescale = float(np.exp(largest - higher))
        powers = np.exp(read - higher)
        total = rescale * total + float(powers.sum())
        mixture = rescale * mixture + powers @ value[start : keys.stop]
        largest = higher
        steps.append(TileStep(keys, read, rescale, largest, powers, total, mixture))
    return tuple(steps)


def _check(name, position, count):
    if not 0 <= position < count:
        raise ValueError(f"there is no {name} {position}: choose 0 to {count - 1}")
