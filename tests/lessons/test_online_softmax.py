"""The online softmax holds, after every tile, what the whole softmax gives for the keys so far."""

import mpmath
import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention
from attnlib.lessons.online_softmax import trace
from tests.authority import RECTANGULAR, WORKED, slow_head


def head_of(inputs):
    return scaled_dot_product_self_attention(*inputs[:3])


def seeded(tokens, size=1.0):
    random = np.random.default_rng(9)
    return tuple(size * random.standard_normal((1, tokens, width)) for width in (4, 4, 3))


def whole(scores, value):
    """Softmax over all given scores and the mixture, in thirty digits."""
    with mpmath.workdps(30):
        powers = [mpmath.exp(mpmath.mpf(score)) for score in scores.tolist()]
        total = mpmath.fsum(powers)
        columns = zip(*value.tolist(), strict=True)
        output = [
            float(mpmath.fdot(zip(powers, map(mpmath.mpf, column), strict=True)) / total)
            for column in columns
        ]
        return output, float(mpmath.log(total))


@pytest.mark.parametrize("tile", [1, 2, 3, 5, 11, 40])
@pytest.mark.parametrize("size", [1.0, 6.0, 40.0])
def test_after_every_tile_stands_the_answer_of_a_head_with_these_keys_only(tile, size):
    head = head_of(seeded(11, size))
    for query in range(11):
        for step in trace(head, query, tile):
            stop = step.keys.stop
            output, logarithm = whole(head.scaled_scores[0, query, :stop], head.value[0, :stop])
            np.testing.assert_allclose(step.output, output, rtol=0, atol=1e-13 * size)
            assert step.log_sum_exp == pytest.approx(logarithm, rel=1e-14)


def test_the_tiles_cover_every_key_once_and_in_order():
    head = head_of(seeded(11))
    steps = trace(head, 4, 3)
    assert [key for step in steps for key in step.keys] == list(range(11))
    assert [len(step.keys) for step in steps] == [3, 3, 3, 2]
    np.testing.assert_array_equal(
        np.concatenate([step.scores for step in steps]), head.scaled_scores[0, 4]
    )


def test_the_last_answer_is_the_heads_in_every_item_and_query():
    head, slow = head_of(RECTANGULAR), slow_head(*RECTANGULAR)
    for item, query in np.ndindex(2, 3):
        last = trace(head, query, 2, item)[-1]
        np.testing.assert_allclose(last.output, slow.output[item, query], rtol=0, atol=1e-15)
        weights = np.exp(slow.scaled_scores[item, query] - last.log_sum_exp)
        np.testing.assert_allclose(weights, slow.weights[item, query], rtol=0, atol=1e-15)


def test_the_worked_example_rescales_where_the_second_key_scores_higher_and_only_there():
    head = head_of(WORKED)
    first, second = trace(head, 0)
    assert first.rescale == 0
    assert first.total == 1
    assert second.rescale == pytest.approx(np.exp(-6 / np.sqrt(2)), rel=1e-15)
    assert [step.rescale for step in trace(head, 1)] == [0, 1]


def test_the_largest_power_of_all_is_one_so_that_none_overflows():
    head = head_of(seeded(7, 60.0))
    assert head.scaled_scores.max() > 1000
    for query in range(7):
        steps = trace(head, query, 2)
        assert all(np.isfinite(step.total) and step.total >= 1 for step in steps)
        assert all(step.powers.max() <= 1 for step in steps)


def test_forgetting_to_rescale_would_show():
    head = head_of(WORKED)
    first, second = trace(head, 0)
    unscaled = first.mixture + second.powers @ head.value[0, 1:]
    assert np.abs(unscaled / (first.total + second.total) - head.output[0, 0]).max() > 0.1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"query": 2}, "there is no query 2: choose 0 to 1"),
        ({"query": -1}, "there is no query -1"),
        ({"item": 1}, "there is no item 1: choose 0 to 0"),
        ({"tile": 0}, "tile must be 1 or more, got 0"),
    ],
)
def test_what_is_not_there_is_refused_in_words(arguments, words):
    with pytest.raises(ValueError, match=words):
        trace(head_of(WORKED), **arguments)
