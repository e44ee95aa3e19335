"""Where the numbers of a small head come from, and what was done to them, in sentences."""

from attnlib.views import numbers, token_names

LITTLE = 0.0005
"""A share of the weight that would be printed as 0.0 %."""


def sentences(few, labels=()):
    """Say which tokens of which head these are, and what of the head they keep.

    Parameters
    ----------
    few : FewTokens
        From `projection.choose`.
    labels : sequence of str, optional
        The words of the chosen tokens.

    Returns
    -------
    str
        Two to four sentences.
    """
    parts = [_tokens(few, labels), _shares(few), _turned_keys(few), _turned_values(few)]
    return " ".join(filter(None, parts))


def _tokens(few, labels):
    chosen = [token_names.spoken(str(t), i, labels) for i, t in enumerate(few.tokens)]
    kind = "tokens" if len(chosen) > 1 else "token"
    item = f"batch item {few.item} of {few.items}, " if few.items > 1 else ""
    return f"Taken from {item}{kind} {_listed(chosen)} of {few.count}, counted from 0."


def _shares(few):
    if len(few.tokens) == few.count:
        return ""
    shares = [
        f"{_percent(share)} for {numbers.label('q', query)}"
        for query, share in enumerate(few.shares)
    ]
    keys = _counted(few, "the chosen key", "the chosen keys")
    hold = _counted(few, "it holds", "they hold")
    return (
        f"The weights are shared out over {keys} alone; in the whole head {hold} a part of the "
        f"weight: {_listed(shares)}."
    )


def _turned_keys(few):
    width = few.key.shape[2]
    if width == few.key_width:
        return ""
    directions = _counted(few, "the direction of this key", "the directions of these keys")
    return (
        f"The {few.key_width} features of queries and keys are turned into {width}, {directions}; "
        "what of a query lies along no such direction has no part in these scores, and is left "
        f"out. Queries, and so raw scores, are multiplied by √({width}/{few.key_width}) = "
        f"{numbers.fixed(few.query_factor, 3)}, because they are divided by √{width} here, not by "
        f"√{few.key_width}: the scaled scores are the head's own."
    )


def _turned_values(few):
    width = few.value.shape[2]
    if width == few.value_width:
        return ""
    return (
        f"The {few.value_width} features of values are turned into {width}; their lengths and "
        "angles stay."
    )


def _counted(few, one, many):
    return one if len(few.tokens) == 1 else many


def _listed(parts):
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def _percent(share):
    return "less than 0.1 %" if share < LITTLE else f"{100 * share:.1f} %"
