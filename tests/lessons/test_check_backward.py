"""Every mistake of the way back is caught and named; no right way back is accused."""

import math
import re
import sys
import time

import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention
from attnlib.core import head as core
from attnlib.core import tape
from attnlib.lessons.checker import check_backward
from attnlib.lessons.checking import seeing
from attnlib.lessons.checking.backward_laws import broken_laws
from attnlib.lessons.checking.backward_trials import right_gradients, try_on
from attnlib.lessons.checking.fixtures import FIXTURES, MAIN, SQUARE, Fixture, part
from attnlib.lessons.mistakes import CATALOGUE, load
from tests.authority import slow_gradients

BACKWARD = [mistake for mistake in CATALOGUE.values() if mistake.direction == "backward"]
MADE = [
    pytest.param(mistake, head, id=f"{mistake.id}{': ' * bool(how)}{how}")
    for mistake in BACKWARD
    for how, head in (("", mistake.head), *mistake.variants)
]
ASKED_FOR = {
    "row-sum-missing",
    "diagonal-only",
    "row-term-wrong",
    "gradient-scale-missing",
    "gradient-scaled-twice",
    "query-key-gradients-exchanged",
    "key-gradient-not-transposed",
    "value-gradient-not-transposed",
    "gradient-summed-over-batch",
    "gradient-averaged",
    "gradient-sign-flipped",
    "gradient-overwritten-not-added",
}


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


class TestRightWaysBack:
    @pytest.mark.parametrize("function", RIGHT, ids=lambda function: function.__name__)
    def test_a_right_way_back_passes(self, function):
        verdict = check_backward(function)
        assert verdict.passed, str(verdict)
        assert verdict.mistake is verdict.stage is verdict.counterexample is None

    def test_tensors_of_another_library_are_handed_over_and_read(self):
        class Tensor:
            def __init__(self, array):
                self.array = array

            def detach(self):
                return self

            def cpu(self):
                return self

            def numpy(self):
                return self.array

        def function(*tensors):
            assert all(isinstance(tensor, Tensor) for tensor in tensors)
            return [Tensor(grad) for grad in by_einsum(*(tensor.array for tensor in tensors))]

        assert check_backward(function, adapter=Tensor).passed

    def test_the_reason_for_a_random_grad_output_is_told(self):
        said = re.sub(r"\s+", " ", str(check_backward(by_einsum)))
        assert "All ones, with values whose rows have equal sums" in said

    def test_a_loop_that_an_empty_batch_stops_is_no_mistake_but_is_told(self):
        def function(*inputs):
            items = list(zip(*inputs, strict=True))
            found = [by_matrix_products(*(x[None] for x in item)) for item in items]
            return tuple(np.concatenate(grads) for grads in (zip(*found, strict=True)))

        verdict = check_backward(function)
        assert verdict.passed
        assert "empty batch" in str(verdict)


class TestMistakes:
    def test_the_catalogue_holds_every_mistake_asked_for(self):
        assert {mistake.id for mistake in BACKWARD} >= ASKED_FOR

    @pytest.mark.parametrize(("mistake", "head"), MADE)
    def test_a_mistake_is_named_by_its_own_id(self, mistake, head):
        verdict = check_backward(head)
        assert not verdict.passed
        assert verdict.mistake == mistake.id
        assert not verdict.more

    @pytest.mark.parametrize("mistake", BACKWARD, ids=lambda mistake: mistake.id)
    def test_the_first_gradient_that_departs_is_the_one_the_catalogue_says(self, mistake):
        verdict = check_backward(mistake.head)
        assert verdict.stage == mistake.stage
        assert mistake.question in re.sub(r"\s+", " ", str(verdict))

    @pytest.mark.parametrize("mistake", BACKWARD, ids=lambda mistake: mistake.id)
    def test_the_numbers_come_with_explain_only(self, mistake):
        verdict = check_backward(mistake.head)
        example = verdict.counterexample
        assert "[" not in re.sub(r"\s+", " ", str(verdict)).replace("[T, d_v]", "")
        assert "expected" in str(verdict.explain())
        inputs = [example.inputs[name] for name in ("query", "key", "value", "grad_output")]
        right = dict(zip(("query", "key", "value"), slow_gradients(*inputs), strict=True))
        np.testing.assert_allclose(example.expected, right[example.stage], atol=1e-9)

    def test_the_counterexample_is_as_small_as_shows_it(self):
        sizes = {
            mistake.id: check_backward(mistake.head).counterexample.inputs["query"].shape
            for mistake in BACKWARD
        }
        assert sizes["gradient-sign-flipped"] == (1, 1, 1)
        assert sizes["gradient-overwritten-not-added"] == (1, 2, 1)
        assert sizes["gradient-scale-missing"] == (1, 2, 2)
        assert sizes["key-gradient-not-transposed"] == (1, 2, 1)

    def test_a_check_takes_less_than_a_second_of_work(self):
        # Counted in calls, for a clock tells of the machine.
        calls = []

        def function(*inputs):
            calls.append(1)
            return load("row-sum-missing").head(*inputs)

        check_backward(function)
        assert len(calls) <= 20


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


