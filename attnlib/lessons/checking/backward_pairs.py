"""Two mistakes of a way back at once: one on the way, and one in what is done at its end."""

from functools import lru_cache

from attnlib.lessons.mistakes import CATALOGUE

ENDS = {
    "query-key-gradients-exchanged": lambda grads: (grads[1], grads[0], grads[2]),
    "gradient-summed-over-batch": lambda grads: tuple(grad.sum(axis=0) for grad in grads),
    "gradient-of-one-item": lambda grads: tuple(grad[-1] for grad in grads),
    "gradient-averaged": lambda grads: tuple(grad / max(1, len(grad)) for grad in grads),
    "gradient-sign-flipped": lambda grads: tuple(-grad for grad in grads),
}
"""The id of a mistake -> what it makes of three gradients, be they right or wrong."""


@lru_cache(maxsize=1)
def pairs():
    """Return all pairs of a mistake on the way and one at the end.

    Returns
    -------
    tuple of (str, str, callable)
        The two ids, and a backward function that makes both.
    """
    return tuple(
        (mistake.id, end, _ending(head, ENDS[end]))
        for mistake in CATALOGUE.values()
        if mistake.direction == "backward" and mistake.id not in ENDS
        for head in (mistake.head, *(variant for _, variant in mistake.variants))
        for end in ENDS
    )


def _ending(head, end):
    def both(*inputs):
        return end(head(*inputs))

    return both
