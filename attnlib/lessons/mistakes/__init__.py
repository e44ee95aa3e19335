"""Wrong heads that people write, each runnable, to be caught by the checks and learnt from."""

from types import MappingProxyType

from attnlib.lessons.mistakes import (
    batching,
    exponentials,
    habits,
    handing_back,
    looping,
    masking,
    matching,
    mixing,
    overflowing,
    returning,
    scaling,
    softmaxing,
)
from attnlib.lessons.mistakes.returning import gradient_scale_missing

__all__ = ["CATALOGUE", "IDS", "SAME", "gradient_scale_missing", "load"]

# In the order of the stages, so that a gallery is walked as a head is computed.
ROOMS = (
    matching,
    scaling,
    softmaxing,
    exponentials,
    overflowing,
    mixing,
    batching,
    looping,
    masking,
    habits,
    handing_back,
    returning,
)
CATALOGUE = MappingProxyType({mistake.id: mistake for room in ROOMS for mistake in room.MISTAKES})
IDS = tuple(CATALOGUE)

# Pairs that no output can tell apart, in the order (the one to name, the other), with the reason.
SAME = MappingProxyType(
    {
        ("scale-missing", "softmax-on-raw-scores"): (
            "the weights and the output are equal; only a hand-in that also returns its scaled "
            "scores shows whether they were computed and left unused"
        ),
    }
)


def load(id):
    """Return one mistake of the catalogue.

    Parameters
    ----------
    id : str
        One of `IDS`.

    Returns
    -------
    Mistake
        Its words, and a head that makes it.

    Raises
    ------
    ValueError
        If the catalogue has no such id; the message lists those it has.
    """
    if id not in CATALOGUE:
        raise ValueError(f"id must be one of {', '.join(IDS)}; got {id!r}")
    return CATALOGUE[id]
