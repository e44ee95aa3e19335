"""A few tokens of a large head as what an explorer opens with."""

from attnlib.explorers import states
from attnlib.lessons import projection
from attnlib.views import origin


def arguments(head, tokens, labels=None, item=0):
    """Take a few tokens out of a head for `HeadExplorer`.

    Parameters
    ----------
    head, tokens, item
        As for `projection.choose`.
    labels : sequence of str, optional
        One for each token of the head, or one for each chosen token; where the counts are equal,
        the first is meant.

    Returns
    -------
    dict
        ``query``, ``key``, ``value``, ``labels`` and ``note``.

    Raises
    ------
    ValueError, SelfAttentionError
        As `projection.choose` and `states.as_labels` do.
    """
    few = projection.choose(head, tokens, item)
    labels = _chosen(labels, few)
    inputs = {"query": few.query, "key": few.key, "value": few.value}
    return {**inputs, "labels": labels, "note": origin.sentences(few, labels or ())}


def _chosen(labels, few):
    if labels is None:
        return None
    labels = states.as_texts(labels)
    if len(labels) == few.count:
        return tuple(labels[token] for token in few.tokens)
    if len(labels) == len(few.tokens):
        return labels
    raise ValueError(
        f"labels must be one for each of the head's {few.count} tokens, or one for each of the "
        f"{len(few.tokens)} chosen ones, got {len(labels)}"
    )
