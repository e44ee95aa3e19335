"""Fifty public reports about attention: each gets the value, the refusal or the name it must."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.text import Text

from attnlib import SelfAttentionError, gradient_check, scaled_dot_product_self_attention
from attnlib.explorers import HeadExplorer
from attnlib.lessons.checker import check_backward, check_forward
from attnlib.lessons.mistakes import CATALOGUE
from attnlib.views import figures, style
from attnlib.views.layout import FORWARD
from tests import authority
from tests import reported_heads as reported
from tests.lessons.right_heads import RIGHT_HEADS

DATA = Path(__file__).parent / "data"
CASES = {
    case["id"]: case
    for case in map(json.loads, (DATA / "attention_cases.jsonl").read_text("utf-8").splitlines())
}

MISTAKES = {
    "SOFTMAX_AXIS_QUERY": "softmax-over-queries",
    "SOFTMAX_AXIS_FLATTENED_ROWS": "softmax-over-flattened-rows",
    "SOFTMAX_FLATTENED": "softmax-over-everything",
    "SCALE_MISSING": "scale-missing",
    "SCALE_DK_NOT_SQRT": "scale-by-width",
    "SCALE_WRONG_DIMENSION": "scale-wrong-width",
    "SCALE_PRECEDENCE": "scale-half-width",
    "SOFTMAX_ON_RAW_SCORES": "softmax-on-raw-scores",
    "VALUE_REPLACED_BY_QUERY": "value-is-query",
    "SOFTMAX_SIGN_FLIPPED": "sign-flipped",
    "MASK_AFTER_SOFTMAX": "mask-after-softmax",
    "SOFTMAX_NO_MAX_SUBTRACTION": "softmax-without-maximum",
    "SOFTMAX_GLOBAL_MAX": "softmax-global-maximum",
    "FLOAT16_OVERFLOW": "half-precision",
    "BATCH_SEQUENCE_SWAPPED": "batch-and-tokens-swapped",
    "ALL_AXES_REVERSED": "all-axes-reversed",
    "RESHAPE_INSTEAD_OF_TRANSPOSE": "key-reshaped",
    "SQUARE_DIMS_HIDE": "key-not-transposed",
    "SOFTMAX_TWICE": "softmax-twice",
    "ROW_COLUMN_WORDING": "softmax-over-queries",
    "Q_K_EXCHANGED": "query-key-exchanged",
    "SCALE_ZERO": "scale-zero",
}
"""label of a forward report -> the id of its mistake."""

FINGERPRINTS = {
    "weights": "weights",
    "output": "output",
    "scaled": "scaled_scores",
    "scaled_with_dv": "scaled_scores",
    "scaled_times_dk_half": "scaled_scores",
    "raw_with_reshape": "raw_scores",
    "raw": "raw_scores",
    "weights_over_batch": "weights",
    "weights_QK_swapped": "weights",
}
"""What the file calls a wrong stage -> the stage."""

READ = {
    "raw": lambda head, grads: head.raw_scores,
    "scaled": lambda head, grads: head.scaled_scores,
    "weights": lambda head, grads: head.weights,
    "row_sums": lambda head, grads: head.weights.sum(axis=2),
    "output": lambda head, grads: head.output,
    "output_shape": lambda head, grads: np.array(head.output.shape),
    "raw_shape": lambda head, grads: np.array(head.raw_scores.shape),
    "dW": lambda head, grads: grads.weights,
    "dS": lambda head, grads: grads.scaled_scores,
    "dQ": lambda head, grads: grads.query,
    "dK": lambda head, grads: grads.key,
    "dV": lambda head, grads: grads.value,
    "row_term_from_O": lambda head, grads: (head.output * GRAD_OUTPUT).sum(axis=2),
    "row_term_from_W": lambda head, grads: (head.weights * grads.weights).sum(axis=2),
}
"""What the file calls a right number -> how it is read off the core's records."""

GRAD_OUTPUT = np.array([[[1.0, 0.0], [0.0, 2.0]]])
"""What most cases with gradients send back."""


def items(matrix):
    """A batch of one item, or more where the file has them."""
    array = np.array(matrix, dtype=float)
    return array if array.ndim == 3 else array[None]


