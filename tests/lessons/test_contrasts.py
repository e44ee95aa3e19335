"""A wrong head stands beside the right one where it shows, and where no other looks the same."""

import math

import numpy as np
import pytest

from attnlib.lessons.contrasts import STAGES, contrast, pair
from attnlib.lessons.mistakes import CATALOGUE, SAME, load
from attnlib.lessons.mistakes.kinds import Mistake


def mistake(head, direction="forward"):
    return Mistake("planted", "Planted", "", "", "", "output", head, direction)


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_mistake_of_the_catalogue_shows(name):
    assert contrast(load(name)).shows


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_stages_before_its_own_agree(name):
    found = contrast(load(name))
    first = found.mistake.stage
    if found.error or found.mistake.direction == "backward" or first not in STAGES:
        return
    early = STAGES[: STAGES.index(first)]
    assert not any(each.departs.any() for each in found.pairs if each.name in early)


def test_what_is_right_is_the_worked_example_computed_by_hand():
    found = contrast(load("scale-missing"))
    pairs = {each.name: each for each in found.pairs}
    assert found.fixture.name == "worked example"
    assert pairs["raw_scores"].expected.tolist() == [[[0, 6], [6, -4]]]
    right = 1 / (1 + math.exp(-6 / math.sqrt(2)))
    wrong = 1 / (1 + math.exp(-6))
    assert abs(pairs["weights"].expected[0, 0, 1] - right) < 1e-12
    assert abs(pairs["weights"].got[0, 0, 1] - wrong) < 1e-12
    assert not pairs["raw_scores"].departs.any()
    assert pairs["weights"].departs.all()


def test_a_mistake_that_shows_on_one_width_only_is_shown_there():
    # With d_k = 2 half of d_k is 1, and the scale would look as if it were missing.
    found = contrast(load("scale-half-width"))
    assert found.fixture.query.shape[2] not in (2, 4)


def test_two_mistakes_of_the_catalogue_look_different_unless_they_are_declared_the_same():
    seen = {}
    for name in CATALOGUE:
        found = contrast(load(name))
        if not found.error:
            key = (found.fixture.name, *(each.got.round(9).tobytes() for each in found.pairs))
            assert key not in seen or {name, seen[key]} in map(set, SAME)
            seen[key] = name


def test_an_error_is_kept_in_words():
    def head(query, key, value):
        raise ValueError("no")

    found = contrast(mistake(head))
    assert (found.error, found.pairs, found.shows) == ("ValueError: no", (), True)


def test_an_input_that_was_changed_is_compared_with_what_it_was():
    def head(query, key, value):
        query += 1
        return {}

    found = contrast(mistake(head))
    (only,) = found.pairs
    assert only.name == "query"
    assert (only.got - only.expected == 1).all()


def test_a_right_head_does_not_show():
    def head(query, key, value):
        scores = query @ key.swapaxes(1, 2) / math.sqrt(query.shape[2])
        powers = np.exp(scores - scores.max(axis=2, keepdims=True))
        return {"output": powers / powers.sum(axis=2, keepdims=True) @ value}

    assert not contrast(mistake(head)).shows


def test_a_backward_mistake_is_compared_gradient_by_gradient():
    found = contrast(load("gradient-scale-missing"))
    dquery, _, dvalue = found.pairs
    assert [each.name for each in found.pairs] == ["dquery", "dkey", "dvalue"]
    np.testing.assert_allclose(dquery.got, dquery.expected * math.sqrt(2))
    assert not dvalue.departs.any()


@pytest.mark.parametrize(
    ("expected", "got", "departs"),
    [
        ([1.0, 2.0], [1.0, 2.1], [False, True]),
        ([1.0, np.nan], [1.0, np.nan], [False, False]),
        ([np.inf, 1.0], [np.inf, np.nan], [False, True]),
        ([1.0, 1.0], [1.0 + 1e-9, 1.0 + 1e-5], [False, True]),
        (np.float32([1, 1]), np.float32([1.00001, 1.001]), [False, True]),
        ([1.0, 1.0], [1.0], [True]),
    ],
)
def test_an_entry_departs_by_more_than_rounding(expected, got, departs):
    assert pair("output", expected, got).departs.tolist() == departs
