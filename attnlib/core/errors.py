"""The refusals: one exception family, whose kind a program reads and whose message a person reads.

A check in :mod:`attnlib.core.inputs` finds the fact; the functions here turn it into words. They
return the error and leave raising to the caller, so that a traceback ends where the fault was seen.
"""


class SelfAttentionError(ValueError):
    """An input or a stage that one attention head can't accept.

    Attributes
    ----------
    kind : str
        What went wrong, for programs: ``"input-rank"``, ``"batch-mismatch"``, ...
    evidence : dict
        The facts behind it, in a fixed order for each kind.
    """

    def __init__(self, kind, evidence, message):
        super().__init__(message)
        self.kind = kind
        self.evidence = dict(evidence)

    def __reduce__(self):
        return type(self), (self.kind, self.evidence, str(self))

    @property
    def evidence_text(self):
        """The evidence as ``name=value`` pairs joined by a bar."""
        return "|".join(f"{name}={value}" for name, value in self.evidence.items())


def input_dtype(operand, dtype, mend):
    """Refuse an operand whose entries are not real numbers that the head can hold."""
    return SelfAttentionError(
        "input-dtype",
        {"operand": operand, "dtype": dtype},
        f"{operand} must hold real numbers (float64, float32, float16, integers or bool), "
        f"got {dtype}: {mend}",
    )


def input_rank(operand, shape):
    """Refuse an operand that lacks the axes [batch, tokens, features], or has more."""
    mends = {
        2: f"add a batch axis with `{operand}[None]`",
        4: f"put batch and heads on one axis with `{operand}.reshape(-1, *{operand}.shape[-2:])`",
    }
    mend = mends.get(len(shape), "arrange it as one matrix of tokens by features for each item")
    return SelfAttentionError(
        "input-rank",
        {"operand": operand, "rank": len(shape)},
        f"{operand} must have three axes [batch, tokens, features], "
        f"got {len(shape)} (shape {shape}): {mend}",
    )


def batch_mismatch(query, key, value):
    """Refuse operands whose batch sizes differ: the head never broadcasts."""
    return SelfAttentionError(
        "batch-mismatch",
        {"query": query, "key": key, "value": value},
        f"query, key and value must have the same batch size (axis 0), got {query}, {key} and "
        f"{value}: nothing is broadcast, so repeat the smaller one with `np.repeat(x, n, axis=0)`",
    )


def token_mismatch(query, key, value):
    """Refuse operands whose token counts differ: self-attention has one token sequence."""
    return SelfAttentionError(
        "token-mismatch",
        {"query": query, "key": key, "value": value},
        f"query, key and value must have the same number of tokens (axis 1), got {query}, {key} "
        f"and {value}: in self-attention all three come from the same tokens; if tokens and "
        "features were exchanged, use `x.transpose(0, 2, 1)`",
    )


def empty_token_axis():
    """Refuse inputs without a token: a query would have no key to normalize over."""
    return SelfAttentionError(
        "empty-token-axis",
        {"tokens": 0},
        "the token axis (axis 1) must hold at least one token, got 0: a query's weights sum to 1 "
        "over the keys, and there is no key; leave the item out (an empty batch is accepted)",
    )


def empty_feature_width(operand):
    """Refuse an operand without a feature."""
    return SelfAttentionError(
        "empty-feature-width",
        {"operand": operand},
        f"{operand} must have at least one feature (axis 2), got width 0: "
        f"look for a slice or a reshape that emptied it",
    )


def query_key_width_mismatch(query, key):
    """Refuse queries and keys of different widths: their dot products don't exist."""
    return SelfAttentionError(
        "query-key-width-mismatch",
        {"query": query, "key": key},
        f"query and key must share one feature width d_k (axis 2), got {query} and {key}: project "
        "both to the same width; only value may have a width of its own",
    )


def non_finite_input(operand, index, entry):
    """Refuse an operand that holds NaN or an infinity, at its first such entry."""
    return SelfAttentionError(
        "non-finite-input",
        {"operand": operand, "index": index},
        f"{operand} must be finite, got {entry} at index {index}: find where it was made, or "
        f"replace it with `np.nan_to_num({operand})`; an infinity is no mask for this head",
    )


def non_finite_stage(stage, index, entry, dtype):
    """Refuse finite inputs on which a stage overflowed, at the first entry that did."""
    wider = " or use float64" if dtype == "float32" else ""
    return SelfAttentionError(
        "non-finite-stage",
        {"stage": stage, "index": index},
        f"the stage '{stage}' must stay finite, got {entry} at index {index}: finite inputs "
        f"overflowed {dtype}, so scale the inputs down{wider}",
    )


def too_large(kept, limit):
    """Refuse inputs whose record would not fit the memory limit (both in bytes)."""
    return SelfAttentionError(
        "too-large",
        {"bytes": kept, "limit": limit},
        f"the arrays to keep must fit memory_limit, got {_size(kept)} for a limit of "
        f"{_size(limit)}: use `streaming_self_attention`, which keeps no grid, or give fewer batch "
        f"items at a time, or raise the limit with `memory_limit={kept}`",
    )


def gradient_shape(expected, got):
    """Refuse a grad_output that doesn't have the output's shape."""
    return SelfAttentionError(
        "gradient-shape",
        {"expected": expected, "got": got},
        f"grad_output must have the output's shape [batch, tokens, d_v] = {expected}, got {got}: "
        "pass the derivative of the loss with respect to head.output, entry for entry",
    )


def _size(count):
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} TiB"
