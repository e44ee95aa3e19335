"""The evidence holds the chapter's printed figures, and a wrong claim in it is named."""

import dataclasses
import json

import numpy as np
import pytest

from attnlib.lessons import evidence as module
from attnlib.lessons import examples, refusals
from attnlib.lessons.claims import CLAIMS
from attnlib.lessons.evidence import learner_evidence, objective, weighted_values
from tests.authority import WORKED, slow_head

PRINTED = {
    "query": [[0, 3], [2, -1]],
    "key": [[3, 0], [-1, 2]],
    "value": [[3, -3], [1, 3]],
    "raw_scores": [[0, 6], [6, -4]],
    "scaled_scores": [[0, 4.242641], [4.242641, -2.828427]],
    "weights": [[0.014166, 0.985834], [0.999151, 0.000849]],
    "output": [[1.028332, 2.915004], [2.998303, -2.994908]],
    "scale": 0.707107,
    "key_width": 2,
    "value_width": 2,
    "weighted_values": [
        [[0.042498, -0.042498], [0.985834, 2.957502]],
        [[2.997454, -2.997454], [0.000849, 0.002546]],
    ],
    "grad_output": [[1, 0], [0, 1]],
    "objective": -1.966576,
    "grad_query": [[0.079000, -0.039500], [-0.014389, 0.007195]],
    "grad_key": [[-0.007195, 0.062847], [0.007195, -0.062847]],
    "grad_value": [[0.014166, 0.999151], [0.985834, 0.000849]],
}
WRONG = {
    "each query's weights sum to 1": ("checks", "row_sum_max_error", 2e-12),
    "the gradients agree with central differences": ("checks", "gradient_check", False),
    "a second run gives the same bits": ("checks", "replay", "differs"),
    "a single token gets the weight 1": ("single_token", "weights", np.array([[1 - 1e-16 * 2]])),
    "equal keys get equal weights": ("equal_keys", "weights", np.array([[0.5, 0.5 + 1e-15]])),
    "outputs stay within the range of the values": (
        "worked_example",
        "output",
        np.array([[1.0, 2.0], [3.0 + 1e-12, -2.0]]),
    ),
    "the scale softens the favoured weight as it must": ("scale_probe", "scaled", 0.669763),
    "a single token's output is its value": ("single_token", "output", np.array([[5.0, -2.1]])),
    "a single token sends no gradient to its query and key": (
        "single_token",
        "grad_key",
        np.array([[0.0, 1e-300]]),
    ),
    "reordered tokens reorder the output": ("permutation", "output_follows", False),
    "reordered tokens reorder the gradients": ("permutation", "gradients_follow", False),
    "batch items do not touch each other": ("batch_independence", "verified", False),
}


@pytest.fixture(scope="module")
def evidence():
    return learner_evidence()


def planted(evidence, *changes):
    for claim, name, wrong in changes:
        changed = {**getattr(evidence, claim), name: wrong}
        evidence = dataclasses.replace(evidence, **{claim: changed})
    return evidence


def check_figures(worked):
    """Hold the worked example to the chapter, all six decimals of it."""
    assert list(worked) == list(PRINTED)
    for name, expected in PRINTED.items():
        assert np.round(worked[name], 6).tolist() == expected, name


def test_the_worked_example_holds_the_printed_figures(evidence):
    check_figures(evidence.worked_example)


@pytest.mark.parametrize("name", PRINTED)
def test_a_figure_that_is_off_in_the_sixth_decimal_is_noticed(evidence, name):
    worked = evidence.worked_example
    with pytest.raises(AssertionError, match=name):
        check_figures({**worked, name: np.asarray(worked[name]) + 1e-6})


def test_the_worked_example_agrees_with_arithmetic_done_one_number_at_a_time(evidence):
    slow = vars(slow_head(*WORKED))
    for name in set(slow) & set(evidence.worked_example):
        np.testing.assert_allclose(evidence.worked_example[name], slow[name][0], 1e-13, 1e-15)


def test_the_scale_softens_the_favoured_weight(evidence):
    probe = evidence.scale_probe
    assert np.round([probe["unscaled"], probe["scaled"]], 6).tolist() == [0.731059, 0.669762]
    assert probe["scores"].tolist() == [1, 0]


def test_a_single_token_reads_itself_and_sends_nothing_to_its_query_and_key(evidence):
    one = evidence.single_token
    assert one["weights"].tolist() == [[1]]
    assert one["output"].tolist() == one["value"].tolist() == [[5, -2]]
    assert one["grad_query"].tolist() == one["grad_key"].tolist() == [[0, 0]]


def test_equal_keys_mix_the_values_evenly(evidence):
    assert evidence.equal_keys["weights"].tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert evidence.equal_keys["output"].tolist() == [[2, 0], [2, 0]]


def test_swapped_tokens_swap_the_output(evidence):
    moved = evidence.permutation
    assert moved["order"].tolist() == [1, 0]
    assert np.round(moved["output"], 6).tolist() == PRINTED["output"][::-1]


