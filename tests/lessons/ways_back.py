"""Ways back for the checker: right ones, each written differently, and wrong ones as people write.

All but those that say otherwise are written apart from attnlib.
"""

import math

import numpy as np

from attnlib import scaled_dot_product_self_attention
from attnlib.core import head as core
from attnlib.core import tape
from attnlib.lessons.mistakes import load
from tests.authority import slow_gradients


def swap(x):
    return x.swapaxes(-1, -2)


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def stages(query, key, value, grad_output):
    """A way back written apart from attnlib's: scale, W, dW, row term, dS."""
    scale = 1 / math.sqrt(query.shape[-1])
    weights = softmax(query @ swap(key) * scale)
    grad_weights = grad_output @ swap(value)
    row_term = (weights * grad_weights).sum(axis=-1, keepdims=True)
    return scale, weights, grad_weights, row_term, weights * (grad_weights - row_term)


# Right ways back, each written differently.


def by_matrix_products(query, key, value, grad_output):
    scale, weights, _, _, grad_scores = stages(query, key, value, grad_output)
    grad_raw = grad_scores * scale
    return grad_raw @ key, swap(grad_raw) @ query, swap(weights) @ grad_output


def by_einsum(query, key, value, grad_output):
    scores = np.einsum("bif,bjf->bij", query, key) / np.sqrt(query.shape[2])
    weights = softmax(scores)
    grad_weights = np.einsum("biv,bjv->bij", grad_output, value)
    inner = np.einsum("bij,bij->bi", weights, grad_weights)
    grad_raw = weights * (grad_weights - inner[:, :, None]) / np.sqrt(query.shape[2])
    return (
        np.einsum("bij,bjf->bif", grad_raw, key),
        np.einsum("bij,bif->bjf", grad_raw, query),
        np.einsum("bij,biv->bjv", weights, grad_output),
    )


def by_loops_that_add(query, key, value, grad_output):
    batch, tokens, width = query.shape
    grads = [np.zeros(x.shape) for x in (query, key, value)]
    for b in range(batch):
        for i in range(tokens):
            weights = softmax(key[b] @ query[b, i] / width**0.5)
            grad_weights = value[b] @ grad_output[b, i]
            mean = weights @ grad_weights
            for j in range(tokens):
                slope = weights[j] * (grad_weights[j] - mean) / width**0.5
                grads[0][b, i] += slope * key[b, j]
                grads[1][b, j] += slope * query[b, i]
                grads[2][b, j] += weights[j] * grad_output[b, i]
    return grads


def by_the_tape(query, key, value, grad_output):
    operands = [tape.Tensor(np.asarray(x, dtype=float)) for x in (query, key, value)]
    *_, (_, output) = core.compose(*operands, 1 / math.sqrt(query.shape[2]))
    output.backward(grad_output)
    return tuple(operand.grad for operand in operands)


def by_the_whole_jacobian(query, key, value, grad_output):
    scale, weights, grad_weights, _, _ = stages(query, key, value, grad_output)
    eye = np.eye(weights.shape[-1])
    jacobian = weights[..., :, None] * eye - weights[..., :, None] * weights[..., None, :]
    grad_raw = np.einsum("bijk,bik->bij", jacobian, grad_weights) * scale
    return grad_raw @ key, swap(grad_raw) @ query, swap(weights) @ grad_output


def with_the_row_term_from_the_output(query, key, value, grad_output):
    scale, weights, grad_weights, _, _ = stages(query, key, value, grad_output)
    row_term = ((weights @ value) * grad_output).sum(axis=2, keepdims=True)
    grad_scores = weights * grad_weights - weights * row_term
    return (
        grad_scores @ key * scale,
        swap(swap(query * scale) @ grad_scores),
        swap(swap(grad_output) @ weights),
    )


def in_single_precision(query, key, value, grad_output):
    return by_matrix_products(*(x.astype(np.float32) for x in (query, key, value, grad_output)))


def by_central_differences(query, key, value, grad_output):
    operands = [np.array(x, dtype=float) for x in (query, key, value)]

    def loss():
        query, key, value = operands
        weights = softmax(query @ swap(key) / math.sqrt(query.shape[2]))
        return np.sum(weights @ value * grad_output)

    grads = []
    for operand in operands:
        grad = np.zeros(operand.shape)
        for index in np.ndindex(operand.shape):
            entry = operand[index]
            ends = []
            for moved in (entry + 1e-5, entry - 1e-5):
                operand[index] = moved
                ends.append(loss())
            operand[index] = entry
            grad[index] = (ends[0] - ends[1]) / 2e-5
        grads.append(grad)
    return tuple(grads)