def inputs_of(case):
    """Q, K and V of a case; where it has no V, one of another width."""
    given = case["smallest_input"]
    if "Q_K_V" in given:
        return (items(given["Q_K_V"]),) * 3
    query, key = items(given["Q"]), items(given["K"])
    return query, key, items(given["V"]) if "V" in given else np.ones((*key.shape[:2], 1))


def assert_printed(actual, printed, digits=6):
    """Equal to the printed digits, in the printed shape; the file leaves a batch of one out."""
    printed = np.array(printed, dtype=float)
    actual = np.asarray(actual, dtype=float)
    actual = actual[0] if actual.ndim == printed.ndim + 1 and len(actual) == 1 else actual
    np.testing.assert_allclose(actual, printed, rtol=0, atol=0.5001 * 10.0**-digits, strict=True)


def agrees(actual, printed, digits=6):
    try:
        assert_printed(actual, printed, digits)
    except AssertionError:
        return False
    return True


def run(head, *inputs):
    """A wrong head's stages; what NumPy says on the way is part of it."""
    with np.errstate(all="ignore"):
        return head(*(np.array(x) for x in inputs))


def runnable(mistake):
    """Every head that the catalogue has for a mistake."""
    return [mistake.head, *(head for _, head in mistake.variants)]


def assert_named(label, also_by_output=True):
    """Whoever hands this report's head in reads the name of its mistake."""
    head, mistake = reported.HEADS[label], MISTAKES[label]
    verdict = check_forward(head)
    assert not verdict.passed
    assert verdict.mistake == mistake
    if also_by_output:
        assert check_forward(reported.output_alone(head)).mistake == mistake


def assert_wrong_as_reported(label, fingerprint, inputs, digits=6):
    """The reported head and one of the catalogue both give the fingerprint, to its digits."""
    given = {FINGERPRINTS[name]: printed for name, printed in fingerprint.items()}
    stages = run(reported.HEADS[label], *inputs)
    for stage, printed in given.items():
        assert_printed(stages[stage], printed, digits)

    def gives_it(head):
        made = run(head, *inputs)
        return all(
            agrees(made[stage], printed, digits)
            for stage, printed in given.items()
            if stage in made
        )

    assert any(map(gives_it, runnable(CATALOGUE[MISTAKES[label]])))


def refusal_of(*inputs):
    with pytest.raises(SelfAttentionError) as caught:
        scaled_dot_product_self_attention(*inputs)
    return caught.value


ANSWERS = {}
"""id of a case -> the test of its answer."""


def answers(*ids):
    def enter(function):
        ANSWERS.update(dict.fromkeys(ids, function))
        return function

    return enter


def test_all_fifty_are_there_and_each_has_its_answer():
    assert len(CASES) == 50
    assert set(ANSWERS) == set(CASES)


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: f"{case['id']}-{case['source']}")
def test_the_answer_is_what_the_report_asks_for(case):
    ANSWERS[case["id"]](case)


def assert_right(case, digits=6):
    """The core gives every right number of a case."""
    head = scaled_dot_product_self_attention(*inputs_of(case))
    grads = None
    if "dO" in case["smallest_input"]:
        grads = head.backward(items(case["smallest_input"]["dO"]))
    for name, printed in case["right_answer"].items():
        if name not in ("verdict", "statement"):
            assert_printed(READ[name](head, grads), printed, digits)


# Forward: the right numbers, the wrong ones, and the name of the mistake


@answers(
    *("ATT-006", "ATT-007", "ATT-009", "ATT-014", "ATT-015", "ATT-046", "ATT-049", "ATT-079"),
    *("ATT-029", "ATT-030"),
)
def answer_with_numbers_and_a_name(case):
    assert_right(case)
    label = case["checker_label"]
    assert_wrong_as_reported(label, case["wrong_result_fingerprint"], inputs_of(case))
    # Q Kᵀ without the root is one function, however it came about.
    assert_named(label)


@answers("ATT-001", "ATT-004")
def answer_with_sums_that_give_it_away(case):
    assert_right(case)
    label, wrong = case["checker_label"], dict(case["wrong_result_fingerprint"])
    weights = run(reported.HEADS[label], *inputs_of(case))["weights"]
    for name, axis in (("row_sums", 2), ("col_sums", 1), ("total", (1, 2))):
        if name in wrong:
            assert_printed(weights.sum(axis=axis)[0], wrong.pop(name))
    assert_wrong_as_reported(label, wrong, inputs_of(case))
    assert_named(label)


