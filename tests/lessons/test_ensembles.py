"""Heads with a divisor of our choice are right, and the ensembles say what they are said to say."""

import math
import statistics

import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention
from attnlib.core.errors import SelfAttentionError
from attnlib.lessons import ensembles
from tests.authority import (
    RECTANGULAR,
    assert_near,
    central_differences,
    columns,
    slow_head,
    softmax,
    through_softmax,
    times,
)

DIVISORS = (1, 0.3, math.sqrt(5), 5)


def slow_divided(query, key, value, grad_output, divisor):
    """One batch item in Python floats: the scores divided, and no trick with the query."""
    scores = [[score / divisor for score in row] for row in times(query, columns(key))]
    weights = [softmax(row) for row in scores]
    grad_weights = times(grad_output, columns(value))
    grad_scores = [through_softmax(*rows) for rows in zip(weights, grad_weights, strict=True)]
    grad_query = [[entry / divisor for entry in row] for row in times(grad_scores, key)]
    return scores, weights, grad_scores, grad_query


def slow_stages(inputs, divisor):
    items = zip(*(array.tolist() for array in inputs), strict=True)
    stages = zip(*(slow_divided(*item, divisor) for item in items), strict=True)
    return [np.array(stage) for stage in stages]


@pytest.fixture(scope="module")
def ensemble():
    return ensembles.measure()


def row(ensemble, measure, divisor):
    return getattr(ensemble, measure)[list(ensembles.DIVISORS).index(divisor)]


class TestADividedHead:
    @pytest.mark.parametrize("divisor", DIVISORS)
    def test_every_stage_is_that_of_a_slow_head_with_this_divisor(self, divisor):
        head = ensembles.divided_head(*RECTANGULAR, divisor)
        names = ("scores", "weights", "grad_scores", "grad_query")
        for name, expected in zip(names, slow_stages(RECTANGULAR, divisor), strict=True):
            assert_near(getattr(head, name), expected, 1e-13)

    @pytest.mark.parametrize("divisor", DIVISORS)
    def test_its_query_gradient_is_the_slope_of_the_objective(self, divisor):
        query, key, value, grad_output = RECTANGULAR

        def objective(moved):
            weights = slow_stages((moved, key, value, grad_output), divisor)[1]
            return math.fsum(np.ravel(weights @ value * grad_output).tolist())

        slopes = central_differences(objective, query)
        head = ensembles.divided_head(*RECTANGULAR, divisor)
        assert_near(head.grad_query, slopes, 1e-7)

    def test_a_query_gradient_without_the_chain_rule_would_be_seen(self):
        query, key, value, grad_output = RECTANGULAR
        rescaled = scaled_dot_product_self_attention(query * math.sqrt(5), key, value)
        forgotten = rescaled.backward(grad_output).query
        with pytest.raises(AssertionError):
            assert_near(forgotten, slow_stages(RECTANGULAR, 1)[3], 1e-13)

    def test_the_root_of_d_k_gives_the_head_itself(self):
        head = ensembles.divided_head(*RECTANGULAR, math.sqrt(5))
        slow = slow_head(*RECTANGULAR)
        assert_near(head.weights, slow.weights, 1e-14)
        assert_near(head.grad_query, slow.grad_query, 1e-13)

    def test_its_arrays_cannot_be_written(self):
        head = ensembles.divided_head(*RECTANGULAR, 1)
        assert not any(array.flags.writeable for array in vars(head).values())

    @pytest.mark.parametrize("divisor", [0, -1.0, math.nan, math.inf])
    def test_a_divisor_that_divides_nothing_is_refused(self, divisor):
        with pytest.raises(ValueError, match="above 0, got"):
            ensembles.divided_head(*RECTANGULAR, divisor)

    @pytest.mark.parametrize("divisor", [1, 1e100])
    def test_no_divisor_saves_a_product_that_overflows(self, divisor):
        huge = np.full((1, 2, 1), 1e300)
        with pytest.raises(SelfAttentionError) as refusal:
            ensembles.divided_head(huge, huge, huge, huge, divisor)
        assert refusal.value.kind == "non-finite-stage"


