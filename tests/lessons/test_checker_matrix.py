"""Every mistake of the catalogue, and every way to make it, is named by its own id and no other."""

import numpy as np
import pytest

from attnlib.lessons.checker import check_forward
from attnlib.lessons.checking.fixtures import FIXTURES, right
from attnlib.lessons.mistakes import CATALOGUE, SAME
from attnlib.lessons.mistakes.kinds import STAGES, Mistake
from tests.lessons.wrong_heads import WRONG_HEADS

FORWARD = [mistake for mistake in CATALOGUE.values() if mistake.direction == "forward"]
BY_OUTPUT = {other: one for one, other in SAME}
"""id -> what it is called where the output is all that was handed in."""


def all_stages(head):
    return head


def output_alone(head):
    def hand_in(query, key, value):
        returned = head(query, key, value)
        return returned["output"] if isinstance(returned, dict) else returned

    return hand_in


def output_and_weights(head):
    def hand_in(query, key, value):
        returned = head(query, key, value)
        if isinstance(returned, dict) and "weights" in returned:
            return returned["output"], returned["weights"]
        return output_alone(lambda *_: returned)(query, key, value)

    return hand_in


def in_single_precision(head):
    def hand_in(query, key, value):
        return np.asarray(output_alone(head)(query, key, value), dtype=np.float32)

    return hand_in


WAYS = {
    "all stages": all_stages,
    "output and weights": output_and_weights,
    "output alone": output_alone,
    "output in single precision": in_single_precision,
}


def heads_of(mistakes):
    """Each runnable head of each mistake, with the id that it must be named by."""
    return {
        f"{mistake.id}: {name}" if name else mistake.id: (mistake.id, head)
        for mistake in mistakes
        for name, head in (("", mistake.head), *mistake.variants)
    }


HEADS = heads_of(FORWARD)


STAGED = {
    made: (mistake, head)
    for made, (mistake, head) in HEADS.items()
    if mistake not in ("raises", "input-modified", "returns-weights", "wrong-shape")
    and mistake != "dot-instead-of-matmul"
}
"""Heads whose stages are worth handing in one after another."""


def expected(mistake, way):
    return mistake if way == "all stages" else BY_OUTPUT.get(mistake, mistake)


def confusion(mistake, head, way):
    """What a hand-in is called instead of its own name; empty where all is well."""
    verdict = check_forward(WAYS[way](head))
    if verdict.passed:
        return "passed"
    return "" if verdict.mistake == expected(mistake, way) else f"named {verdict.mistake}"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("named", HEADS)
def test_each_head_is_named_by_its_own_id(named, way):
    assert confusion(*HEADS[named], way) == ""


def up_to(last):
    """Hand in the stages of a head up to one of them, as who writes it stage by stage does."""

    def way(head):
        def hand_in(query, key, value):
            returned = head(query, key, value)
            names = STAGES[: STAGES.index(last) + 1]
            return {name: returned[name] for name in names if name in returned}

        return hand_in

    return way


# As far as the weights it is a missing scale; only its output shows that the root came later.
EARLIER = {"scale-after-softmax: the output is divided": "scale-missing"}


@pytest.mark.parametrize("last", ["raw_scores", "scaled_scores", "weights"])
@pytest.mark.parametrize("made", STAGED)
def test_a_head_in_the_making_is_named_as_soon_as_it_departs(made, last):
    mistake, head = STAGED[made]
    hand_in = up_to(last)(head)
    verdict = check_forward(hand_in)
    if all(right_so_far(hand_in, fixture) for fixture in FIXTURES if fixture.query.size):
        assert verdict.passed
    else:
        assert verdict.mistake == EARLIER.get(made, mistake)


def right_so_far(hand_in, fixture):
    with np.errstate(all="ignore"):
        try:
            stages = hand_in(*(x.copy() for x in fixture.inputs))
        except ValueError:
            return False
    return all(near(made, getattr(right(fixture), name)) for name, made in stages.items())


def near(made, right):
    error = 1e-5 if right.dtype == np.float32 else 1e-9
    return made.shape == right.shape and np.allclose(made, right, rtol=error, atol=error)


@pytest.mark.parametrize("made", WRONG_HEADS)
def test_a_mistake_made_by_other_hands_is_named_too(made):
    mistake, head = WRONG_HEADS[made]
    verdict = check_forward(head)
    assert not verdict.passed
    assert verdict.mistake == mistake