@answers("ATT-002")
def answer_one_query_against_two_keys(case):
    scores = items(case["smallest_input"]["scores"])
    # The core wants as many queries as keys: the one query twice, of width 1, gives these scores.
    key = scores.swapaxes(1, 2)
    head = scaled_dot_product_self_attention(np.ones_like(key), key, np.ones_like(key))
    for row in head.weights[0]:
        assert_printed(row[None], case["right_answer"]["weights"])
    query = np.ones((1, 1, 1))
    assert_wrong_as_reported(
        case["checker_label"], case["wrong_result_fingerprint"], (query, key, key)
    )
    assert_named(case["checker_label"])


@answers("ATT-010")
def answer_the_precedence_of_powers(case):
    assert case["smallest_input"]["dk"] == 9
    query = np.eye(9)[None, :2]
    inputs = query, query * [[1], [2]], items(case["smallest_input"]["V"])
    head = scaled_dot_product_self_attention(*inputs)
    for name, printed in case["right_answer"].items():
        assert_printed(READ[name](head, None), printed)
    assert_wrong_as_reported(case["checker_label"], case["wrong_result_fingerprint"], inputs)
    assert_named(case["checker_label"])


@answers("ATT-012")
def answer_only_the_stages_tell(case):
    assert_right(case)
    wrong = dict(case["wrong_result_fingerprint"])
    assert wrong.pop("scaled_stage") == "correct"
    inputs = inputs_of(case)
    stages = run(reported.on_raw_scores, *inputs)
    assert_printed(stages["scaled_scores"], case["right_answer"]["scaled"])
    assert_wrong_as_reported(case["checker_label"], wrong, inputs)
    assert_named(case["checker_label"], also_by_output=False)
    verdict = check_forward(reported.on_raw_scores)
    assert verdict.stage == "weights"
    # By its output it is a missing scale, and that is what can then be said.
    assert check_forward(reported.output_alone(reported.on_raw_scores)).mistake == "scale-missing"


@answers("ATT-016")
def answer_a_mask_where_none_is_asked_for(case):
    inputs = inputs_of(case)
    keep = items(case["smallest_input"]["keep_mask"])
    assert keep.tolist() == np.tril(np.ones((1, 2, 2))).tolist()
    wrong = dict(case["wrong_result_fingerprint"])
    assert_printed(
        run(reported.HEADS[case["checker_label"]], *inputs)["weights"].sum(2)[0],
        wrong.pop("row_sums"),
    )
    assert_wrong_as_reported(case["checker_label"], wrong, inputs)
    assert_named(case["checker_label"])
    # With a mask, its right place is before the softmax; this head has none, and says so.
    masked = reported.head(normalize=reported.masked_early)
    assert_printed(masked(*inputs)["weights"], case["right_answer"]["weights"])
    assert check_forward(masked).mistake == "causal-mask-applied"
    assert check_forward(reported.output_alone(masked)).mistake == "causal-mask-applied"


@answers("ATT-018")
def answer_the_fourth_root_is_no_fault(case):
    for name in (
        "the fourth root on both sides",
        "the fourth root on both sides, its raw scores handed in",
    ):
        verdict = check_forward(RIGHT_HEADS[name])
        assert verdict.passed
        assert (verdict.mistake, verdict.stage) == (None, None)
    inputs = inputs_of(case)
    difference = (
        RIGHT_HEADS["the fourth root on both sides"](*inputs)
        - scaled_dot_product_self_attention(*inputs).output
    )
    largest = case["right_answer"]["max_abs_diff_from_reference"]
    assert np.abs(difference).max() == pytest.approx(largest, abs=1e-15)


@answers("ATT-019")
def answer_each_query_shares_out_one(case):
    assert_right(case)
    label = "SOFTMAX_AXIS_QUERY"
    assert_wrong_as_reported(label, case["wrong_result_fingerprint"], inputs_of(case))
    words = str(check_forward(reported.HEADS[label])).lower()
    # "Rows" and "columns" have been read both ways; queries and keys have not.
    assert "quer" in words
    assert "key" in words
    assert not re.search(r"\b(rows?|columns?)\b", words)