class TestMeasures:
    def test_each_is_that_of_a_slow_computation(self):
        widths, tokens, heads, seed = (1, 3), 4, 5, 8
        measured = ensembles.measure(widths, tokens, heads, seed)
        random = np.random.default_rng(seed)
        shape = (heads, tokens)
        value, grad_output = (random.standard_normal((*shape, 8)) for _ in range(2))
        query, key = (random.standard_normal((*shape, 3)) for _ in range(2))
        for at, width in enumerate(widths):
            inputs = (query[..., :width], key[..., :width], value, grad_output)
            for line, divisor in enumerate((1, math.sqrt(width), width)):
                expected = slow_measures(*slow_stages(inputs, divisor))
                for name, number in expected.items():
                    found = getattr(measured, name)[line, at]
                    assert found == pytest.approx(number, rel=1e-11), (name, width, divisor)

    def test_the_same_seed_gives_the_same_bytes(self, ensemble):
        again = ensembles.measure()
        assert again.grad_query.tobytes() == ensemble.grad_query.tobytes()

    def test_they_cannot_be_written(self, ensemble):
        arrays = [x for x in vars(ensemble).values() if isinstance(x, np.ndarray)]
        assert len(arrays) == 7
        assert {array.shape for array in arrays} == {(3, 9)}
        assert not any(array.flags.writeable for array in arrays)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"widths": ()},
            {"widths": (4, 0)},
            {"widths": (2.5,)},
            {"widths": "48"},
            {"tokens": 1},
            {"heads": 0},
        ],
        ids=str,
    )
    def test_what_cannot_be_measured_is_refused_with_what_came(self, wrong):
        with pytest.raises(ValueError, match=r"must be .*, got "):
            ensembles.measure(**wrong)


def slow_measures(scores, weights, grad_scores, grad_query):
    entropies = [
        -math.fsum(weight * math.log(weight) for weight in row)
        for row in weights.reshape(-1, weights.shape[-1]).tolist()
    ]
    queries = grad_query.reshape(-1, grad_query.shape[-1]).tolist()
    squares = [statistics.fmean(entry**2 for entry in row) for row in queries]
    top = sorted(squares, reverse=True)[: math.ceil(len(squares) / 10)]
    return {
        "score_spread": statistics.pstdev(scores.ravel().tolist()),
        "entropy": statistics.fmean(entropies),
        "largest_weight": statistics.fmean(
            max(row) for row in weights.reshape(len(squares), -1).tolist()
        ),
        "grad_scores": math.sqrt(statistics.fmean(x**2 for x in grad_scores.ravel().tolist())),
        "grad_query": math.sqrt(statistics.fmean(squares)),
        "grad_query_middle": statistics.median(map(math.sqrt, squares)),
        "grad_query_top": math.fsum(top) / math.fsum(squares),
    }


class TestWhatTheChapterSays:
    def test_at_width_one_the_three_divisors_are_the_same(self, ensemble):
        for measure in (ensemble.score_spread, ensemble.entropy, ensemble.grad_query):
            assert measure[0, 0] == measure[1, 0] == measure[2, 0]

    def test_the_spread_is_the_root_of_d_k_over_the_divisor(self, ensemble):
        widths = np.array(ensemble.widths)
        for name, divisor in ensembles.DIVISORS.items():
            expected = np.sqrt(widths) / [divisor(width) for width in widths]
            np.testing.assert_allclose(row(ensemble, "score_spread", name), expected, rtol=0.03)

    def test_entropy_falls_stays_or_nears_its_bound(self, ensemble):
        assert ensemble.largest_entropy == pytest.approx(math.log(16))
        assert (ensemble.entropy < ensemble.largest_entropy).all()
        assert (np.diff(row(ensemble, "entropy", "1")) < 0).all()
        assert np.ptp(row(ensemble, "entropy", "√dₖ")) < 0.1
        assert (np.diff(row(ensemble, "entropy", "dₖ")) > 0).all()
        assert ensemble.largest_entropy - row(ensemble, "entropy", "dₖ")[-1] < 0.01

    def test_undivided_scores_leave_half_of_the_queries_little_gradient_and_a_tenth_nearly_all(
        self, ensemble
    ):
        middle = ensemble.grad_query_middle[:, -1]
        assert middle[0] < 0.2 * middle[1]
        assert ensemble.grad_query_top[0, -1] > 0.85
        assert ensemble.grad_query_top[1, -1] < 0.4
        # The root mean square alone would tell the opposite story.
        assert ensemble.grad_query[0, -1] > 5 * ensemble.grad_query[1, -1]

    def test_divided_by_d_k_the_softmax_lets_as_much_through_and_the_divisor_takes_it_away(
        self, ensemble
    ):
        before = row(ensemble, "grad_scores", "dₖ")
        assert before[-1] > 0.8 * before[0]
        # dQ = dS K / 256, and a sum over 16 keys of variance 1 is about 4 times as large as a term.
        assert row(ensemble, "grad_query", "dₖ")[-1] < 1.2 * before[-1] * 4 / 256

    def test_divided_by_the_root_a_query_row_of_dq_keeps_its_length(self, ensemble):
        lengths = row(ensemble, "grad_query", "√dₖ") * np.sqrt(ensemble.widths)
        assert np.ptp(lengths) < 0.2 * lengths[0]
