"""A mistake that the catalogue does not know is reported honestly, and so are two at once."""

import numpy as np
import pytest

from attnlib.lessons.checker import check_forward
from attnlib.lessons.checking.fixtures import MAIN, right
from attnlib.lessons.mistakes import CATALOGUE
from tests.lessons.right_heads import root, softmax


def scores(query, key):
    return query @ key.mT / root(query)


def changed(change, stage="output"):
    """The right head with one stage changed; the later ones are made from it."""

    def head(query, key, value):
        made = {"raw_scores": query @ key.mT}
        for name, step in (
            ("scaled_scores", lambda: made["raw_scores"] / root(query)),
            ("weights", lambda: softmax(made["scaled_scores"])),
            ("output", lambda: made["weights"] @ value),
        ):
            if stage == "raw_scores" and name == "scaled_scores":
                made["raw_scores"] = change(made["raw_scores"])
            made[name] = change(step()) if name == stage else step()
        return made

    return head


def powers(query, key):
    s = scores(query, key)
    return np.exp(s - s.max(axis=-1, keepdims=True))


UNKNOWN = {
    "a constant ratio": (changed(lambda x: 3 * x), "output", "the right one times 3"),
    "a constant difference": (changed(lambda x: x + 0.1), "output", "the right one plus 0.1"),
    "queries in another order": (changed(lambda x: x[:, ::-1]), "output", "the queries are in"),
    "keys in another order": (
        changed(lambda x: x[:, :, ::-1], "weights"),
        "weights",
        "the keys are in the order (2, 1, 0)",
    ),
    "features in another order": (
        changed(lambda x: x[:, :, ::-1]),
        "output",
        "the features are in the order (3, 2, 1, 0)",
    ),
    "raw scores times a number": (changed(lambda x: 1.5 * x, "raw_scores"), "raw_scores", "1.5"),
    "no rule at all": (changed(lambda x: np.sin(9 * x)), "output", "departs in"),
}


@pytest.mark.parametrize("made", UNKNOWN)
def test_it_has_no_name_but_a_place_and_what_is_regular_about_it(made):
    head, stage, words = UNKNOWN[made]
    verdict = check_forward(head)
    assert not verdict.passed
    assert verdict.mistake is None
    assert verdict.stage == stage
    assert words in verdict.message


@pytest.mark.parametrize("made", UNKNOWN)
def test_the_numbers_are_those_of_the_hand_in_and_of_the_head(made):
    head, stage, _ = UNKNOWN[made]
    example = check_forward(head).counterexample
    inputs = [example.inputs[name] for name in ("query", "key", "value")]
    assert example.stage == stage
    np.testing.assert_allclose(example.got, head(*inputs)[stage], rtol=0, atol=1e-12)
    right_one = changed(lambda x: x)(*inputs)[stage]
    np.testing.assert_allclose(example.expected, right_one, rtol=0, atol=1e-12)
    assert np.abs(example.got - example.expected).max() > 1e-6


def test_a_departure_in_the_fifth_digit_is_no_other_scale():
    def head(query, key, value):
        shares = powers(query, key)
        return shares / (shares.sum(axis=-1, keepdims=True) + 1e-5) @ value

    verdict = check_forward(head)
    assert (verdict.passed, verdict.mistake) == (False, None)
    expected = right(MAIN).output
    entries = np.abs(head(*MAIN.inputs) - expected) > 1e-6 * np.abs(expected).max()
    assert f"departs in {entries.sum()} of 24 entries" in verdict.message


def test_raw_scores_need_no_values():
    """A step that is wrong for another reason is not accused of ignoring what it does not need."""
    verdict = check_forward(lambda query, key, value: (query @ key.mT) ** 2, stages="raw_scores")
    assert (verdict.passed, verdict.mistake, verdict.stage) == (False, None, "raw_scores")


@pytest.mark.parametrize("stage", ["raw_scores", "weights"])
def test_a_last_stage_in_another_form_is_not_that_stage(stage):
    """On the way to a right output it would be harmless; here the next step is made from it."""
    forms = {
        "raw_scores": lambda query, key, value: scores(query, key),
        "weights": lambda query, key, value: np.log(softmax(scores(query, key))),
    }
    with np.errstate(divide="ignore"):
        verdict = check_forward(forms[stage], stages=stage)
    assert not verdict.passed
    assert verdict.stage == stage
    assert "no mistake" not in str(verdict)


TWO = {
    ("scale-missing", "softmax-over-queries"): (
        lambda query, key, value: softmax(key @ query.mT).mT @ value
    ),
    ("scale-by-width", "mask-after-softmax"): (
        lambda query, key, value: np.tril(softmax(query @ key.mT / query.shape[-1])) @ value
    ),
    ("query-key-exchanged", "softmax-twice"): (
        lambda query, key, value: softmax(softmax(scores(key, query))) @ value
    ),
}


@pytest.mark.parametrize(("first", "second"), TWO)
def test_of_two_at_once_the_first_that_matters_is_named_and_more_is_announced(first, second):
    verdict = check_forward(TWO[first, second])
    assert not verdict.passed
    assert verdict.mistake == first
    assert verdict.stage == CATALOGUE[first].stage
    assert verdict.more
    assert "More may follow" in str(verdict)
    assert any(second in remark for remark in verdict.remarks)


@pytest.mark.parametrize("error", [IndexError, ValueError])
def test_a_size_that_was_written_down_is_no_overflow(error):
    """It stops on every input of another size, the extreme ones among them."""

    def head(query, key, value):
        if query.shape[1] != 3:
            raise error("3 tokens were expected")
        return changed(lambda x: x)(query, key, value)["output"]

    verdict = check_forward(head)
    assert verdict.mistake == "raises"
    assert "it is right: is a size taken" in verdict.message


def test_an_error_of_another_kind_is_another_mistake():
    """Right where all sizes are equal, as where d_v is taken for d_k; but it stops elsewhere."""

    def head(query, key, value):
        for token in range(query.shape[2]):
            query[:, token]
        return changed(lambda x: x)(query, key, value)["output"]

    assert check_forward(head).mistake == "raises"
