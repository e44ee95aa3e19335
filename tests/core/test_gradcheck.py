"""The gradient check moves every entry, and names the one where a gradient is wrong."""

import math
import re

import numpy as np
import pytest

from attnlib import (
    GradientCheck,
    SelfAttentionError,
    gradient_check,
    scaled_dot_product_self_attention,
)
from attnlib.core import gradcheck
from tests.authority import FIXTURES, RECTANGULAR, SQUARE, WORKED, slow_gradients, slow_head

INPUTS = ("query", "key", "value")


@pytest.fixture(params=FIXTURES)
def inputs(request):
    return FIXTURES[request.param]


def test_the_head_passes_on_every_entry(inputs):
    check = gradient_check(*inputs)
    assert isinstance(check, GradientCheck)
    assert check.passed
    assert check.coordinates == tuple(array.size for array in inputs[:3])
    assert (check.step, check.tolerance) == (1e-6, 2e-6)
    for name in INPUTS:
        assert getattr(check, name).passed


def test_the_worked_example_checks_four_entries_of_each_input():
    assert gradient_check(*WORKED).coordinates == (4, 4, 4)


def test_both_columns_are_the_gradients_of_the_slow_head(inputs):
    check = gradient_check(*inputs)
    for name, expected in zip(INPUTS, slow_gradients(*inputs), strict=True):
        part = getattr(check, name)
        np.testing.assert_allclose(part.analytic, expected, rtol=0, atol=1e-12, strict=True)
        np.testing.assert_allclose(part.numeric, expected, rtol=0, atol=2e-8, strict=True)


def test_the_largest_difference_and_its_place_are_told(inputs):
    check = gradient_check(*inputs)
    for name in INPUTS:
        part = getattr(check, name)
        differences = np.abs(part.analytic - part.numeric)
        assert part.max_difference == differences.max()
        # The first of those that are the largest but for rounding.
        largest = np.isclose(differences, differences.max(), rtol=gradcheck.ROUNDING, atol=0)
        assert part.index == tuple(np.argwhere(largest)[0])


def without_scale(query, key, value, grad_output):
    grad_query, grad_key, grad_value = slow_gradients(query, key, value, grad_output)
    root = math.sqrt(query.shape[-1])
    return grad_query * root, grad_key * root, grad_value


def diagonal_only(query, key, value, grad_output):
    """The softmax treated as if each weight depended on its own score alone."""
    head = slow_head(query, key, value, grad_output)
    grad_raw = head.weights * (1 - head.weights) * head.grad_weights / math.sqrt(query.shape[-1])
    return grad_raw @ key, grad_raw.swapaxes(1, 2) @ query, head.grad_value


def swapped(*inputs):
    grad_query, grad_key, grad_value = slow_gradients(*inputs)
    return grad_key, grad_query, grad_value


def key_not_transposed(query, key, value, grad_output):
    head = slow_head(query, key, value, grad_output)
    return head.grad_query, head.grad_raw_scores @ query, head.grad_value


def value_not_transposed(query, key, value, grad_output):
    head = slow_head(query, key, value, grad_output)
    return head.grad_query, head.grad_key, head.weights @ grad_output


@pytest.mark.parametrize(
    ("backward", "wrong"),
    [
        (without_scale, ("query", "key")),
        (diagonal_only, ("query", "key")),
        (swapped, ("query", "key")),
        (key_not_transposed, ("key",)),
        (value_not_transposed, ("value",)),
    ],
    ids=lambda mistake: getattr(mistake, "__name__", None),
)
@pytest.mark.parametrize("inputs", [RECTANGULAR, SQUARE], ids=["rectangular", "square"])
def test_a_wrong_formula_fails_in_the_inputs_it_spoils_and_only_there(backward, wrong, inputs):
    check = gradient_check(*inputs, backward=backward)
    assert not check.passed
    assert tuple(name for name in INPUTS if not getattr(check, name).passed) == wrong