@answers("ATT-035")
def answer_half_precision_overflows(case):
    given, right = case["smallest_input"], case["right_answer"]
    inputs = [items(given[name]).astype(np.float16) for name in "QKV"]
    head = scaled_dot_product_self_attention(*inputs)
    assert head.raw_scores.tolist() == [[[right["float64_raw"]]]]
    assert head.scaled_scores.tolist() == [[[right["float64_scaled"]]]]
    assert head.weights[0].tolist() == right["weights"]
    wrong = case["wrong_result_fingerprint"]
    query, key, _ = inputs
    assert run(reported.in_half_precision, *inputs)["raw_scores"] == float(wrong["float16_raw"])
    assert ((query / np.float16(2)) @ key.mT).item() == wrong["float16_scale_Q_first"]
    assert any(
        run(head, *inputs)["output"].dtype == np.float16
        for head in runnable(CATALOGUE["half-precision"])
    )
    assert_named(case["checker_label"])


@answers("ATT-048")
def answer_all_axes_reversed(case):
    query, key = (np.ones(case["smallest_input"][f"{name}_shape"]) for name in "QK")
    assert list(key.mT.shape) == case["right_answer"]["K_transposed_shape"]
    assert list(key.T.shape) == case["wrong_result_fingerprint"]["reversed_shape"]
    for head in (reported.HEADS[case["checker_label"]], CATALOGUE["all-axes-reversed"].head):
        with pytest.raises(ValueError, match="matmul"):
            head(query, key, key)
    assert_named(case["checker_label"])


@answers("ATT-051")
def answer_a_square_matrix_hides_the_transpose(case):
    vector, matrix = items(case["smallest_input"]["x"]), items(case["smallest_input"]["Wt"])
    query = np.repeat(vector, 2, axis=1)
    head = scaled_dot_product_self_attention(query, matrix, matrix)
    assert_printed(head.raw_scores[0, :1], case["right_answer"]["y"])
    wrong = {"raw": np.repeat(case["wrong_result_fingerprint"]["y"], 2, axis=0)}
    assert_wrong_as_reported(case["checker_label"], wrong, (query, matrix, matrix))
    assert_named(case["checker_label"])


@answers("ATT-054")
def answer_values_of_another_width(case):
    assert_right(case)
    assert check_forward(RIGHT_HEADS["a dict of every stage"]).passed


@answers("ATT-063")
def answer_softmax_twice(case):
    weights = items(case["smallest_input"]["weights"])
    # A head of width 1 whose scores are the logarithms of the weights, one query after another.
    for row, right, wrong in zip(
        weights[0],
        case["right_answer"]["weights"],
        case["wrong_result_fingerprint"]["softmax_of_weights"],
        strict=True,
    ):
        key = np.log(row)[None, :, None]
        inputs = np.ones_like(key), key, key
        assert_printed(scaled_dot_product_self_attention(*inputs).weights[0, 0], right)
        assert_wrong_as_reported(case["checker_label"], {"weights": [wrong, wrong]}, inputs)
    assert_named(case["checker_label"])


@answers("ATT-072")
def answer_a_library_that_does_not_scale(case):
    tokens = items(case["smallest_input"]["x"])
    inputs = (tokens,) * 3
    head = scaled_dot_product_self_attention(*inputs)
    assert_printed(head.output, case["right_answer"]["scaled_output"], digits=5)
    wrong = {"output": case["wrong_result_fingerprint"]["unscaled_output"]}
    assert_wrong_as_reported(case["checker_label"], wrong, inputs, digits=5)
    assert_named(case["checker_label"])


@answers("ATT-075")
def answer_symmetric_scores_are_not_symmetric_weights(case):
    tokens = items(case["smallest_input"]["x"])
    # The book's scores are not scaled; a query longer by the root of 2 gives the same.
    inputs = tokens * np.sqrt(2), tokens, tokens
    head = scaled_dot_product_self_attention(*inputs)
    assert_printed(head.scaled_scores, head.scaled_scores[0].T, digits=12)
    assert_printed(head.weights, case["right_answer"]["weights"])
    wrong = {"weights": case["wrong_result_fingerprint"]["axis0"]}
    assert_wrong_as_reported(case["checker_label"], wrong, inputs)
    assert_named(case["checker_label"])