def by_log_weights(query, key, value, grad_output):
    _, weights, grad_weights, _, _ = stages(query, key, value, grad_output)
    grad_log = weights * grad_weights
    grad_raw = (grad_log - weights * grad_log.sum(2, keepdims=True)) / np.sqrt(query.shape[2])
    return grad_raw @ key, swap(grad_raw) @ query, swap(weights) @ grad_output


def item_by_item_in_a_list(query, key, value, grad_output):
    items = [
        by_matrix_products(*(x[None] for x in item))
        for item in zip(query, key, value, grad_output, strict=True)
    ]
    return tuple(np.concatenate(grads) for grads in zip(*items, strict=True))


def with_the_scale_split_between_query_and_key(query, key, value, grad_output):
    root = query.shape[2] ** 0.25
    query, key = query / root, key / root
    weights = softmax(query @ swap(key))
    grad_weights = grad_output @ swap(value)
    grad = weights * (grad_weights - (weights * grad_weights).sum(2, keepdims=True))
    return grad @ key / root, swap(grad) @ query / root, swap(weights) @ grad_output


def as_a_dict(*inputs):
    return dict(zip(("query", "key", "value"), by_matrix_products(*inputs), strict=True))


def as_the_record_of_the_core(query, key, value, grad_output):
    return scaled_dot_product_self_attention(query, key, value).backward(grad_output)


def in_python_floats(*inputs):
    return (
        slow_gradients(*inputs) if len(inputs[0]) else tuple(np.zeros_like(x) for x in inputs[:3])
    )


def in_fortran_order(*inputs):
    return [np.asfortranarray(grad) for grad in by_matrix_products(*inputs)]


RIGHT = [
    by_matrix_products,
    by_einsum,
    by_loops_that_add,
    by_the_tape,
    by_the_whole_jacobian,
    with_the_row_term_from_the_output,
    in_single_precision,
    by_central_differences,
    by_log_weights,
    item_by_item_in_a_list,
    with_the_scale_split_between_query_and_key,
    as_a_dict,
    as_the_record_of_the_core,
    in_python_floats,
    in_fortran_order,
]


# Mistakes as people write them, apart from the catalogue's own functions.


def loop(assign_key=False, assign_value=False, items=slice(None), minus=1, by_width=False):
    """The loops over items and queries, with one line changed."""

    def function(query, key, value, grad_output):
        grads = [np.zeros(x.shape) for x in (query, key, value)]
        width = query.shape[2]
        for b in range(len(query))[items]:
            for i in range(query.shape[1]):
                weights = softmax(key[b] @ query[b, i] / math.sqrt(width))
                grad_weights = value[b] @ grad_output[b, i]
                grad = weights * (grad_weights - weights @ grad_weights) * minus
                grad /= width if by_width else math.sqrt(width)
                grads[0][b, i] = grad @ key[b]
                if assign_key:
                    grads[1][b] = np.outer(grad, query[b, i])
                else:
                    grads[1][b] += np.outer(grad, query[b, i])
                if assign_value:
                    grads[2][b] = np.outer(weights, grad_output[b, i])
                else:
                    grads[2][b] += np.outer(weights, grad_output[b, i])
        return grads

    return function


def into_one_place(query, key, value, grad_output):
    grads = [np.zeros(x.shape[1:]) for x in (query, key, value)]
    for item in zip(query, key, value, grad_output, strict=True):
        grads = [grad[0] for grad in by_matrix_products(*(x[None] for x in item))]
    return grads


def into_one_sum(query, key, value, grad_output):
    grads = [np.zeros(x.shape[1:]) for x in (query, key, value)]
    for item in zip(query, key, value, grad_output, strict=True):
        for total, grad in zip(grads, by_matrix_products(*(x[None] for x in item)), strict=True):
            total += grad[0]
    return grads


def by_the_sigmoid(query, key, value, grad_output):
    scale, weights, grad_weights, _, _ = stages(query, key, value, grad_output)
    grad = grad_weights * (weights - weights**2) * scale
    return grad @ key, swap(grad) @ query, swap(weights) @ grad_output


def of_the_mean(*inputs):
    return tuple(grad / max(1, inputs[3].size) for grad in by_matrix_products(*inputs))


def into_arrays_like_the_inputs(*inputs):
    grads = [np.zeros_like(x) for x in inputs[:3]]
    for buffer, grad in zip(grads, by_matrix_products(*inputs), strict=True):
        buffer[:] = grad
    return grads