def numbers(text):
    return [float(found) for found in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", text)]


def one_entry_wrong(which, index, by):
    def backward(*inputs):
        gradients = [gradient.copy() for gradient in slow_gradients(*inputs)]
        gradients[which][index] += by
        return gradients

    return backward


@pytest.mark.parametrize("which", range(3), ids=INPUTS)
def test_a_single_wrong_entry_is_found_wherever_it_is(which):
    for index in np.ndindex(RECTANGULAR[which].shape):
        check = gradient_check(*RECTANGULAR, backward=one_entry_wrong(which, index, 5e-6))
        part = getattr(check, INPUTS[which])
        assert not check.passed
        assert part.index == index
        assert part.max_difference == pytest.approx(5e-6, rel=1e-2)


@pytest.mark.parametrize("which", range(3), ids=INPUTS)
def test_a_failure_shows_both_numbers_and_where_they_differ(which):
    index = (1, 2, 3)
    check = gradient_check(*RECTANGULAR, backward=one_entry_wrong(which, index, 0.125))
    part, text = getattr(check, INPUTS[which]), str(check)
    line = next(line for line in text.splitlines() if "1, 2, 3" in line)
    assert INPUTS[which] in line
    for number in (part.analytic[index], part.numeric[index]):
        assert any(shown == pytest.approx(number, rel=1e-5) for shown in numbers(line))


def test_two_large_numbers_that_barely_differ_are_shown_so_that_they_do():
    query, key, value, grad_output = RECTANGULAR
    inputs = (query, key, value, grad_output * 1000)
    check = gradient_check(*inputs, tolerance=2e-5, backward=one_entry_wrong(2, (1, 2, 3), 2e-4))
    line = next(line for line in str(check).splitlines() if "1, 2, 3" in line)
    large = [number for number in numbers(line) if abs(number) > 100]
    assert len(large) == 2
    assert large[0] != large[1]


def test_the_text_of_a_passed_check_counts_the_entries_and_names_step_and_tolerance():
    text = str(gradient_check(*RECTANGULAR))
    for number in (30, 24, 1e-6, 2e-6):
        assert number in numbers(text)


def test_the_tolerance_decides():
    backward = one_entry_wrong(0, (0, 0, 0), 1e-3)
    assert gradient_check(*RECTANGULAR, tolerance=2e-3, backward=backward).passed
    assert not gradient_check(*RECTANGULAR, tolerance=5e-4, backward=backward).passed


@pytest.mark.parametrize("poison", [math.nan, math.inf])
def test_a_gradient_that_is_not_finite_never_passes(poison):
    index = (1, 0, 2)
    check = gradient_check(*RECTANGULAR, backward=one_entry_wrong(1, index, poison))
    assert not check.passed
    assert not check.key.passed
    assert check.key.index == index


def test_a_gradient_of_another_shape_is_refused_instead_of_broadcast():
    def first_item_only(*inputs):
        return tuple(gradient[:1] for gradient in slow_gradients(*inputs))

    with pytest.raises(ValueError, match=r"\(2, 3, 5\).*\(1, 3, 5\)"):
        gradient_check(*RECTANGULAR, backward=first_item_only)


def test_an_empty_batch_has_nothing_to_check():
    check = gradient_check(*(array[:0] for array in RECTANGULAR))
    assert check.passed
    assert check.coordinates == (0, 0, 0)
    assert check.key.numeric.shape == (0, 3, 5)
    assert "0" in str(check)


@pytest.mark.parametrize("name", ["step", "tolerance"])
@pytest.mark.parametrize("number", [0, -1e-6, math.nan, math.inf])
def test_a_step_or_tolerance_that_is_not_positive_and_finite_is_refused(name, number):
    with pytest.raises(ValueError, match=name):
        gradient_check(*WORKED, **{name: number})


def test_single_precision_inputs_are_checked_in_double_precision():
    assert gradient_check(*(array.astype(np.float32) for array in RECTANGULAR)).passed


def test_an_objective_too_large_for_a_double_gives_finite_numbers_or_a_refusal():
    """Each gradient is finite here, and only the objective over all queries is not."""
    query, key, value, grad_output = (np.ones_like(array) for array in RECTANGULAR)
    try:
        check = gradient_check(query, key, value * 1e200, grad_output * 2e107)
    except SelfAttentionError as error:
        outcome = error.kind
    else:
        outcome = np.isfinite(check.query.numeric).all() and np.isfinite(check.value.numeric).all()
    assert outcome in (True, "non-finite-stage")


def test_the_check_leaves_its_inputs_alone():
    inputs = tuple(array.copy() for array in RECTANGULAR)
    gradient_check(*inputs)
    for kept, original in zip(inputs, RECTANGULAR, strict=True):
        assert np.array_equal(kept, original)


def test_the_check_holds_the_gradients_that_the_head_itself_gives():
    check = gradient_check(*RECTANGULAR)
    gradients = scaled_dot_product_self_attention(*RECTANGULAR[:3]).backward(RECTANGULAR[3])
    for name in INPUTS:
        assert np.array_equal(getattr(check, name).analytic, getattr(gradients, name))


@pytest.mark.parametrize("limit", [None, "1", math.nan, -1])
def test_a_memory_limit_that_is_no_size_is_refused(limit):
    with pytest.raises(ValueError, match="memory_limit must be a number of bytes"):
        gradient_check(*WORKED, memory_limit=limit)


def test_a_step_from_numpy_is_taken_and_a_truth_value_is_not():
    assert gradient_check(*WORKED, step=np.float32(1e-4), tolerance=1e-5).passed
    with pytest.raises(ValueError, match="step must be a positive number, got True"):
        gradient_check(*WORKED, step=True)


def test_a_complex_gradient_is_refused_by_name():
    def complex_key(query, key, value, grad_output):
        return query, key * 1j, value

    with pytest.raises(ValueError, match="the gradient of key must hold real numbers"):
        gradient_check(*WORKED, backward=complex_key)


def test_a_failure_by_rounding_alone_can_be_told_by_its_size():
    large = (WORKED[0], WORKED[1], 1e7 * WORKED[2], WORKED[3])
    text = str(gradient_check(*large, tolerance=1e-9))
    assert "failed" in text
    assert "e-10 of the largest entry" in text or "e-09 of the largest entry" in text


def test_a_wrong_gradient_where_the_true_one_is_zero_is_told_without_a_warning():
    one_token = tuple(array[:, :1] for array in WORKED)
    text = str(gradient_check(*one_token, backward=lambda *inputs: inputs[:3]))
    assert "query: at index (0, 0, 1) the formula gives 3, central differences give 0" in text


def test_of_differences_that_rounding_alone_tells_apart_the_first_is_named():
    query, key, value, grad_output = WORKED

    def mistaken(query, key, value, grad_output):
        gradients = scaled_dot_product_self_attention(query, key, value).backward(grad_output)
        off = np.zeros_like(key)
        off[0, 0, 1], off[0, 1, 1] = 0.5, -0.5 - 1e-9
        return gradients.query, gradients.key + off, gradients.value

    checked = gradient_check(query, key, value, grad_output, backward=mistaken)
    assert checked.key.index == (0, 0, 1)