@answers("ATT-071")
def answer_dropout_has_no_place_here(case):
    given, wrong = case["smallest_input"], case["wrong_result_fingerprint"]
    key = np.log([given["weights_row"]]).swapaxes(0, 1)[None]
    value = items(given["V"])
    head = scaled_dot_product_self_attention(np.ones_like(key), key, value)
    assert_printed(head.output[0, 0], case["right_answer"]["no_dropout"])
    keep = np.array([0.0, 1.0])
    assert_printed((head.weights * keep / 0.5 @ value)[0, 0], wrong["dropout_on_weights"])
    assert_printed((head.output * keep[::-1] / 0.5)[0, 0], wrong["dropout_on_output"])
    for dropped in (reported.dropout_on_weights, reported.dropout_on_output):
        assert check_forward(dropped).mistake == "dropout-active"
        assert check_forward(reported.output_alone(dropped)).mistake == "dropout-active"


@answers("ATT-069")
def answer_printed_weights_are_recomputed(case):
    given = case["smallest_input"]
    states = items(given["H"])
    query = np.tile(given["query"], (1, 3, 1)) * np.sqrt(3)
    head = scaled_dot_product_self_attention(query, states, states)
    assert_printed(head.scaled_scores[0, 0], case["right_answer"]["scores"], digits=2)
    assert_printed(head.weights[0, 0], case["right_answer"]["weights"], digits=3)
    assert not agrees(head.weights[0, 0], case["wrong_result_fingerprint"]["printed"], digits=3)


@answers("ATT-078")
def answer_nothing_is_rounded_on_the_way(case):
    wrong = case["wrong_result_fingerprint"]
    query, key, value = inputs_of(case)
    head = scaled_dot_product_self_attention(query, key, value)
    assert_printed(head.weights[0, 0], case["right_answer"]["weights_row0"], digits=4)
    assert_printed(head.output, case["right_answer"]["output"], digits=4)
    assert not agrees(head.output[0, 0], wrong["printed_row0_output"], digits=4)
    printed = np.array(wrong["printed_row0_weights"])
    assert_printed(printed @ value[0], wrong["printed_row0_output"], digits=4)
    assert printed.sum() == pytest.approx(wrong["printed_row0_weight_sum"], abs=1e-12)
    for hand_in in (reported.rounded_between, reported.output_alone(reported.rounded_between)):
        assert check_forward(hand_in).mistake == "rounded-intermediates"


@answers("ATT-043")
def answer_equal_keys_are_not_a_zero_scale(case):
    assert_right(case)
    head = scaled_dot_product_self_attention(*inputs_of(case))
    assert np.ptp(head.raw_scores) > 0
    # Even weights over keys that differ are another thing, and have a name.
    assert_named("SCALE_ZERO")
    assert_named("SOFTMAX_TWICE")


@answers("ATT-039")
def answer_one_token(case):
    assert_right(case)


@answers("ATT-040")
def answer_an_empty_batch(case):
    query, key, value = (np.ones(case["smallest_input"][f"{name}_shape"]) for name in "QKV")
    head = scaled_dot_product_self_attention(query, key, value)
    for name, shape in case["right_answer"].items():
        assert READ[name](head, None).tolist() == shape


# Backward


@answers("ATT-021", "ATT-022", "ATT-026")
def answer_one_wrong_way_through_softmax(case):
    assert_right(case)
    inputs = *inputs_of(case), items(case["smallest_input"]["dO"])
    ((mistake, backward),) = reported.WAYS_BACK[case["checker_label"]].items()
    wrong = case["wrong_result_fingerprint"]
    for send_back in (backward, *runnable(CATALOGUE[mistake])[:1]):
        grad_query, grad_key, grad_value = send_back(*inputs)
        assert_printed(grad_query, wrong["dQ"])
        assert_printed(grad_key, wrong["dK"])
        assert_printed(grad_value, case["right_answer"]["dV"])
        # dS is read off dQ: here K has an inverse.
        grad_scores = grad_query @ np.linalg.inv(inputs[1]) * np.sqrt(2)
        assert_printed(grad_scores, wrong["dS"])
        if "row_sums_of_dS" in wrong:
            assert_printed(grad_scores.sum(axis=2)[0], wrong["row_sums_of_dS"])
    assert check_backward(backward).mistake == mistake
    assert not gradient_check(*inputs, backward=backward).passed