class TestMistakesWrittenAnotherWay:
    @pytest.mark.parametrize(("function", "id"), WRITTEN)
    def test_the_name_does_not_depend_on_how_it_is_written(self, function, id):
        verdict = check_backward(function)
        assert (verdict.mistake, verdict.more) == (id, False)

    @pytest.mark.parametrize(("mistake", "head"), MADE)
    def test_a_mistake_in_single_precision_is_named_too(self, mistake, head):
        def function(*inputs):
            return head(*(x.astype(np.float32) if x.dtype.kind == "f" else x for x in inputs))

        verdict = check_backward(function)
        assert (verdict.mistake, verdict.more) == (mistake.id, False)

    def test_an_error_on_the_empty_batch_does_not_hide_the_name(self):
        def function(*inputs):
            if not len(inputs[0]):
                raise ValueError("need at least one array to stack")
            return load("row-sum-missing").head(*inputs)

        assert check_backward(function).mistake == "row-sum-missing"


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


class TestTwoMistakes:
    @pytest.mark.parametrize("second", LATER)
    @pytest.mark.parametrize("first", SOFTMAX)
    def test_one_of_any_two_is_named_and_more_may_follow(self, first, second):
        verdict = check_backward(of_two(first, second))
        named = second if second == "value-gradient-scaled" else first
        assert (verdict.mistake, verdict.more) == (named, True)

    @pytest.mark.parametrize(("function", "first", "stage"), TWO)
    def test_the_first_is_named_and_more_may_follow(self, function, first, stage):
        verdict = check_backward(function)
        assert (verdict.mistake, verdict.stage, verdict.more) == (first, stage, True)
        assert "More may follow" in str(verdict)

    def test_a_factor_on_top_is_told_with_where_it_comes_from(self):
        assert "sqrt(d_k)" in str(check_backward(row_sum_and_scale_missing))


def from_forward(head):
    """The right way back with the weights of a wrong way forward."""

    def function(query, key, value, grad_output):
        weights = head(query, key, value)["weights"]
        grad_weights = grad_output @ swap(value)
        grad = weights * (grad_weights - (weights * grad_weights).sum(2, keepdims=True))
        grad = grad / math.sqrt(query.shape[2])
        return grad @ key, swap(grad) @ query, swap(weights) @ grad_output

    return function


class TestAWrongWayForward:
    @pytest.mark.parametrize(
        "id", ["scale-missing", "scale-by-width", "softmax-over-queries", "softmax-without-maximum"]
    )
    def test_weights_that_were_wrong_already_are_named_as_such(self, id):
        verdict = check_backward(from_forward(load(id).head))
        assert (verdict.mistake, verdict.stage, verdict.more) == (id, "value", False)

    def test_any_other_scale_of_the_scores_is_found_in_the_gradient_of_value(self):
        def function(query, key, value, grad_output):
            weights = softmax(query @ swap(key) * 1.3)
            grad_weights = grad_output @ swap(value)
            grad = weights * (grad_weights - (weights * grad_weights).sum(2, keepdims=True)) * 1.3
            return grad @ key, swap(grad) @ query, swap(weights) @ grad_output

        verdict = check_backward(function)
        assert (verdict.mistake, verdict.stage) == ("scale-wrong-width", "value")
        assert "multiplied by 1.3," in re.sub(r"\s+", " ", str(verdict))

    def test_the_right_gradient_of_a_wrong_head_is_one_mistake(self):
        def function(query, key, value, grad_output):
            weights = softmax(query @ swap(key))
            grad_weights = grad_output @ swap(value)
            grad = weights * (grad_weights - (weights * grad_weights).sum(2, keepdims=True))
            return grad @ key, swap(grad) @ query, swap(weights) @ grad_output

        verdict = check_backward(function)
        assert (verdict.mistake, verdict.more) == ("scale-missing", False)


def changed(change, *places):
    """The right gradients, of which some are changed at the end."""

    def function(*inputs):
        grads = list(by_matrix_products(*inputs))
        for place in places:
            grads[place] = change(grads[place])
        return tuple(grads)

    return function


