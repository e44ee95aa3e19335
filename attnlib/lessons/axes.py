"""What each axis of a head is for: what comes out when one is moved, shared or mistaken."""

from collections import Counter

import numpy as np

from attnlib.core import tape
from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.lessons import examples

OPERANDS = ("query", "key", "value")
BATCH, TOKENS, WIDTH = range(3)
"""The axes of every input, in their order."""

SHAPES = {
    "values wider than queries": [(1, 2, 2), (1, 2, 2), (1, 2, 3)],
    "the chapter's question": [(4, 7, 3), (4, 7, 3), (4, 7, 5)],
    "one token": [(1, 1, 2), (1, 1, 2), (1, 1, 2)],
    "an empty batch": [(0, 2, 2), (0, 2, 2), (0, 2, 3)],
    "one batch item for two": [(2, 3, 2), (1, 3, 2), (2, 3, 2)],
    "one key too many": [(1, 3, 2), (1, 4, 2), (1, 3, 2)],
    "queries wider than keys": [(1, 3, 4), (1, 3, 2), (1, 3, 2)],
    "no token": [(1, 0, 2), (1, 0, 2), (1, 0, 2)],
    "values without a feature": [(1, 2, 2), (1, 2, 2), (1, 2, 0)],
}
"""What to try -> the shapes of query, key and value; the first four are accepted."""


def softmax_over_queries(head):
    """Normalize the wrong axis: a mistake to look at.

    Parameters
    ----------
    head : SelfAttentionForward
        Whose scaled scores are taken.

    Returns
    -------
    numpy.ndarray
        Shape [batch, tokens (query), tokens (key)]: each *key's* entries sum to 1 over the
        queries, so that a query's own total may be anything between 0 and the number of keys.
    """
    turned = head.scaled_scores.swapaxes(1, 2)
    return np.exp(tape.log_softmax(turned)).swapaxes(1, 2)


def reordered(example, order, operands=OPERANDS):
    """Compute an example's head with the tokens of some inputs in another order.

    Parameters
    ----------
    example : Example
        The head to start from.
    order : sequence of int
        Which token comes first, second, ...: each one once.
    operands : sequence of str, default all three
        The inputs that are put in this order; the others stay.

    Returns
    -------
    SelfAttentionForward
        The head on the inputs so ordered.

    Raises
    ------
    ValueError
        If `order` isn't every token once, or an input has another name.
    """
    tokens = range(example.query.shape[TOKENS])
    if sorted(order) != list(tokens):
        raise ValueError(f"order must hold each of the tokens {list(tokens)} once, got {order}")
    if strangers := set(operands) - set(OPERANDS):
        raise ValueError(f"operands must be among {OPERANDS}, got {sorted(strangers)}")
    inputs = {name: getattr(example, name) for name in OPERANDS}
    return scaled_dot_product_self_attention(
        **{name: x[:, list(order)] if name in operands else x for name, x in inputs.items()}
    )


def together(*names):
    """Compute several examples in one batch, an item each.

    Parameters
    ----------
    *names : str
        Examples of one shape, by name.

    Returns
    -------
    SelfAttentionForward
        The items in the order of the names.
    """
    items = [examples.load(name) for name in names]
    return scaled_dot_product_self_attention(
        *(np.concatenate([getattr(item, operand) for item in items]) for operand in OPERANDS)
    )


def faults(refusal):
    """Say which axes a refusal is about.

    Parameters
    ----------
    refusal : SelfAttentionError
        Of any kind.

    Returns
    -------
    dict of tuple to str
        (operand, axis) -> what is wrong there; empty where no single axis is at fault.
    """
    evidence = refusal.evidence
    if refusal.kind == "batch-mismatch":
        return _odd_ones("batch", BATCH, evidence)
    if refusal.kind == "token-mismatch":
        return _odd_ones("tokens", TOKENS, evidence)
    if refusal.kind == "empty-token-axis":
        return dict.fromkeys(((operand, TOKENS) for operand in OPERANDS), "no token")
    if refusal.kind == "empty-feature-width":
        return {(evidence["operand"], WIDTH): "no feature"}
    if refusal.kind == "query-key-width-mismatch":
        query, key = evidence["query"], evidence["key"]
        return {
            ("query", WIDTH): f"width {query}, not {key}",
            ("key", WIDTH): f"width {key}, not {query}",
        }
    return {}


def _odd_ones(axis_name, axis, sizes):
    """Name the input that differs from the two others, or all where none agree."""
    usual, count = Counter(sizes.values()).most_common(1)[0]
    if count == 1:
        return {(operand, axis): f"{axis_name}: all differ" for operand in sizes}
    return {
        (operand, axis): f"{axis_name} {size}, not {usual}"
        for operand, size in sizes.items()
        if size != usual
    }