@answers("ATT-024")
def answer_each_wrong_product_by_its_own_name(case):
    assert_right(case)
    inputs = *inputs_of(case), items(case["smallest_input"]["dO"])
    wrong, ways = case["wrong_result_fingerprint"], reported.WAYS_BACK[case["checker_label"]]
    for mistake, backward in ways.items():
        assert check_backward(backward).mistake == mistake
        for send_back in (backward, CATALOGUE[mistake].head):
            grad_query, grad_key, grad_value = send_back(*inputs)
            if mistake == "value-gradient-not-transposed":
                assert_printed(grad_value, wrong["dV_without_transpose"])
            elif mistake == "key-gradient-not-transposed":
                assert_printed(grad_key, wrong["dK_without_transpose"])
            else:
                assert_printed(grad_query, wrong["dQ_and_dK_swapped"]["dQ"])
                assert_printed(grad_key, wrong["dQ_and_dK_swapped"]["dK"])


@answers("ATT-028")
def answer_no_sum_over_the_batch(case):
    assert_right(case)
    inputs = *inputs_of(case), items(case["smallest_input"]["dO"])
    wrong = case["wrong_result_fingerprint"]
    assert_printed(reported.summed_over_batch(*inputs)[1], wrong["dK_summed_over_batch"])
    assert_printed(reported.last_item_only(*inputs)[2], wrong["dV_of_last_batch_only"])
    for mistake, backward in reported.WAYS_BACK[case["checker_label"]].items():
        assert check_backward(backward).mistake == mistake


@answers("ATT-038")
def answer_the_step_of_a_gradient_check(case):
    query, key, value = inputs_of(case)
    right = case["right_answer"]
    grads = scaled_dot_product_self_attention(query, key, value).backward(GRAD_OUTPUT)
    assert case["smallest_input"]["probe"] == "dQ[0,1]"
    probe = grads.query[0, 0, 1]
    assert_printed(probe, right["analytic"], digits=9)

    def error_at(step, dtype):
        arrays = [x.astype(dtype) for x in (query, key, value, GRAD_OUTPUT)]
        slope = gradient_check(*arrays, step=step).query.numeric[0, 0, 1]
        return abs(slope - probe) / probe

    for name, printed in right["relative_error_by_step"].items():
        step = float(name.removeprefix("float64 h="))
        # The check leaves single precision behind, so that the inputs' own type costs nothing.
        for dtype in (np.float64, np.float32):
            # Below 1e-4 the error is rounding, which differs by machine.
            expected = (
                pytest.approx(printed, rel=0.02) if step >= 1e-3 else pytest.approx(0, abs=1e-8)
            )
            assert error_at(step, dtype) == expected

    for name, printed in case["wrong_result_fingerprint"]["relative_error_by_step"].items():
        step = np.float32(float(name.removeprefix("float32 h=")))
        sides = []
        for change in (step, -step):
            moved = query.astype(np.float32)
            moved[0, 0, 1] += change
            head = scaled_dot_product_self_attention(
                moved, *(x.astype(np.float32) for x in (key, value))
            )
            sides.append(np.sum(head.output * GRAD_OUTPUT.astype(np.float32)))
        slope = (sides[0] - sides[1]) / (2 * step)
        # In single precision the error grows as the step shrinks; its digits are the machine's.
        assert abs(slope - probe) / probe > min(printed, 1) / 100
        assert abs(slope - probe) / probe > error_at(float(step), np.float64)


# Refusals


@answers("ATT-032")
def answer_scores_that_overflow_are_refused(case):
    refusal = refusal_of(*inputs_of(case))
    assert refusal.kind == "non-finite-stage"
    assert refusal.evidence == {"stage": "raw query-key scores", "index": (0, 0, 0)}


@answers("ATT-033")
def answer_values_that_are_no_numbers_are_refused(case):
    refusal = refusal_of(*inputs_of(case))
    assert refusal.kind == "non-finite-input"
    assert refusal.evidence == {"operand": "value", "index": (0, 0, 0)}
    assert "nan" in str(refusal)