@pytest.mark.parametrize("way", ["all stages", "output alone"])
@pytest.mark.parametrize("mistake", FORWARD, ids=lambda mistake: mistake.id)
def test_the_stage_is_the_one_the_catalogue_says(mistake, way):
    stage = CATALOGUE[expected(mistake.id, way)].stage
    assert check_forward(WAYS[way](mistake.head)).stage == stage


@pytest.mark.parametrize("made", STAGED)
def test_a_variant_that_departs_elsewhere_is_told_where(made):
    mistake, head = STAGED[made]
    stage = CATALOGUE[mistake].stage
    departing = stage if stage == "call" else first_departing(head) or stage
    assert check_forward(head).stage == departing


def first_departing(head):
    """The first stage after which none is right, on the first input that shows it."""
    for fixture in FIXTURES:
        try:
            with np.errstate(all="ignore"):
                stages = head(*(x.copy() for x in fixture.inputs))
        except ValueError:
            continue
        departing = None
        for name, made in reversed(stages.items()):
            if near(made, getattr(right(fixture), name)):
                break
            departing = name
        if departing:
            return departing
    return None


class TestTheMatrixItself:
    def test_the_catalogue_holds_what_it_must(self):
        assert set(CATALOGUE) >= REQUIRED

    def test_a_mistake_that_survives_would_be_seen(self):
        surviving = Mistake("planted", "", "", "", "", "output", all_stages_right)
        ((mistake, head),) = heads_of([surviving]).values()
        assert {confusion(mistake, head, way) for way in WAYS} == {"passed"}

    def test_a_mistake_under_another_name_would_be_seen(self):
        head = CATALOGUE["scale-missing"].head
        assert {confusion("scale-zero", head, way) for way in WAYS} == {"named scale-missing"}

    def test_each_mistake_is_made_by_other_hands_as_well(self):
        assert {mistake for mistake, _ in WRONG_HEADS.values()} == {m.id for m in FORWARD}

    def test_a_variant_is_one_of_the_heads(self):
        assert len(HEADS) == len(FORWARD) + sum(len(mistake.variants) for mistake in FORWARD)

    @pytest.mark.parametrize(("one", "other"), SAME)
    def test_what_is_said_to_be_the_same_function_is(self, one, other):
        assert SAME[one, other]
        for fixture in FIXTURES:
            outputs = [
                output_alone(CATALOGUE[id].head)(*(x.copy() for x in fixture.inputs))
                for id in (one, other)
            ]
            np.testing.assert_array_equal(*outputs)

    @pytest.mark.parametrize(("one", "other"), SAME)
    def test_where_two_give_the_same_output_both_are_said(self, one, other):
        verdict = check_forward(output_alone(CATALOGUE[other].head))
        assert verdict.mistake == one
        assert other in verdict.also
        assert other in str(verdict)


def all_stages_right(query, key, value):
    raw = np.einsum("bqd,bkd->bqk", query, key)
    scaled = raw / np.sqrt(query.shape[-1])
    powers = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return dict(zip(STAGES, (raw, scaled, weights, weights @ value), strict=True))


REQUIRED = set(
    """
    scale-missing scale-by-width scale-inverted scale-wrong-width scale-half-width scale-zero
    scale-after-softmax softmax-on-raw-scores softmax-over-queries softmax-over-batch
    softmax-over-everything softmax-lost-axis softmax-missing softmax-twice normalized-without-exp
    softmax-without-maximum softmax-global-maximum softmax-finite-sentinel sign-flipped
    key-not-transposed key-reshaped all-axes-reversed query-key-exchanged weights-transposed
    value-is-query value-is-key value-transposed batch-and-tokens-swapped batch-items-mixed
    heads-merged-by-reshape causal-mask-applied mask-after-softmax mask-multiplied-before-softmax
    dropout-active integer-buffer half-precision input-modified argument-ignored returns-weights
    wrong-shape raises row-sum-missing diagonal-only row-term-wrong gradient-scale-missing
    gradient-scaled-twice query-key-gradients-exchanged key-gradient-not-transposed
    value-gradient-not-transposed gradient-summed-over-batch gradient-averaged
    gradient-sign-flipped gradient-overwritten-not-added
    """.split()  # noqa: SIM905
)
