"""Axes: which is normalized, what follows a reordering, what a batch shares, what disagrees."""

import math

import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention
from attnlib.core.errors import SelfAttentionError
from attnlib.lessons import axes, examples, refusals
from tests.authority import seeded


def refused(*shapes):
    with pytest.raises(SelfAttentionError) as caught:
        scaled_dot_product_self_attention(*map(np.zeros, shapes))
    return caught.value


class TestSoftmaxOverQueries:
    def test_it_shares_out_each_key_among_the_queries(self):
        head = scaled_dot_product_self_attention(*seeded(2, 3, 5, 4, seed=3)[:3])
        wrong = axes.softmax_over_queries(head)
        for item, query, key in np.ndindex(wrong.shape):
            column = [math.exp(score) for score in head.scaled_scores[item, :, key]]
            assert wrong[item, query, key] == pytest.approx(column[query] / math.fsum(column))

    def test_with_equal_keys_a_query_reads_hardly_anything_and_another_nearly_everything_twice(
        self,
    ):
        head = examples.load("equal-keys").head()
        wrong = axes.softmax_over_queries(head)[0]
        share = 1 / (1 + math.exp(6 / math.sqrt(2)))  # query 0 scores 0, query 1 scores 6
        assert wrong.sum(axis=1) == pytest.approx([2 * share, 2 - 2 * share])
        output = wrong @ head.value[0]
        assert output[1, 0] > head.value[0, :, 0].max()

    def test_one_query_has_a_say_in_what_another_reads(self):
        example = examples.load("worked-example")
        before = example.head()
        example.query[0, 1] = [0, 0]
        after = example.head()
        assert np.array_equal(after.weights[0, 0], before.weights[0, 0])
        wrong = [axes.softmax_over_queries(head)[0, 0] for head in (before, after)]
        assert not np.allclose(*wrong)


class TestOrder:
    ORDER = (2, 0, 1)

    def test_all_inputs_reordered_reorder_the_output(self):
        example = examples.load("random")
        moved = axes.reordered(example, self.ORDER)
        assert moved.output == pytest.approx(example.head().output[:, self.ORDER], rel=1e-12)
        weights = example.head().weights[0][np.ix_(self.ORDER, self.ORDER)]
        assert moved.weights[0] == pytest.approx(weights, rel=1e-12)

    def test_keys_and_values_reordered_together_leave_the_output(self):
        example = examples.load("random")
        moved = axes.reordered(example, self.ORDER, ("key", "value"))
        assert moved.output == pytest.approx(example.head().output, rel=1e-12)

    def test_keys_without_their_values_change_it(self):
        example = examples.load("random")
        moved = axes.reordered(example, self.ORDER, ("key",))
        assert not np.allclose(
            np.sort(moved.output, axis=1), np.sort(example.head().output, axis=1)
        )

    @pytest.mark.parametrize("order", [[0, 1], [0, 0, 1], [1, 2, 3]])
    def test_an_order_must_hold_each_token_once(self, order):
        with pytest.raises(ValueError, match="each of the tokens"):
            axes.reordered(examples.load("random"), order)

    def test_an_unknown_input_is_refused(self):
        with pytest.raises(ValueError, match="operands must be among"):
            axes.reordered(examples.load("random"), self.ORDER, ("keys",))


def test_heads_in_one_batch_are_as_if_alone():
    names = ("worked-example", "equal-keys", "swapped-tokens")
    head = axes.together(*names)
    for item, name in enumerate(names):
        assert np.array_equal(head.output[item], examples.load(name).head().output[0])


class TestFaults:
    def test_one_input_that_differs_is_named(self):
        refusal = refused((1, 2, 2), (3, 2, 2), (1, 2, 2))
        assert axes.faults(refusal) == {("key", axes.BATCH): "batch 3, not 1"}
        refusal = refused((1, 2, 2), (1, 2, 2), (1, 5, 2))
        assert axes.faults(refusal) == {("value", axes.TOKENS): "tokens 5, not 2"}

    def test_three_that_differ_are_all_named(self):
        found = axes.faults(refused((1, 2, 2), (1, 3, 2), (1, 4, 2)))
        assert set(found) == {(operand, axes.TOKENS) for operand in axes.OPERANDS}
        assert found["value", axes.TOKENS] == "tokens: all differ"

    def test_widths_that_differ_are_told_on_both_sides(self):
        assert axes.faults(refused((1, 2, 3), (1, 2, 2), (1, 2, 2))) == {
            ("query", axes.WIDTH): "width 3, not 2",
            ("key", axes.WIDTH): "width 2, not 3",
        }

    def test_empty_axes_are_told_where_they_are(self):
        assert len(axes.faults(refused(*[(1, 0, 2)] * 3))) == 3
        assert list(axes.faults(refused((1, 2, 2), (1, 2, 2), (1, 2, 0)))) == [
            ("value", axes.WIDTH)
        ]

    @pytest.mark.parametrize("kind", ["input-dtype", "non-finite-stage", "too-large"])
    def test_a_refusal_of_something_else_names_no_axis(self, kind):
        assert axes.faults(refusals.provoke(kind)) == {}


def test_of_the_shapes_to_try_four_are_accepted_and_each_other_breaks_another_rule():
    kinds = []
    for query, key, value in axes.SHAPES.values():
        try:
            scaled_dot_product_self_attention(np.zeros(query), np.zeros(key), np.zeros(value))
            kinds.append(None)
        except SelfAttentionError as refusal:
            kinds.append(refusal.kind)
    assert kinds[:4] == [None] * 4
    assert kinds[4:] == [
        "batch-mismatch",
        "token-mismatch",
        "query-key-width-mismatch",
        "empty-token-axis",
        "empty-feature-width",
    ]