@answers("ATT-034")
def answer_a_query_with_no_key_is_refused(case):
    key = items([[float(score)] for score in case["smallest_input"]["scores_row"]])
    ones, wrong = np.ones_like(key), case["wrong_result_fingerprint"]
    assert refusal_of(ones, key, ones).kind == "non-finite-input"
    # Nor can finite inputs bring such a row about.
    huge = np.full_like(key, 1e200)
    assert refusal_of(huge, -huge, ones).kind == "non-finite-stage"
    naive = run(lambda scores: reported.softmax(scores), key[..., 0])
    assert_printed(naive, wrong["naive"])
    assert_printed(reported.softmax(np.full((1, 2), -1e9)), wrong["large_negative_fill"])


@answers("ATT-042")
def answer_a_key_of_no_width_is_refused(case):
    value = items(case["smallest_input"]["V"])
    nothing = np.zeros((1, case["smallest_input"]["T"], case["smallest_input"]["dk"]))
    refusal = refusal_of(nothing, nothing, value)
    assert refusal.kind == "empty-feature-width"
    assert refusal.evidence == {"operand": "query"}


@answers("ATT-045")
def answer_what_is_too_large_is_refused_before_it_is_made(case):
    given, wrong = case["smallest_input"], case["wrong_result_fingerprint"]
    assert given["dtype"] == "float32"
    # One number stands for all of them: nothing of this size is allocated here either.
    heads = np.broadcast_to(np.float32(0), (given["heads"], given["T"], 1))
    refusal = refusal_of(heads, heads, heads)
    assert refusal.kind == "too-large"
    assert refusal.evidence["bytes"] >= 3 * wrong["bytes_float32_16_heads"]
    one = np.broadcast_to(np.float64(0), (1, given["T"], 1))
    refusal = refusal_of(one, one, one)
    assert refusal.kind == "too-large"
    assert refusal.evidence["bytes"] >= 3 * wrong["bytes_float64_one_head"]


@answers("ATT-053")
def answer_values_of_another_count_are_refused(case):
    shapes = [case["smallest_input"][f"{name}_shape"] for name in "QKV"]
    refusal = refusal_of(*map(np.ones, shapes))
    assert refusal.kind == "token-mismatch"
    assert refusal.evidence == {"query": 2, "key": 2, "value": 3}
    assert case["right_answer"].endswith("K has 2 positions, V has 3")


# Pictures and words


def words_at(picture):
    """The words in a picture and where they stand; the title comes first."""
    texts = [text for text in picture.figure.findobj(Text) if text.get_text()]
    return {text.get_text(): text.get_position() for text in texts}


def fills(picture):
    """The collections that hold numbers; the others are borders."""
    grids = picture.figure.axes[0].collections
    return [grid for grid in grids if grid.get_array() is not None]


def head_of_these_weights(weights):
    """One item; each query is of width T and has ones for the keys' own directions."""
    scores = np.log(items(weights))
    tokens = scores.shape[-1]
    key = np.eye(tokens)[None]
    return scaled_dot_product_self_attention(scores * np.sqrt(tokens), key, key)


@answers("ATT-057")
def answer_a_query_is_a_row(case):
    head = head_of_these_weights(case["smallest_input"]["weights"])
    picture = figures.stages_figure(head, ("weights",))
    assert "query 0 -> key 1: 0.892958" in case["right_answer"]
    words = words_at(picture)
    across, down = words["k₁"][0], words["q₀"][1]
    assert words["0.893"] == (across, down)
    assert f"q₀ [0.107042, {0.892958}]" in picture.description
    explorer = HeadExplorer(head.query, head.key, head.value)
    explorer.choose("weights", 0, 1)
    assert explorer.reading.startswith("Weight[q₀, k₁] =")
    assert explorer.reading.splitlines()[0].endswith("= 0.892958")
    assert str(case["wrong_result_fingerprint"]["if_swapped"]) not in explorer.reading


@answers("ATT-059")
def answer_as_many_labels_as_tokens(case):
    tokens = case["smallest_input"]["T"]
    key = np.eye(tokens)[None]
    words = words_at(
        figures.stages_figure(scaled_dot_product_self_attention(key, key, key), ("weights",))
    )
    for letter in "qk":
        labels = [name for name in words if name.startswith(letter)]
        assert labels == [f"{letter}{digit}" for digit in "₀₁₂₃₄"]
    # Each label stands at the middle of its own row or column.
    steps = np.diff([words[f"k{digit}"][0] for digit in "₀₁₂₃₄"])
    assert np.ptp(steps) <= 1


