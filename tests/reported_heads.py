"""The wrong heads of real reports, written as each report tells it, apart from the catalogue."""

import numpy as np


def softmax(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def match(query, key):
    return query @ key.mT


def scale(raw, query, value):
    return raw / np.sqrt(query.shape[-1])


def mix(weights, query, value):
    return weights @ value


def head(match=match, scale=scale, normalize=softmax, mix=mix):
    """A head with one step exchanged; it hands in every stage."""

    def attend(query, key, value):
        raw = match(query, key)
        scaled = scale(raw, query, value)
        weights = normalize(scaled)
        return {
            "raw_scores": raw,
            "scaled_scores": scaled,
            "weights": weights,
            "output": mix(weights, query, value),
        }

    return attend


def output_alone(attend):
    return lambda query, key, value: attend(query, key, value)["output"]


def over_flattened_rows(scores):
    rows = scores.reshape(-1, scores.shape[-1])
    return softmax(rows, axis=0).reshape(scores.shape) if len(rows) else scores


def without_maximum(scores):
    with np.errstate(all="ignore"):
        return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def with_one_maximum(scores):
    with np.errstate(all="ignore"):
        powers = np.exp(scores - scores.max(initial=-np.inf))
        return powers / powers.sum(axis=-1, keepdims=True)


def masked_late(scores):
    return softmax(scores) * np.tril(np.ones(scores.shape[-2:]))


def masked_early(scores):
    return softmax(np.where(np.tril(np.ones(scores.shape[-2:])) > 0, scores, -np.inf))


def on_raw_scores(query, key, value):
    stages = head()(query, key, value)
    stages["weights"] = softmax(stages["raw_scores"])
    stages["output"] = stages["weights"] @ value
    return stages


def batch_and_tokens_swapped(query, key, value):
    stages = head()(*(x.swapaxes(0, 1) for x in (query, key, value)))
    return {**stages, "output": stages["output"].swapaxes(0, 1)}


def in_half_precision(query, key, value):
    with np.errstate(all="ignore"):
        return head()(*(x.astype(np.float16) for x in (query, key, value)))


RANDOM = np.random.default_rng(71)


def dropped(array):
    """Half of the entries, at random, each doubled."""
    return array * (RANDOM.random(array.shape) < 0.5) / 0.5


def dropout_on_weights(query, key, value):
    return head(normalize=lambda scores: dropped(softmax(scores)))(query, key, value)


def dropout_on_output(query, key, value):
    return head(mix=lambda weights, query, value: dropped(weights @ value))(query, key, value)


def rounded_between(query, key, value):
    return head(normalize=lambda scores: np.round(softmax(scores), 4))(query, key, value)


HEADS = {
    "SOFTMAX_AXIS_QUERY": head(normalize=lambda scores: softmax(scores, axis=1)),
    "SOFTMAX_AXIS_FLATTENED_ROWS": head(normalize=over_flattened_rows),
    "SOFTMAX_FLATTENED": head(normalize=lambda scores: softmax(scores, axis=(1, 2))),
    "SCALE_MISSING": head(scale=lambda raw, query, value: raw),
    "SCALE_DK_NOT_SQRT": head(scale=lambda raw, query, value: raw / query.shape[-1]),
    "SCALE_WRONG_DIMENSION": head(scale=lambda raw, query, value: raw / value.shape[-1] ** 0.5),
    "SCALE_PRECEDENCE": head(scale=lambda raw, query, value: raw * (query.shape[-1] ** 1 / 2)),
    "SOFTMAX_ON_RAW_SCORES": on_raw_scores,
    "VALUE_REPLACED_BY_QUERY": head(mix=lambda weights, query, value: weights @ query),
    "SOFTMAX_SIGN_FLIPPED": head(
        normalize=lambda scores: softmax(scores.max(axis=-1, keepdims=True) - scores)
    ),
    "MASK_AFTER_SOFTMAX": head(normalize=masked_late),
    "SOFTMAX_NO_MAX_SUBTRACTION": head(normalize=without_maximum),
    "SOFTMAX_GLOBAL_MAX": head(normalize=with_one_maximum),
    "FLOAT16_OVERFLOW": in_half_precision,
    "BATCH_SEQUENCE_SWAPPED": batch_and_tokens_swapped,
    "ALL_AXES_REVERSED": head(match=lambda query, key: query @ key.T),
    "RESHAPE_INSTEAD_OF_TRANSPOSE": head(
        match=lambda query, key: query @ key.reshape(len(key), *key.shape[:0:-1])
    ),
    "SQUARE_DIMS_HIDE": head(match=lambda query, key: query @ key),
    "SOFTMAX_TWICE": head(normalize=lambda scores: softmax(softmax(scores))),
    "ROW_COLUMN_WORDING": head(normalize=lambda scores: softmax(scores, axis=1)),
    "Q_K_EXCHANGED": head(match=lambda query, key: key @ query.mT),
    "SCALE_ZERO": head(scale=lambda raw, query, value: raw * (1 // max(query.shape[-1], 2))),
}
"""label of a report -> the head that it tells of, forward."""


def way_back(
    through=lambda weights, grad: weights * (grad - (weights * grad).sum(axis=-1, keepdims=True)),
    to_query=lambda grad, query, key: grad @ key,
    to_key=lambda grad, query, key: grad.mT @ query,
    to_value=lambda weights, grad: weights.mT @ grad,
):
    """A backward with one step exchanged; it hands in dQ, dK and dV."""

    def send_back(query, key, value, grad_output):
        weights = head()(query, key, value)["weights"]
        grad_scores = through(weights, grad_output @ value.mT) / np.sqrt(query.shape[-1])
        return (
            to_query(grad_scores, query, key),
            to_key(grad_scores, query, key),
            to_value(weights, grad_output),
        )

    return send_back


def half_the_row_term(weights, grad):
    return weights * (grad - (weights * grad).sum(axis=-1, keepdims=True) / 2)


def exchanged(query, key, value, grad_output):
    grad_query, grad_key, grad_value = way_back()(query, key, value, grad_output)
    return grad_key, grad_query, grad_value


def summed_over_batch(query, key, value, grad_output):
    return tuple(grad.sum(axis=0) for grad in way_back()(query, key, value, grad_output))


def last_item_only(query, key, value, grad_output):
    return tuple(grad[-1] for grad in way_back()(query, key, value, grad_output))


WAYS_BACK = {
    "BWD_MISSING_ROW_SUM": {"row-sum-missing": way_back(through=np.multiply)},
    "BWD_DIAGONAL_JACOBIAN": {
        "diagonal-only": way_back(through=lambda weights, grad: weights * (1 - weights) * grad)
    },
    "BWD_TRANSPOSE_MISSING": {
        "value-gradient-not-transposed": way_back(to_value=np.matmul),
        "key-gradient-not-transposed": way_back(to_key=lambda grad, query, key: grad @ query),
        "query-key-gradients-exchanged": exchanged,
    },
    "BWD_ROW_TERM_WRONG": {"row-term-wrong": way_back(through=half_the_row_term)},
    "BWD_WRONG_BATCH_REDUCTION": {
        "gradient-summed-over-batch": summed_over_batch,
        "gradient-of-one-item": last_item_only,
    },
}
"""label of a report -> the id of each mistake in it -> the backward that it tells of."""