def test_the_shapes_are_those_to_predict(evidence):
    cases = [tuple(case.values()) for case in evidence.shapes]
    assert ((4, 7, 3), (4, 7, 3), (4, 7, 5), (4, 7, 7), (4, 7, 5)) in cases
    assert ((0, 2, 2), (0, 2, 2), (0, 2, 3), (0, 2, 2), (0, 2, 3)) in cases
    assert ((1, 2, 2), (1, 2, 2), (1, 2, 1), (1, 2, 2), (1, 2, 1)) in cases
    assert evidence.batch_independence["output"] == (2, 2, 2)


def test_the_history_ends_with_all_pairs_of_positions(evidence):
    history = evidence.history
    assert [history[name] for name in ("earlier", "bridge", "transformer", "comparison")] == [
        "recurrent-fixed-context",
        "additive-encoder-decoder-alignment",
        "scaled-dot-product-self-attention",
        "all-sequence-positions",
    ]
    assert [len(pairs) for pairs in history["pairs"].values()] == [0, 4, 4]


def test_the_gradient_check_is_the_printed_one(evidence):
    checks = evidence.checks
    assert tuple(checks["coordinates"]) == (4, 4, 4)
    assert (checks["step"], checks["tolerance"]) == (1e-6, 2e-6)
    assert checks["row_sum_max_error"] <= 1e-12


def test_everything_holds(evidence):
    assert evidence.failures == ()


@pytest.mark.parametrize("sentence", WRONG)
def test_a_wrong_claim_is_named_and_no_other(evidence, sentence):
    assert planted(evidence, WRONG[sentence]).failures == (sentence,)


def test_an_accepted_bad_input_is_named(evidence, monkeypatch):
    monkeypatch.setattr(refusals, "provoke", lambda kind: None)
    rejected = learner_evidence().rejected
    assert rejected[0] == {"kind": "accepted", "evidence": "expected=input-dtype"}
    wrong = dataclasses.replace(evidence, rejected=rejected)
    assert wrong.failures == ("every bad input gets the refusal meant for it",)


def test_a_shape_that_is_off_is_named(evidence):
    wrong = dataclasses.replace(evidence, shapes=[{**evidence.shapes[3], "output": (4, 7, 3)}])
    assert wrong.failures == ("every output has one row for each query, as wide as a value",)


@pytest.mark.parametrize("wrong_pairs", [[], [["a", "b"]], [["a", "a"], ["a", "a"]]])
def test_a_pair_that_is_missing_or_formed_twice_is_named(evidence, wrong_pairs):
    pairs = {**evidence.history["pairs"], evidence.history["transformer"]: wrong_pairs}
    wrong = planted(evidence, ("history", "pairs", pairs))
    assert wrong.failures == ("self-attention pairs every position with every position",)


def test_there_is_no_claim_that_cannot_fail(evidence):
    wrong = planted(
        evidence, *WRONG.values(), ("history", "pairs", {evidence.history["transformer"]: []})
    )
    shapes = [{**evidence.shapes[0], "weights": ()}]
    wrong = dataclasses.replace(wrong, rejected=[], shapes=shapes)
    assert set(wrong.failures) == set(CLAIMS)


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_a_row_sum_that_is_no_number_does_not_pass(evidence, broken):
    assert planted(evidence, ("checks", "row_sum_max_error", broken)).failures


def test_a_wrong_head_makes_the_claims_about_it_fail(monkeypatch):
    def leaking(query, key, value):
        head = right(query, key, value)
        leak = 1e-9 * head.output.sum(axis=0, keepdims=True)
        return dataclasses.replace(head, output=head.output + leak)

    right = module.scaled_dot_product_self_attention
    monkeypatch.setattr(module, "scaled_dot_product_self_attention", leaking)
    failures = learner_evidence().failures
    assert "batch items do not touch each other" in failures
    assert "reordered tokens reorder the output" in failures


def test_the_plain_form_is_json_and_keeps_every_bit(evidence):
    plain = evidence.as_plain()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    for name, array in evidence.worked_example.items():
        assert np.array_equal(plain["worked_example"][name], array)


def test_two_runs_give_the_same_evidence(evidence):
    assert learner_evidence().as_plain() == evidence.as_plain()


@pytest.mark.parametrize("name", examples.NAMES)
def test_weighted_values_add_up_to_the_output(name):
    head = examples.load(name).head()
    terms = weighted_values(head)
    assert terms.shape == (*head.weights.shape, head.value_width)
    np.testing.assert_allclose(terms.sum(axis=2), head.output, rtol=1e-12, atol=1e-12)


def test_the_objective_is_the_sum_of_output_times_its_gradient():
    example = examples.load("worked-example")
    head = example.head()
    assert objective(head, example.grad_output) == head.output[0, 0, 0] + head.output[0, 1, 1]
