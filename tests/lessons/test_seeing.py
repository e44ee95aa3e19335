"""An input that can't show a mistake of the way back is known, and refused as a proof."""

import numpy as np
import pytest

from attnlib.lessons.checker import check_backward
from attnlib.lessons.checking import seeing
from attnlib.lessons.checking.backward_trials import right_gradients
from attnlib.lessons.checking.fixtures import EMPTY_BATCH, MAIN, OVERFLOW, SQUARE, Fixture, part
from attnlib.lessons.mistakes import CATALOGUE, load
from tests.authority import slow_gradients
from tests.lessons.ways_back import by_einsum

BACKWARD = [mistake for mistake in CATALOGUE.values() if mistake.direction == "backward"]


def blind(batch=2, tokens=3, width=5, value_width=4):
    """All ones sent back to values whose rows have equal sums."""
    random = np.random.default_rng(17)
    query, key, value = (
        random.standard_normal((batch, tokens, features))
        for features in (width, width, value_width)
    )
    value += (1 - value.sum(axis=2, keepdims=True)) / value_width
    return Fixture("all ones", query, key, value, np.ones(value.shape))


class TestWhatAnInputCanSee:
    def test_the_main_input_sees_every_mistake(self):
        assert seeing.unseen(MAIN) == ()
        assert all(
            seeing.sees(mistake.id, MAIN) for mistake in BACKWARD if "integer" not in mistake.id
        )

    def test_all_ones_and_values_of_equal_sums_send_nothing_to_query_and_key(self):
        right = right_gradients(blind())
        assert np.abs(right["query"]).max() < 1e-12
        assert np.abs(right["key"]).max() < 1e-12

    @pytest.mark.parametrize(
        "id",
        [
            "gradient-scale-missing",
            "gradient-scaled-twice",
            "query-key-gradients-exchanged",
            "key-gradient-not-transposed",
            "gradient-from-own-operand",
            "grad-output-ignored",
        ],
    )
    def test_a_wrong_way_back_passes_there(self, id):
        fixture = blind()
        grads = load(id).head(*fixture.inputs, fixture.grad_output)
        right = slow_gradients(*fixture.inputs, fixture.grad_output)
        for found, due in zip(grads, right, strict=True):
            np.testing.assert_allclose(found, due, atol=1e-12)
        assert not seeing.sees(id, fixture)
        assert id in seeing.unseen(fixture)

    def test_the_same_inputs_see_them_with_a_random_grad_output(self):
        fixture = blind()
        random = np.random.default_rng(18).standard_normal(fixture.value.shape)
        assert seeing.unseen(Fixture("random", *fixture.inputs, random)) == ()

    def test_an_input_that_hides_a_mistake_is_refused_as_a_proof(self):
        with pytest.raises(ValueError, match="equal sums") as refused:
            check_backward(by_einsum, fixtures=[blind()])
        assert "gradient-scale-missing" in str(refused.value)

    def test_inputs_that_see_everything_are_taken(self):
        assert check_backward(by_einsum, fixtures=[MAIN]).passed
        assert (
            check_backward(load("diagonal-only").head, fixtures=[MAIN]).mistake == "diagonal-only"
        )

    @pytest.mark.parametrize(
        ("fixture", "hidden", "reason"),
        [
            (part(MAIN, 2, 1, 5, 4), "gradient-scale-missing", "one token"),
            (part(MAIN, 1, 3, 5, 4), "gradient-of-one-item", "one item"),
            (part(MAIN, 2, 3, 1, 4), "gradient-scale-missing", "d_k = 1"),
            (SQUARE, "gradient-scale-wrong-width", "equal"),
            (EMPTY_BATCH, "row-sum-missing", "no entry"),
            (OVERFLOW, "gradient-sign-flipped", "dQ and dK are 0"),
        ],
    )
    def test_sizes_that_hide_a_mistake_are_told(self, fixture, hidden, reason):
        assert hidden in seeing.unseen(fixture)
        assert reason in " ".join(seeing.why_unseen(fixture))

    @pytest.mark.parametrize(("given", "said"), [([3], "got int"), ([], "would pass on these")])
    def test_what_is_no_input_is_refused(self, given, said):
        with pytest.raises(ValueError, match=said):
            check_backward(by_einsum, fixtures=given)

    def test_a_forward_mistake_is_no_question_here(self):
        with pytest.raises(ValueError, match="forward"):
            seeing.sees("scale-missing", MAIN)