@answers("ATT-061")
def answer_colour_ranges_are_fixed(case):
    head = head_of_these_weights(case["smallest_input"]["weights"])
    raw, scaled, weights, _ = fills(figures.forward_figure(head))
    assert weights.get_clim() == (0, 1)
    low, high = raw.get_clim()
    assert low == -high < 0
    assert scaled.get_clim() == (low, high)
    assert case["wrong_result_fingerprint"]["range"] != list(weights.get_clim())


@answers("ATT-065")
def answer_a_title_belongs_to_its_stage(case):
    head = scaled_dot_product_self_attention(*inputs_of(CASES["ATT-001"]))
    titles = set()
    for stage in FORWARD:
        picture = figures.stages_figure(head, (stage,))
        (grid,) = fills(picture)
        assert grid.get_array().tolist() == getattr(head, stage)[0].ravel().tolist()
        title = next(iter(words_at(picture)))
        assert picture.description.startswith(f"{title}: ")
        titles.add(title)
    assert len(titles) == len(FORWARD)


@answers("ATT-066")
def answer_one_picture_however_often_a_slider_moves(case):
    assert case["smallest_input"]["action"] == "move slider 3 times"
    explorer = HeadExplorer()
    children, image = explorer.children, explorer.pictures["head"]
    for number in (1.0, 2.0, -1.0):
        explorer.controls["Q"][0][0].value = number
    assert explorer.children == children
    assert explorer.pictures == {"head": image}
    fresh = HeadExplorer(explorer.head.query, explorer.head.key, explorer.head.value)
    assert explorer.head.query[0, 0, 0] == -1
    assert image.value == fresh.pictures["head"].value


@answers("ATT-067")
def answer_signs_are_told_without_red_and_green(case):
    values = np.array(case["smallest_input"]["values"])
    red, green, blue = style.fill(values, "score", 1.0).astype(int).T
    # Purple against orange: blue tells them apart, which the common colour blindnesses leave.
    assert blue[0] > red[0]
    assert blue[2] < red[2] / 2
    assert min(red[1], green[1], blue[1]) > 240
    ordered = style.fill(np.linspace(0, 1, 50), "probability", 1.0) @ [0.2126, 0.7152, 0.0722]
    assert np.all(np.diff(ordered) > 0)
    key = np.ones((1, 3, 1))
    head = scaled_dot_product_self_attention(values.reshape(1, 3, 1), key, key)
    assert {"−1.000", "0.000", "1.000"} <= set(words_at(figures.stages_figure(head, ("Q",))))


@answers("ATT-076")
def answer_the_stages_have_one_name_each(case):
    assert case["smallest_input"]["stages"] == ["raw", "scaled", "weights", "output"]
    names = ["raw_scores", "scaled_scores", "weights", "output"]
    head = scaled_dot_product_self_attention(*inputs_of(CASES["ATT-001"]))
    given = ("query", "key", "value", "scale")
    assert [name for name in vars(head) if name not in given and name[0] != "_"] == names
    assert head.probabilities is head.weights
    assert head.dot_products is head.raw_scores
    # Another word for a stage is not guessed at: the answer lists the names.
    other_words = check_forward(lambda query, key, value: {"scores": query @ key.mT})
    assert not other_words.passed
    assert other_words.mistake is None
    for name in names:
        assert name in str(other_words)


# What would go unseen


@pytest.mark.parametrize("label", MISTAKES)
def test_every_reported_head_departs_from_the_core(label):
    """Or raises; some need scores far apart to show what they do."""
    for factor in (1, 1e3):
        query, key, value = (factor * x for x in authority.RECTANGULAR[:3])
        right = scaled_dot_product_self_attention(query, key, value).output
        try:
            output = run(reported.HEADS[label], query, key, value)["output"]
        except ValueError:
            return
        if output.shape != right.shape or not np.allclose(output, right, rtol=1e-5):
            return
    pytest.fail("the head is right")


def test_a_wrong_number_in_the_file_would_be_seen():
    case = json.loads(json.dumps(CASES["ATT-001"]))
    case["right_answer"]["weights"][0][0] += 1e-6
    with pytest.raises(AssertionError):
        assert_right(case)
