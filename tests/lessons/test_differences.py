"""Central differences: two losses by an independent head, and errors by their known laws."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from attnlib import SelfAttentionError, gradient_check, scaled_dot_product_self_attention
from attnlib.lessons.differences import STEPS, entry_difference, step_errors
from attnlib.lessons.mistakes import gradient_scale_missing
from attnlib.lessons.third_derivative import third_derivatives
from tests.authority import FIXTURES, RECTANGULAR, WORKED, slow_gradients, slow_head

EXACT = Path(__file__).parents[1] / "data" / "heads.json"
CASES = json.loads(EXACT.read_text(encoding="utf-8"))["cases"]
OPERANDS = ("query", "key", "value")
ENTRIES = [(which, index) for which in range(3) for index in np.ndindex(WORKED[which].shape)]


def slow_loss(inputs, which, index, move):
    """L by the slow head, with one entry moved."""
    moved = [array.copy() for array in inputs]
    moved[which][index] += move
    return math.fsum((slow_head(*moved).output * moved[3]).ravel())


def sigmoid_bend(x):
    """The third derivative of 1 / (1 + exp(-x))."""
    p = 1 / (1 + math.exp(-x))
    return p * (1 - p) * (1 - 6 * p + 6 * p * p)


@pytest.mark.parametrize("inputs", FIXTURES.values(), ids=FIXTURES)
@pytest.mark.parametrize("step", [1.0, 1e-3, 1e-6])
def test_both_losses_are_those_of_the_slow_head(inputs, step):
    for which, operand in enumerate(OPERANDS):
        last = tuple(length - 1 for length in inputs[which].shape)
        for index in ((0, 0, 0), last):
            found = entry_difference(*inputs, operand, index, step)
            losses = [slow_loss(inputs, which, index, move) for move in (-step, 0, step)]
            assert [found.below, found.objective, found.above] == pytest.approx(losses, abs=1e-12)
            assert found.entry == inputs[which][index]
            gradient = slow_gradients(*inputs)[which][index]
            assert found.closed_form == pytest.approx(gradient, abs=1e-12)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_loss_and_closed_form_are_the_exact_ones_of_sixty_digits(case):
    names = (*OPERANDS, "grad_output")
    inputs = [np.array(case[name], dtype=float)[None] for name in names]
    for which, operand in enumerate(OPERANDS):
        exact = np.array(case["expected"][f"grad_{operand}"], dtype=float)[None]
        for index in np.ndindex(inputs[which].shape):
            found = entry_difference(*inputs, operand, index, 1e-3)
            assert found.objective == pytest.approx(float(case["expected"]["objective"]), rel=1e-13)
            assert found.closed_form == pytest.approx(exact[index], abs=1e-12 * abs(exact).max())


def test_slope_and_error_are_those_of_the_two_losses():
    found = entry_difference(*WORKED, "query", (0, 0, 0), 0.5)
    assert found.slope == pytest.approx(found.above - found.below, rel=1e-15)
    assert found.error == abs(found.slope - found.closed_form)
    assert found.error > 0.02


@pytest.mark.parametrize(("which", "index"), ENTRIES)
def test_one_entry_and_the_gradient_check_take_the_same_slope(which, index):
    found = entry_difference(*WORKED, OPERANDS[which], index)
    check = getattr(gradient_check(*WORKED), OPERANDS[which])
    assert found.slope == pytest.approx(check.numeric[index], abs=2e-9)
    assert found.closed_form == check.analytic[index]
    assert found.error < 2e-9


def test_the_path_passes_through_the_three_losses():
    found = entry_difference(*WORKED, "key", (0, 1, 1), 0.5)
    for move, loss in ((-0.5, found.below), (0, found.objective), (0.5, found.above)):
        assert np.interp(move, found.offsets, found.path) == pytest.approx(loss, abs=1e-12)
    assert found.offsets[[0, -1]].tolist() == [-0.75, 0.75]


class TestThirdDerivatives:
    def test_with_two_keys_they_are_those_of_the_sigmoid(self):
        """L is linear in the weight of key 0, a sigmoid of the difference of the two scores."""
        head = scaled_dot_product_self_attention(*WORKED[:3])
        bends = third_derivatives(head, head.backward(WORKED[3]))
        query, key, value, seed = (array[0] for array in WORKED)
        gains = seed @ (value[0] - value[1])
        scores = head.scaled_scores[0]
        for t, f in np.ndindex(2, 2):
            speed = (key[0, f] - key[1, f]) * head.scale
            expected = gains[t] * speed**3 * sigmoid_bend(scores[t, 0] - scores[t, 1])
            assert bends.query[0, t, f] == pytest.approx(expected, rel=1e-9)
            sign = 1 if t == 0 else -1
            expected = sum(
                gains[i] * (sign * query[i, f] * head.scale) ** 3 * sigmoid_bend(s[0] - s[1])
                for i, s in enumerate(scores)
            )
            assert bends.key[0, t, f] == pytest.approx(expected, rel=1e-9)
        assert not bends.value.any()

    def test_with_three_keys_they_are_how_the_slow_gradients_bend(self):
        """The second difference of a gradient is the third derivative of L, up to h^2."""
        head = scaled_dot_product_self_attention(*RECTANGULAR[:3])
        bends = third_derivatives(head, head.backward(RECTANGULAR[3]))
        for which, operand in enumerate(OPERANDS):
            for index in list(np.ndindex(RECTANGULAR[which].shape))[::4]:
                gradients = []
                for move in (-1e-3, 0, 1e-3):
                    moved = [array.copy() for array in RECTANGULAR]
                    moved[which][index] += move
                    gradients.append(slow_gradients(*moved)[which][index])
                bend = (gradients[0] - 2 * gradients[1] + gradients[2]) / 1e-6
                assert getattr(bends, operand)[index] == pytest.approx(bend, abs=2e-6)


class TestErrorAgainstStep:
    @pytest.mark.parametrize("inputs", FIXTURES.values(), ids=FIXTURES)
    def test_a_wide_step_errs_by_the_third_derivative(self, inputs):
        curve = step_errors(*inputs, steps=(1e-3, 1e-2))
        np.testing.assert_allclose(curve.largest, curve.truncation, rtol=1e-2)
        assert curve.truncation[1] == pytest.approx(100 * curve.truncation[0])

    @pytest.mark.parametrize("precision", ["float64", "float32"])
    def test_a_small_step_errs_by_rounding_and_no_worse_than_expected(self, precision):
        curve = step_errors(*WORKED, precision=precision)
        left = (curve.steps < curve.expected_best_step / 3) & (curve.rounding < 1)
        assert np.all(curve.largest[left] < 10 * curve.rounding[left])
        assert np.all(curve.largest[left] > curve.rounding[left] / 100)

    def test_rounding_is_eps_over_the_step_in_either_precision(self):
        double, single = (step_errors(*WORKED, precision=p) for p in ("float64", "float32"))
        assert double.rounding[0] == pytest.approx(10 * double.rounding[1])
        assert single.rounding[0] / double.rounding[0] == pytest.approx(2.0**29)

    def test_the_bottoms_are_where_the_two_errors_meet(self):
        for precision, step in (("float64", 1e-5), ("float32", 1e-2)):
            curve = step_errors(*WORKED, precision=precision)
            assert curve.best_step == step
            assert curve.largest[curve.bottom] == curve.largest.min()
            assert curve.expected_best_step == pytest.approx(step, rel=0.5)
            terms = curve.truncation[curve.bottom] + curve.rounding[curve.bottom]
            assert curve.largest[curve.bottom] < 3 * terms

    def test_the_step_of_the_check_passes_in_double_precision_and_no_step_in_single(self):
        assert STEPS.index(1e-6) == 6
        assert step_errors(*WORKED).largest[6] < 2e-9
        assert step_errors(*WORKED, precision="float32").largest.min() > 2e-6

    def test_values_err_by_rounding_alone(self):
        curve = step_errors(*WORKED, steps=(1e-1, 1.0))
        assert curve.value.max() < 1e-13
        assert curve.query.max() > 1e-4

    def test_without_a_bend_no_step_is_too_wide(self):
        one_token = tuple(array[:, :1] for array in WORKED)
        assert step_errors(*one_token).expected_best_step == math.inf

    def test_every_entry_is_there(self):
        curve = step_errors(*RECTANGULAR, steps=(1e-2, 1e-6, 1e-4))
        assert (curve.query.shape, curve.key.shape, curve.value.shape) == (
            (3, 30),
            (3, 30),
            (3, 24),
        )
        assert curve.steps.tolist() == [1e-2, 1e-6, 1e-4]
        for which, operand in enumerate(OPERANDS):
            for column, index in enumerate(np.ndindex(RECTANGULAR[which].shape)):
                error = entry_difference(*RECTANGULAR, operand, index, 1e-2).error
                assert getattr(curve, operand)[0, column] == pytest.approx(error, abs=1e-13)

    def test_an_empty_batch_errs_nowhere(self):
        curve = step_errors(*(array[:0] for array in RECTANGULAR))
        assert curve.largest.tolist() == [0.0] * 12


class TestSinglePrecision:
    def test_its_losses_are_numbers_of_that_precision(self):
        found = entry_difference(*WORKED, "query", (0, 0, 0), 1e-2, "float32")
        for loss in (found.below, found.objective, found.above, found.slope, *found.path):
            assert float(np.float32(loss)) == loss
        exact = entry_difference(*WORKED, "query", (0, 0, 0), 1e-2)
        assert found.closed_form == exact.closed_form

    def test_a_step_below_its_digits_moves_nothing(self):
        found = entry_difference(*WORKED, "value", (0, 0, 1), 1e-8, "float32")
        assert found.below == found.above
        assert (found.slope, found.error) == (0, found.closed_form)
        assert found.closed_form > 0.99

    def test_double_precision_inputs_are_rounded_before_either_gradient(self):
        inputs = [array + 0.1 for array in WORKED]
        found = entry_difference(*inputs, "key", (0, 0, 0), 1e-2, "float32")
        rounded = [array.astype(np.float32).astype(float) for array in inputs]
        assert found.closed_form == pytest.approx(slow_gradients(*rounded)[1][0, 0, 0], abs=1e-15)


def test_a_planted_mistake_shows_in_every_entry_of_q_and_k_that_has_a_gradient():
    wrong = gradient_scale_missing(*WORKED)
    for which, index in ENTRIES:
        slope = entry_difference(*WORKED, OPERANDS[which], index).slope
        factor = wrong[which][index] / slope
        assert factor == pytest.approx(math.sqrt(2) if which < 2 else 1, rel=1e-4)


def test_records_tell_themselves_in_a_line():
    found = entry_difference(*WORKED, "query", (0, 0, 0))
    assert repr(found) == (
        "EntryDifference(query (0, 0, 0), step=1e-06, float64: "
        "slope 0.079000, closed form 0.079000)"
    )
    curve = step_errors(*WORKED)
    assert repr(curve) == "StepErrors(float64, 12 steps: smallest error at 1e-05)"


class TestRefusals:
    @pytest.mark.parametrize(
        "step", [0, -1e-6, math.nan, math.inf, 1e-19, 1e7, "1e-6", True, None, 1j]
    )
    def test_a_step_that_is_none_is_refused(self, step):
        with pytest.raises(ValueError, match="step must be a number from 1e-18"):
            entry_difference(*WORKED, "query", (0, 0, 0), step)
        with pytest.raises(ValueError, match="step must be a number from 1e-18"):
            step_errors(*WORKED, steps=(1e-6, step))

    @pytest.mark.parametrize("index", [(0, 0), (0, 2, 0), (0, -1, 0), (0, 0.5, 0), "abc", None, 3])
    def test_an_index_without_an_entry_is_refused(self, index):
        with pytest.raises(ValueError, match="index must name one entry of key"):
            entry_difference(*WORKED, "key", index)

    def test_an_unknown_operand_precision_or_no_step_is_refused(self):
        with pytest.raises(ValueError, match="there is no operand 'Q'"):
            entry_difference(*WORKED, "Q", (0, 0, 0))
        with pytest.raises(ValueError, match="there is no precision 'float16'"):
            step_errors(*WORKED, precision="float16")
        with pytest.raises(ValueError, match="steps must hold one step at least"):
            step_errors(*WORKED, steps=())

    def test_what_the_core_refuses_is_refused_in_its_words(self):
        with pytest.raises(SelfAttentionError) as caught:
            entry_difference(*WORKED[:3], WORKED[3][..., :1], "query", (0, 0, 0))
        assert caught.value.kind == "gradient-shape"

    def test_a_loss_that_overflows_is_refused(self):
        large = (WORKED[0], WORKED[1], WORKED[2] * 1e38, WORKED[3] * 10)
        with pytest.raises(SelfAttentionError) as caught:
            entry_difference(*large, "query", (0, 0, 0), 1.0, "float32")
        assert caught.value.kind in {"non-finite-stage", "non-finite-input"}


def test_the_inputs_stay_as_they_were():
    inputs = tuple(array.copy() for array in RECTANGULAR)
    entry_difference(*inputs, "key", (1, 2, 3), 0.5)
    step_errors(*inputs, precision="float32")
    for kept, original in zip(inputs, RECTANGULAR, strict=True):
        assert np.array_equal(kept, original)