def by_einsum_over_the_wrong_letter(query, key, value, grad_output):
    grads = by_einsum(query, key, value, grad_output)
    weights = softmax(np.einsum("bif,bjf->bij", query, key) / np.sqrt(query.shape[2]))
    return *grads[:2], np.einsum("bij,bjv->biv", weights, grad_output)


def that_sums_the_output(query, key, value, grad_output):
    return by_the_tape(query, key, value, np.ones_like(grad_output, dtype=float))


WRITTEN = [
    (loop(assign_key=True), "gradient-overwritten-not-added"),
    (loop(assign_value=True), "gradient-overwritten-not-added"),
    (loop(assign_key=True, assign_value=True), "gradient-overwritten-not-added"),
    (loop(items=slice(-1, None)), "gradient-of-one-item"),
    (loop(minus=-1), "gradient-sign-flipped"),
    (loop(by_width=True), "gradient-scaled-twice"),
    (into_one_place, "gradient-of-one-item"),
    (into_one_sum, "gradient-summed-over-batch"),
    (by_the_sigmoid, "diagonal-only"),
    (of_the_mean, "gradient-averaged"),
    (into_arrays_like_the_inputs, "gradient-integer-buffer"),
    (by_einsum_over_the_wrong_letter, "value-gradient-not-transposed"),
    (that_sums_the_output, "grad-output-ignored"),
]


# Compositions of two mistakes, and the one to name first.


def row_sum_and_scale_missing(query, key, value, grad_output):
    scale, *_ = stages(query, key, value, grad_output)
    grads = load("row-sum-missing").head(query, key, value, grad_output)
    return grads[0] / scale, grads[1] / scale, grads[2]


def row_sum_missing_and_key_not_transposed(query, key, value, grad_output):
    scale, weights, grad_weights, _, _ = stages(query, key, value, grad_output)
    grad_raw = weights * grad_weights * scale
    return grad_raw @ key, grad_raw @ query, swap(weights) @ grad_output


def value_not_transposed_and_scale_missing(query, key, value, grad_output):
    _, weights, _, _, grad_scores = stages(query, key, value, grad_output)
    return grad_scores @ key, swap(grad_scores) @ query, weights @ grad_output


def exchanged_and_scale_missing(query, key, value, grad_output):
    *_, grad_scores = stages(query, key, value, grad_output)
    right = by_matrix_products(query, key, value, grad_output)
    return swap(grad_scores) @ query, grad_scores @ key, right[2]


def negative_value_and_diagonal(query, key, value, grad_output):
    grads = load("diagonal-only").head(query, key, value, grad_output)
    return grads[0], grads[1], -grads[2]


TWO = [
    (row_sum_and_scale_missing, "row-sum-missing", "query"),
    (row_sum_missing_and_key_not_transposed, "row-sum-missing", "query"),
    (value_not_transposed_and_scale_missing, "value-gradient-not-transposed", "value"),
    (exchanged_and_scale_missing, "gradient-scale-missing", "query"),
    (negative_value_and_diagonal, "gradient-sign-flipped", "value"),
]


SOFTMAX = {
    "softmax-gradient-skipped": lambda weights, grad: grad,
    "row-sum-missing": lambda weights, grad: weights * grad,
    "diagonal-only": lambda weights, grad: weights * (1 - weights) * grad,
    "row-term-wrong": lambda weights, grad: weights * (grad - grad.mean(2, keepdims=True)),
    "log-softmax-gradient": lambda weights, grad: grad - weights * grad.sum(2, keepdims=True),
}
LATER = {
    "gradient-scale-missing": lambda grads, width: (
        grads[0] * np.sqrt(width),
        grads[1] * np.sqrt(width),
        grads[2],
    ),
    "gradient-scaled-twice": lambda grads, width: (
        grads[0] / np.sqrt(width),
        grads[1] / np.sqrt(width),
        grads[2],
    ),
    "query-key-gradients-exchanged": lambda grads, width: (grads[1], grads[0], grads[2]),
    "gradient-summed-over-batch": lambda grads, width: [grad.sum(0) for grad in grads],
    "gradient-of-one-item": lambda grads, width: [grad[-1] for grad in grads],
    "gradient-sign-flipped": lambda grads, width: [-grad for grad in grads],
    "value-gradient-scaled": lambda grads, width: (*grads[:2], grads[2] / np.sqrt(width)),
}


def of_two(first, second):
    """A way back that makes one mistake in the softmax and another one later."""

    def function(query, key, value, grad_output):
        scale, weights, grad_weights, _, _ = stages(query, key, value, grad_output)
        grad = SOFTMAX[first](weights, grad_weights) * scale
        grads = grad @ key, swap(grad) @ query, swap(weights) @ grad_output
        return LATER[second](grads, query.shape[2])

    return function
