"""A step is checked by itself: what is wrong with it is named, whatever is right around it."""

import numpy as np
import pytest

from attnlib.lessons.checking.stages import RIGHT, STEPS, check_stage


def softmax(scores, axis=2):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def in_place(scores):
    scores -= scores.max(axis=2, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=2, keepdims=True)
    return scores


RIGHT_STEPS = [
    ("scores", lambda query, key: np.einsum("bif,bjf->bij", query, key)),
    (
        "scores",
        lambda query, key: (
            np.stack([q @ k.T for q, k in zip(query, key, strict=True)])
            if len(query)
            else np.empty((0, query.shape[1], key.shape[1]))
        ),
    ),
    ("scale", lambda raw_scores, key_width: raw_scores * key_width**-0.5),
    ("softmax", softmax),
    ("softmax", in_place),
    ("mix", lambda weights, value: np.einsum("bij,bjf->bif", weights, value)),
]
WRONG_STEPS = [
    ("scores", lambda query, key: query @ key, "key-not-transposed"),
    ("scores", lambda query, key: query @ key.T, "all-axes-reversed"),
    ("scores", lambda query, key: key @ query.swapaxes(1, 2), "query-key-exchanged"),
    ("scale", lambda raw_scores, key_width: raw_scores, "scale-missing"),
    ("scale", lambda raw_scores, key_width: raw_scores / key_width, "scale-by-width"),
    ("scale", lambda raw_scores, key_width: raw_scores / (key_width**1 / 2), "scale-half-width"),
    ("scale", lambda raw_scores, key_width: raw_scores * key_width**0.5, "scale-inverted"),
    ("softmax", lambda scores: softmax(scores, axis=1), "softmax-over-queries"),
    ("softmax", lambda scores: softmax(softmax(scores)), "softmax-twice"),
    (
        "softmax",
        lambda scores: np.exp(scores) / np.exp(scores).sum(2, keepdims=True),
        "softmax-without-maximum",
    ),
    ("mix", lambda weights, value: weights.swapaxes(1, 2) @ value, "weights-transposed"),
]


@pytest.mark.parametrize(("step", "function"), RIGHT_STEPS)
def test_a_right_step_passes_however_it_is_written(step, function):
    assert check_stage(step, function).passed


@pytest.mark.parametrize("step", STEPS)
def test_the_steps_around_are_right(step):
    assert check_stage(step, RIGHT[step]).passed


@pytest.mark.parametrize(("step", "function", "mistake"), WRONG_STEPS)
def test_a_mistake_in_one_step_is_named_at_its_own_stage(step, function, mistake):
    verdict = check_stage(step, function)
    assert (verdict.passed, verdict.mistake, verdict.stage) == (False, mistake, STEPS[step])


@pytest.mark.parametrize("step", STEPS)
def test_a_stub_is_not_attempted_yet_and_raises_nothing(step):
    verdict = check_stage(step, lambda *arguments: ...)
    assert not verdict.passed
    assert not verdict.attempted


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("returned", [None, "text", 3, np.zeros(2), [[1], [1, 2]], 1j], ids=repr)
def test_whatever_else_a_step_returns_gets_a_verdict(step, returned):
    verdict = check_stage(step, lambda *arguments: returned)
    assert not verdict.passed
    assert verdict.attempted
    assert repr(verdict)


def test_none_is_told_as_none():
    for step in STEPS:
        assert "None" in check_stage(step, lambda *arguments: None).message


def test_a_wrong_shape_is_told_at_its_own_stage():
    verdict = check_stage("softmax", lambda scores: softmax(scores).sum(axis=2))
    assert verdict.stage == "weights"
    assert "(2, 3, 3)" in verdict.message


def test_a_step_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(ValueError, match="choose one of scores, scale, softmax, mix"):
        check_stage("score", softmax)
