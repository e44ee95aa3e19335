"""What grows with the sentence and what does not, counted by hand; and the fading of a trace."""

from itertools import pairwise

import numpy as np
import pytest

from attnlib.lessons import history
from attnlib.lessons.bottleneck import costs, traces
from attnlib.lessons.history import context_sensitivity, fixed_context, model_history

FIXED, ADDITIVE, SELF = (
    "recurrent-fixed-context",
    "additive-encoder-decoder-alignment",
    "scaled-dot-product-self-attention",
)


class TestCosts:
    @pytest.mark.parametrize("tokens", [1, 3, 9])
    def test_pairs_waits_and_sizes_are_those_counted_by_hand(self, tokens):
        counted = {cost.name: tuple(cost)[2:] for cost in costs((tokens,))}
        both_ways = 2 * history.STATE_WIDTH
        keys_and_values = history.KEY_WIDTH + history.VALUE_WIDTH
        assert counted == {
            FIXED: (0, 2 * tokens, history.STATE_WIDTH),
            ADDITIVE: (tokens**2, 2 * tokens, both_ways * tokens),
            SELF: (tokens**2, 1, keys_and_values * tokens),
        }

    def test_only_the_fixed_context_keeps_its_size_and_only_self_attention_its_steps(self):
        kept, waiting = {}, {}
        for cost in costs((2, 4, 8)):
            kept.setdefault(cost.name, set()).add(cost.kept)
            waiting.setdefault(cost.name, set()).add(cost.waiting)
        assert [name for name, sizes in kept.items() if len(sizes) == 1] == [FIXED]
        assert [name for name, steps in waiting.items() if len(steps) == 1] == [SELF]


class TestTraces:
    def test_each_is_the_move_of_its_token_as_a_share_of_the_lasts(self):
        shares = traces(5, seeds=3)
        assert shares.shape == (3, 5)
        words = tuple(f"word {position}" for position in range(5))
        for seed in range(3):
            _, moves = context_sensitivity(model_history(words, seed=seed).earlier)
            np.testing.assert_allclose(shares[seed] * moves[-1], moves, rtol=1e-12)

    def test_a_nudge_of_the_token_moves_the_context_by_no_more(self):
        ran = model_history(tuple(f"word {position}" for position in range(6)))
        _, moves = context_sensitivity(ran.earlier)
        share, encoder = traces(6, seeds=1)[0], ran.earlier.encoder
        # A decoder there must be, but the context does not depend on it.
        decoder = history.RecurrentUnit(np.eye(2), np.ones((2, history.STATE_WIDTH)))
        start = np.ones((2, history.STATE_WIDTH))
        random = np.random.default_rng(4)
        for token in range(6):
            nudge = np.zeros_like(ran.token_vectors)
            direction = random.standard_normal(nudge.shape[1])
            nudge[token] = 1e-6 * direction / np.linalg.norm(direction)
            moved = fixed_context(
                ran.token_vectors + nudge, 1, encoder=encoder, decoder=decoder, V=start
            )
            distance = np.linalg.norm(moved.contexts[0] - ran.earlier.contexts[0]) / 1e-6
            assert 0 < distance <= share[token] * moves[-1] * (1 + 1e-4) + 1e-9

    def test_the_first_of_more_words_has_faded_further_in_the_median(self):
        first = [np.median(traces(tokens)[:, 0]) for tokens in (2, 4, 8, 16, 32)]
        assert all(later < earlier / 2 for earlier, later in pairwise(first))

    def test_the_same_draws_come_again(self):
        assert np.array_equal(traces(4, seeds=2), traces(4, seeds=2))
