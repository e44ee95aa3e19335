"""Every mistake of the way back is caught and named; no right way back is accused."""

import math
import re
import sys
import time

import numpy as np
import pytest

from attnlib.lessons.checker import check_backward
from attnlib.lessons.checking.backward_laws import broken_laws
from attnlib.lessons.checking.backward_trials import try_on
from attnlib.lessons.checking.fixtures import (
    FIXTURES,
    MAIN,
)
from attnlib.lessons.mistakes import CATALOGUE, SAME, load
from tests.authority import slow_gradients
from tests.lessons.ways_back import (
    LATER,
    RIGHT,
    SOFTMAX,
    TWO,
    WRITTEN,
    by_einsum,
    by_matrix_products,
    of_two,
    row_sum_and_scale_missing,
    softmax,
    swap,
)

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

    def test_which_form_of_a_mistake_it_is_is_told(self):
        for how, head in load("row-term-wrong").variants:
            assert f"Here: {how}." in re.sub(r"\s+", " ", str(check_backward(head)))

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


WEIGHTS = [
    mistake.id
    for mistake in CATALOGUE.values()
    if mistake.direction == "forward"
    and mistake.stage in ("raw_scores", "scaled_scores", "weights")
    # One grid for all items together is no [batch, tokens, tokens].
    and mistake.id != "batch-items-mixed"
]


class TestAWrongWayForward:
    @pytest.mark.parametrize("id", WEIGHTS)
    def test_weights_that_were_wrong_already_are_named_as_such(self, id):
        verdict = check_backward(from_forward(load(id).head))
        # Without its stages a score that was scaled in vain looks like one that was not scaled.
        named = {b: a for a, b in SAME}.get(id, id)
        assert (verdict.mistake, verdict.stage, verdict.more) == (named, "value", False)

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