class TestUnknownMistakes:
    @pytest.mark.parametrize(
        ("change", "places", "stage", "said"),
        [
            (lambda x: 1.7 * x, (0,), "query", "right one times 1.7"),
            (lambda x: x / x.shape[2] ** 2, (1,), "key", "right one times 0.04"),
            (lambda x: 0 * x, (2,), "value", "dV is 0 throughout"),
            (lambda x: 0 * x, (0, 1, 2), "value", "dV is 0 throughout"),
            (lambda x: 0 * x + 2, (0, 1, 2), "value", "departs in 24 of 24 entries"),
            (lambda x: x[:, ::-1], (2,), "value", "the tokens are in the order (2, 1, 0)"),
            (lambda x: x[..., ::-1], (0,), "query", "features are in the order (4, 3, 2, 1, 0)"),
            (lambda x: swap(x), (0, 1), "query", "axes are in the order (0, 2, 1)"),
            (lambda x: x + 0.5, (1,), "key", "right one plus 0.5"),
        ],
    )
    def test_what_is_regular_is_said_and_no_name_is_made_up(self, change, places, stage, said):
        verdict = check_backward(changed(change, *places))
        assert not verdict.passed
        assert verdict.mistake in (None, "wrong-shape")
        assert verdict.stage == stage
        assert said in re.sub(r"\s+", " ", str(verdict))

    def test_a_constant_that_follows_the_sizes_is_told_by_its_formula(self):
        def function(query, key, value, grad_output):
            grads = by_matrix_products(query, key, value, grad_output)
            return *grads[:2], grads[2] * math.sqrt(value.shape[2])

        verdict = check_backward(function)
        assert verdict.mistake is None
        assert "2 = sqrt(d_v)" in str(verdict)

    def test_where_and_by_how_much_is_told(self):
        def function(*inputs):
            grads = by_matrix_products(*inputs)
            grads[1][:1, :1, :1] += 0.25
            return grads

        verdict = check_backward(function)
        assert (verdict.mistake, verdict.stage) == (None, "key")
        assert "(0, 0, 0), by 0.25" in re.sub(r"\s+", " ", str(verdict))
        assert any("summed over the keys" in hint for hint in verdict.hints)

    def test_a_known_mistake_after_an_unknown_one_is_told_beside_it(self):
        def function(*inputs):
            grads = load("diagonal-only").head(*inputs)
            return *grads[:2], grads[2] ** 3

        verdict = check_backward(function)
        assert (verdict.mistake, verdict.stage, verdict.more) == (None, "value", True)
        assert "dQ is that of diagonal-only" in str(verdict)

    def test_the_laws_hold_for_every_right_way_back(self):
        for fixture in FIXTURES:
            assert broken_laws(try_on(by_einsum, fixture)) == ()

    @pytest.mark.parametrize(
        ("place", "word"), [(2, "grad_output summed"), (1, "over the keys"), (0, "sum of Q dQ")]
    )
    def test_a_broken_law_is_seen(self, place, word):
        noise = np.random.default_rng(5)
        trial = try_on(changed(lambda x: x + noise.standard_normal(x.shape), place), MAIN)
        assert word in " ".join(broken_laws(trial))


def in_half_precision(*inputs):
    grads = by_matrix_products(*(x.astype(np.float16) for x in inputs))
    return tuple(grad.astype(float) for grad in grads)


def that_exits(*inputs):
    sys.exit(3)


def that_interrupts(*inputs):
    raise KeyboardInterrupt


def that_never_ends(*inputs):
    while True:
        time.sleep(0.001)


def that_changes_its_inputs(query, key, value, grad_output):
    grads = by_matrix_products(query, key, value, grad_output)
    grad_output *= 2
    return grads


def that_prints(*inputs):
    print("dQ")
    return by_matrix_products(*inputs)


def that_remembers():
    kept = {}

    def function(*inputs):
        grads = by_matrix_products(*inputs)
        shapes = tuple(x.shape for x in inputs)
        before = kept.get(shapes, [0, 0, 0])
        if shapes == tuple(x.shape for x in (MAIN.query, MAIN.key, MAIN.value, MAIN.grad_output)):
            kept[shapes] = [old + new for old, new in zip(before, grads, strict=True)]
            return kept[shapes]
        return grads

    return function


class TestHostileHandIns:
    @pytest.mark.parametrize(
        ("function", "said"),
        [
            (lambda *inputs: None, "returned None"),
            (lambda *inputs: ..., "Not attempted yet"),
            (lambda *inputs: "dQ, dK, dV", "returned text"),
            (lambda *inputs: by_matrix_products(*inputs)[:2], "2 items"),
            (lambda *inputs: (*by_matrix_products(*inputs), 1), "4 items"),
            (lambda *inputs: by_matrix_products(*inputs)[0], "1 item"),
            (lambda *inputs: (None, None, None), "returned None"),
            (changed(lambda x: x * 1j, 0), "complex"),
            (changed(lambda x: x * np.nan, 2), "nan"),
            (changed(lambda x: x[..., :1], 1), "shape"),
            (changed(lambda x: x.astype(str), 1), "real numbers"),
            (changed(lambda x: x.astype(np.float16), 0), "half-precision"),
            (in_half_precision, "half-precision"),
            (lambda query, key, value: (query, key, value), "TypeError"),
            (that_exits, "SystemExit"),
            (that_interrupts, "KeyboardInterrupt"),
            (lambda *inputs: 1 / 0, "ZeroDivisionError"),
            (that_changes_its_inputs, "grad_output is no longer what it was"),
        ],
    )
    def test_it_gets_a_plain_verdict(self, function, said):
        verdict = check_backward(function)
        assert not verdict.passed
        assert said in re.sub(r"\s+", " ", str(verdict))
        assert str(verdict.explain())

    def test_one_that_never_ends_is_stopped_and_the_limit_told(self):
        verdict = check_backward(that_never_ends, seconds=0.05)
        assert not verdict.passed
        assert verdict.limit == 0.05
        assert "0.05 s" in str(verdict)

    def test_prints_are_told_and_kept_out_of_the_output(self, capsys):
        verdict = check_backward(that_prints)
        assert verdict.passed
        assert "dQ" in verdict.printed
        assert capsys.readouterr().out == ""

    def test_gradients_kept_from_an_earlier_call_are_seen(self):
        verdict = check_backward(that_remembers())
        assert not verdict.passed
        assert "from call to call" in re.sub(r"\s+", " ", str(verdict))

    def test_what_is_no_function_is_refused(self):
        with pytest.raises(ValueError, match=r"must be a function .* got int"):
            check_backward(3)


def blind(batch=2, tokens=3, width=5, value_width=4):
    """All ones sent back to values whose rows have equal sums."""
    random = np.random.default_rng(17)
    query, key, value = (
        random.standard_normal((batch, tokens, features))
        for features in (width, width, value_width)
    )
    value += (1 - value.sum(axis=2, keepdims=True)) / value_width
    return Fixture("all ones", query, key, value, np.ones(value.shape))


class TestWhatAnInputCanSee:
    def test_the_main_input_sees_every_mistake(self):
        assert seeing.unseen(MAIN) == ()
        assert all(
            seeing.sees(mistake.id, MAIN) for mistake in BACKWARD if "integer" not in mistake.id
        )

    def test_all_ones_and_values_of_equal_sums_send_nothing_to_query_and_key(self):
        right = right_gradients(blind())
        assert np.abs(right["query"]).max() < 1e-12
        assert np.abs(right["key"]).max() < 1e-12

    @pytest.mark.parametrize(
        "id",
        [
            "gradient-scale-missing",
            "gradient-scaled-twice",
            "query-key-gradients-exchanged",
            "key-gradient-not-transposed",
            "gradient-from-own-operand",
            "grad-output-ignored",
        ],
    )
    def test_a_wrong_way_back_passes_there(self, id):
        fixture = blind()
        grads = load(id).head(*fixture.inputs, fixture.grad_output)
        right = slow_gradients(*fixture.inputs, fixture.grad_output)
        for found, due in zip(grads, right, strict=True):
            np.testing.assert_allclose(found, due, atol=1e-12)
        assert not seeing.sees(id, fixture)
        assert id in seeing.unseen(fixture)

    def test_the_same_inputs_see_them_with_a_random_grad_output(self):
        fixture = blind()
        random = np.random.default_rng(18).standard_normal(fixture.value.shape)
        assert seeing.unseen(Fixture("random", *fixture.inputs, random)) == ()

    def test_an_input_that_hides_a_mistake_is_refused_as_a_proof(self):
        with pytest.raises(ValueError, match="equal sums") as refused:
            check_backward(by_einsum, fixtures=[blind()])
        assert "gradient-scale-missing" in str(refused.value)

    def test_inputs_that_see_everything_are_taken(self):
        assert check_backward(by_einsum, fixtures=[MAIN]).passed
        assert (
            check_backward(load("diagonal-only").head, fixtures=[MAIN]).mistake == "diagonal-only"
        )

    @pytest.mark.parametrize(
        ("fixture", "hidden", "reason"),
        [
            (part(MAIN, 2, 1, 5, 4), "gradient-scale-missing", "one token"),
            (part(MAIN, 1, 3, 5, 4), "gradient-of-one-item", "one item"),
            (part(MAIN, 2, 3, 1, 4), "gradient-scale-missing", "d_k = 1"),
            (SQUARE, "gradient-scale-wrong-width", "equal"),
        ],
    )
    def test_sizes_that_hide_a_mistake_are_told(self, fixture, hidden, reason):
        assert hidden in seeing.unseen(fixture)
        assert reason in " ".join(seeing.why_unseen(fixture))

    def test_a_forward_mistake_is_no_question_here(self):
        with pytest.raises(ValueError, match="forward"):
            seeing.sees("scale-missing", MAIN)
