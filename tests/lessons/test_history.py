"""The three models of the history: against loops in plain Python, and against what is known."""

import json
import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.lessons import history
from attnlib.lessons.history import (
    AlignmentModel,
    RecurrentUnit,
    additive_alignment,
    context_sensitivity,
    fixed_context,
    model_history,
    self_attention,
)

# Tokens, steps and every width differ, for equal sizes hide exchanged axes.
T, S, D, N, M, A, KEY, VALUE = 3, 2, 5, 4, 6, 7, 8, 9
SENTENCE = (
    *("the", "small", "grey", "bird", "sang", "all"),
    *("day", "on", "the", "old", "wet", "wall"),
)


def drawn(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def unit(seed, state, read):
    return RecurrentUnit(drawn([seed, 1], state, state), drawn([seed, 2], state, read))


VECTORS = drawn(11, T, D)
FIXED = {"encoder": unit(21, N, D), "decoder": unit(22, M, N), "V": drawn(23, M, N)}
ADDITIVE = {
    "forward": unit(31, N, D),
    "backward": unit(32, N, D),
    "decoder": unit(33, M, 2 * N),
    "W_s": drawn(34, M, N),
    "alignment": AlignmentModel(drawn(35, A, M), drawn(36, A, 2 * N), drawn(37, A)),
}
PROJECTIONS = {"W_Q": drawn(41, D, KEY), "W_K": drawn(42, D, KEY), "W_V": drawn(43, D, VALUE)}


def changed(vectors, t):
    """The same vectors but for the one of token t."""
    moved = vectors.copy()
    moved[t] += 0.5
    return moved


# The slow reference: lists, math.tanh and math.exp, an index for every letter of the equations.


def slow_apply(matrix, vector):
    return [sum(row[k] * vector[k] for k in range(len(vector))) for row in matrix.tolist()]


def slow_step(recurrent, state, vector):
    from_state, from_input = slow_apply(recurrent.W, state), slow_apply(recurrent.U, vector)
    return [math.tanh(a + b) for a, b in zip(from_state, from_input, strict=True)]


def slow_run(recurrent, vectors, state):
    states = []
    for vector in vectors:
        state = slow_step(recurrent, state, vector)
        states.append(state)
    return states


def slow_shares(scores):
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


def slow_mixture(shares, rows):
    return [sum(shares[j] * rows[j][k] for j in range(len(rows))) for k in range(len(rows[0]))]


def slow_additive(vectors, steps, forward, backward, decoder, W_s, alignment):
    ahead = slow_run(forward, vectors.tolist(), [0.0] * len(forward.W))
    back = slow_run(backward, vectors.tolist()[::-1], [0.0] * len(backward.W))[::-1]
    annotations = [ahead[j] + back[j] for j in range(len(vectors))]
    states, weights, contexts = [[math.tanh(x) for x in slow_apply(W_s, back[0])]], [], []
    for i in range(steps):
        scores = []
        for annotation in annotations:
            asked = slow_apply(alignment.W_a, states[i])
            offered = slow_apply(alignment.U_a, annotation)
            scores.append(
                sum(
                    alignment.v_a[k] * math.tanh(asked[k] + offered[k])
                    for k in range(len(alignment.v_a))
                )
            )
        weights.append(slow_shares(scores))
        contexts.append(slow_mixture(weights[i], annotations))
        states.append(slow_step(decoder, states[i], contexts[i]))
    return annotations, weights, contexts, states


def check_additive_against_loops():
    run = additive_alignment(VECTORS, S, **ADDITIVE)
    annotations, weights, contexts, states = slow_additive(VECTORS, S, **ADDITIVE)
    np.testing.assert_allclose(run.annotations, annotations, rtol=0, atol=1e-13)
    np.testing.assert_allclose(run.weights, weights, rtol=0, atol=1e-13)
    np.testing.assert_allclose(run.contexts, contexts, rtol=0, atol=1e-13)
    np.testing.assert_allclose(run.decoder_states, states, rtol=0, atol=1e-13)


def check_each_step_spreads_one_over_the_annotations(run):
    assert np.all(run.weights > 0)
    np.testing.assert_allclose(run.weights.sum(axis=1), np.ones(S), rtol=0, atol=1e-12)


def check_jacobians_against_central_differences(earlier, vectors, step=1e-5):
    jacobians, _ = context_sensitivity(earlier)
    for t, feature in np.ndindex(vectors.shape):
        nudge = np.zeros(vectors.shape)
        nudge[t, feature] = step
        ahead, behind = (
            fixed_context(x, 1, **FIXED).contexts[0] for x in (vectors + nudge, vectors - nudge)
        )
        slope = (ahead - behind) / (2 * step)
        np.testing.assert_allclose(jacobians[t, :, feature], slope, rtol=0, atol=1e-9)


class TestOneFixedContext:
    def test_the_states_are_those_of_the_loop(self):
        run = fixed_context(VECTORS, S, **FIXED)
        states = slow_run(FIXED["encoder"], VECTORS.tolist(), [0.0] * N)
        start = [math.tanh(x) for x in slow_apply(FIXED["V"], states[-1])]
        decoded = [start, *slow_run(FIXED["decoder"], [states[-1]] * S, start)]
        np.testing.assert_allclose(run.encoder_states, states, rtol=0, atol=1e-13)
        np.testing.assert_allclose(run.decoder_states, decoded, rtol=0, atol=1e-13)

    def test_every_decoder_step_reads_the_last_encoder_state(self):
        run = fixed_context(VECTORS, 4, **FIXED)
        assert run.contexts.shape == (4, N)
        assert all(np.array_equal(context, run.encoder_states[-1]) for context in run.contexts)

    def test_it_forms_no_pair(self):
        assert fixed_context(VECTORS, S, **FIXED).pairs == ()

    def test_the_context_has_one_size_for_any_number_of_tokens(self):
        shapes = {fixed_context(drawn(5, t, D), S, **FIXED).contexts.shape for t in (1, 2, 30)}
        assert shapes == {(S, N)}

    def test_a_later_token_leaves_the_earlier_states_as_they_were(self):
        before = fixed_context(VECTORS, S, **FIXED).encoder_states
        after = fixed_context(changed(VECTORS, 1), S, **FIXED).encoder_states
        assert np.array_equal(before[:1], after[:1])
        assert not np.any(np.all(before[1:] == after[1:], axis=1))


class TestBottleneck:
    def test_the_derivatives_of_the_context_match_central_differences(self):
        check_jacobians_against_central_differences(fixed_context(VECTORS, S, **FIXED), VECTORS)

    def test_a_derivative_without_the_slope_of_tanh_would_be_noticed(self):
        run = fixed_context(VECTORS, S, **FIXED)
        slopeless = replace(run, encoder_states=np.zeros((T, N)))
        with pytest.raises(AssertionError):
            check_jacobians_against_central_differences(slopeless, VECTORS)

    def test_a_derivative_with_the_tokens_in_reverse_would_be_noticed(self):
        run = fixed_context(VECTORS, S, **FIXED)
        with pytest.raises(AssertionError):
            check_jacobians_against_central_differences(
                replace(run, encoder_states=run.encoder_states[::-1]), VECTORS
            )

    def test_the_sensitivity_is_the_longest_move_that_any_unit_move_of_the_token_makes(self):
        jacobians, sensitivity = context_sensitivity(fixed_context(VECTORS, S, **FIXED))
        directions = drawn(6, 2000, D)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        moves = np.linalg.norm(np.einsum("tnd,kd->tkn", jacobians, directions), axis=2)
        assert np.all(moves <= sensitivity[:, None] * (1 + 1e-12))
        assert np.all(moves.max(axis=1) > 0.9 * sensitivity)

    def test_each_further_token_can_stretch_an_early_trace_by_the_norm_of_the_weights_at_most(self):
        earlier = model_history(SENTENCE, seed=3).earlier
        stretch, entry = (np.linalg.norm(matrix, ord=2) for matrix in earlier.encoder)
        later_tokens = np.arange(len(SENTENCE))[::-1]
        _, sensitivity = context_sensitivity(earlier)
        assert np.all(sensitivity <= entry * stretch**later_tokens * (1 + 1e-12))

    def test_the_first_of_twelve_words_mostly_moves_the_context_far_less_than_the_last(self):
        shares = []
        for seed in range(50):
            _, sensitivity = context_sensitivity(model_history(SENTENCE, seed=seed).earlier)
            shares.append(sensitivity[0] / sensitivity[-1])
        assert min(shares) > 0
        assert np.median(shares) < 0.01
        # Some draws of W stretch more than tanh shrinks, so that this is no law.
        assert np.mean(np.array(shares) < 0.1) >= 0.9

    def test_another_first_word_changes_the_context_less_than_another_last_word(self):
        context = model_history(SENTENCE).earlier.contexts[0]
        other_first = model_history(("one", *SENTENCE[1:])).earlier.contexts[0]
        other_last = model_history((*SENTENCE[:-1], "one")).earlier.contexts[0]
        first, last = (np.linalg.norm(x - context) for x in (other_first, other_last))
        assert 0 < first < 0.1 * last


class TestAdditiveAlignment:
    def test_annotations_weights_contexts_and_states_are_those_of_the_loops(self):
        check_additive_against_loops()

    def test_each_step_spreads_one_over_the_annotations(self):
        check_each_step_spreads_one_over_the_annotations(additive_alignment(VECTORS, S, **ADDITIVE))

    def test_every_query_is_a_decoder_state_and_every_key_an_encoder_annotation(self):
        pairs = additive_alignment(VECTORS, S, **ADDITIVE).pairs
        assert len(set(pairs)) == len(pairs) == S * T
        assert all(query.startswith("decoder-state-") for query, _ in pairs)
        assert all(key.startswith("encoder-annotation-") for _, key in pairs)

    def test_there_is_one_pair_for_each_score_that_was_computed(self, monkeypatch):
        computed = []

        def recorded(self, state, annotations, scores=AlignmentModel.scores):
            row = scores(self, state, annotations)
            computed.extend(
                (f"decoder-state-{len(computed) // T}", f"encoder-annotation-{j}")
                for j in range(len(row))
            )
            return row

        monkeypatch.setattr(AlignmentModel, "scores", recorded)
        assert additive_alignment(VECTORS, S, **ADDITIVE).pairs == tuple(computed)

    def test_each_context_is_a_mixture_between_the_smallest_and_largest_annotation(self):
        run = additive_alignment(VECTORS, S, **ADDITIVE)
        assert np.all(run.contexts >= run.annotations.min(axis=0) - 1e-12)
        assert np.all(run.contexts <= run.annotations.max(axis=0) + 1e-12)

    def test_the_context_is_a_new_one_at_each_step(self):
        contexts = additive_alignment(VECTORS, 4, **ADDITIVE).contexts
        assert len(np.unique(contexts, axis=0)) == 4

    def test_another_first_decoder_state_changes_the_alignment_of_later_steps(self):
        before = additive_alignment(VECTORS, S, **ADDITIVE)
        after = additive_alignment(VECTORS, S, **(ADDITIVE | {"W_s": -ADDITIVE["W_s"]}))
        assert np.array_equal(before.annotations, after.annotations)
        assert np.all(np.abs(before.weights - after.weights).max(axis=1) > 1e-3)

    def test_a_step_knows_nothing_of_those_after_it(self):
        short, long = (additive_alignment(VECTORS, steps, **ADDITIVE) for steps in (2, 5))
        assert np.array_equal(short.weights, long.weights[:2])
        assert np.array_equal(short.decoder_states, long.decoder_states[:3])

    def test_a_later_token_changes_earlier_annotations_in_their_backward_half_only(self):
        before = additive_alignment(VECTORS, S, **ADDITIVE).annotations
        after = additive_alignment(changed(VECTORS, T - 1), S, **ADDITIVE).annotations
        assert np.array_equal(before[:-1, :N], after[:-1, :N])
        assert not np.any(np.all(before[:, N:] == after[:, N:], axis=1))

    def test_an_earlier_token_changes_later_annotations_in_their_forward_half_only(self):
        before = additive_alignment(VECTORS, S, **ADDITIVE).annotations
        after = additive_alignment(changed(VECTORS, 0), S, **ADDITIVE).annotations
        assert np.array_equal(before[1:, N:], after[1:, N:])
        assert not np.any(np.all(before[:, :N] == after[:, :N], axis=1))

    def test_one_token_gets_the_whole_weight_at_every_step(self):
        run = additive_alignment(VECTORS[:1], S, **ADDITIVE)
        assert np.array_equal(run.weights, np.ones((S, 1)))
        assert np.array_equal(run.contexts, np.repeat(run.annotations, S, axis=0))


class TestPlantedMistakesInTheAlignment:
    def test_a_softmax_over_the_decoder_steps_would_be_noticed(self):
        run = additive_alignment(VECTORS, S, **ADDITIVE)
        powers = np.exp(run.scores)
        wrong = replace(run, weights=powers / powers.sum(axis=0, keepdims=True))
        with pytest.raises(AssertionError):
            check_each_step_spreads_one_over_the_annotations(wrong)

    @pytest.mark.parametrize(
        ("owner", "name", "mistake"),
        [
            (history, "log_softmax", lambda scores: scores - scores.max()),
            (history, "exp", lambda x: np.full(len(x), 1 / len(x))),
            (AlignmentModel, "scores", lambda self, s, h: np.tanh(h @ self.U_a.T) @ self.v_a),
            (
                AlignmentModel,
                "scores",
                lambda self, s, h: (self.W_a @ s + h @ self.U_a.T) @ self.v_a,
            ),
            (RecurrentUnit, "step", lambda self, state, vector: np.tanh(self.U @ vector)),
        ],
        ids=[
            "weights that aren't normalized",
            "weights that ignore the scores",
            "scores that ignore the decoder state",
            "scores without tanh",
            "states that forget",
        ],
    )
    def test_the_loops_notice(self, monkeypatch, owner, name, mistake):
        monkeypatch.setattr(owner, name, mistake)
        with pytest.raises(AssertionError):
            check_additive_against_loops()

    def test_the_loops_notice_annotations_whose_backward_half_is_in_reading_order(
        self, monkeypatch
    ):
        def unturned(self, vectors, start, run=RecurrentUnit.run):
            states = run(self, vectors, start)
            return (
                np.vstack([states[:1], states[:0:-1]]) if self is ADDITIVE["backward"] else states
            )

        monkeypatch.setattr(RecurrentUnit, "run", unturned)
        with pytest.raises(AssertionError):
            check_additive_against_loops()


class TestSelfAttention:
    def test_weights_and_output_are_those_of_the_loops(self):
        run = self_attention(VECTORS, **PROJECTIONS)
        query, key, value = (
            [slow_apply(PROJECTIONS[name].T, x) for x in VECTORS.tolist()]
            for name in ("W_Q", "W_K", "W_V")
        )
        for i in range(T):
            dots = [sum(a * b for a, b in zip(query[i], key[j], strict=True)) for j in range(T)]
            weights = slow_shares([dot / math.sqrt(KEY) for dot in dots])
            np.testing.assert_allclose(run.weights[i], weights, rtol=0, atol=1e-13)
            np.testing.assert_allclose(
                run.output[i], slow_mixture(weights, value), rtol=0, atol=1e-12
            )

    def test_both_sides_of_every_pair_are_positions_of_the_same_sequence(self):
        pairs = self_attention(VECTORS, **PROJECTIONS).pairs
        assert len(set(pairs)) == len(pairs) == T * T
        assert all(name.startswith("hidden-position-") for pair in pairs for name in pair)

    def test_no_row_depends_on_another_query(self):
        head = self_attention(VECTORS, **PROJECTIONS).head
        other = head.query.copy()
        other[0, 0] += 1.0
        after = scaled_dot_product_self_attention(other, head.key, head.value)
        assert np.array_equal(head.weights[0, 1:], after.weights[0, 1:])
        assert not np.array_equal(head.weights[0, 0], after.weights[0, 0])

    def test_the_first_position_reads_the_last_one_for_there_is_no_mask(self):
        before = self_attention(VECTORS, **PROJECTIONS).output[0]
        after = self_attention(changed(VECTORS, T - 1), **PROJECTIONS).output[0]
        assert np.abs(before - after).max() > 1e-3

    def test_twice_the_tokens_make_four_times_the_scores(self):
        counts = [len(self_attention(drawn(7, t, D), **PROJECTIONS).pairs) for t in (4, 8, 16)]
        assert counts == [16, 64, 256]


class TestSequentialSteps:
    @pytest.fixture
    def steps_taken(self, monkeypatch):
        taken = []

        def counted(self, state, vector, step=RecurrentUnit.step):
            taken.append(self)
            return step(self, state, vector)

        monkeypatch.setattr(RecurrentUnit, "step", counted)
        return taken

    def test_a_fixed_context_takes_every_encoder_and_every_decoder_step(self, steps_taken):
        assert fixed_context(VECTORS, 4, **FIXED).sequential_steps == len(steps_taken) == T + 4

    def test_the_alignment_takes_as_many_with_its_two_directions_side_by_side(self, steps_taken):
        run = additive_alignment(VECTORS, 4, **ADDITIVE)
        alongside = sum(taken is ADDITIVE["backward"] for taken in steps_taken)
        assert alongside == T
        assert run.sequential_steps == len(steps_taken) - alongside == T + 4

    @pytest.mark.parametrize("tokens", [1, 2, 40])
    def test_self_attention_takes_one_for_any_number_of_tokens(self, steps_taken, tokens):
        assert self_attention(drawn(8, tokens, D), **PROJECTIONS).sequential_steps == 1
        assert steps_taken == []


class TestModelHistory:
    def test_the_default_history_is_two_tokens_and_two_steps_with_the_pairs_of_each_model(self):
        evidence = model_history().as_evidence()
        assert evidence == {
            "earlier": "recurrent-fixed-context",
            "bridge": "additive-encoder-decoder-alignment",
            "transformer": "scaled-dot-product-self-attention",
            "comparison": "all-sequence-positions",
            "pairs": {
                "recurrent-fixed-context": [],
                "additive-encoder-decoder-alignment": [
                    ["decoder-state-0", "encoder-annotation-0"],
                    ["decoder-state-0", "encoder-annotation-1"],
                    ["decoder-state-1", "encoder-annotation-0"],
                    ["decoder-state-1", "encoder-annotation-1"],
                ],
                "scaled-dot-product-self-attention": [
                    ["hidden-position-0", "hidden-position-0"],
                    ["hidden-position-0", "hidden-position-1"],
                    ["hidden-position-1", "hidden-position-0"],
                    ["hidden-position-1", "hidden-position-1"],
                ],
            },
        }
        assert json.loads(json.dumps(evidence)) == evidence

    def test_a_run_that_left_out_a_pair_is_not_called_all_sequence_positions(self):
        whole = model_history(SENTENCE)
        assert whole.comparison == "all-sequence-positions"
        partial = replace(whole.transformer, pairs=whole.transformer.pairs[1:])
        assert replace(whole, transformer=partial).comparison == "some-sequence-positions"

    def test_the_shapes_follow_from_tokens_and_steps(self):
        told = model_history(SENTENCE, steps=5)
        tokens = len(SENTENCE)
        assert told.token_vectors.shape == (tokens, history.TOKEN_WIDTH)
        assert told.earlier.contexts.shape == (5, history.STATE_WIDTH)
        assert told.earlier.decoder_states.shape == (6, history.DECODER_WIDTH)
        assert told.bridge.annotations.shape == (tokens, 2 * history.STATE_WIDTH)
        assert told.bridge.scores.shape == told.bridge.weights.shape == (5, tokens)
        assert told.transformer.weights.shape == (tokens, tokens)
        assert told.transformer.output.shape == (tokens, history.VALUE_WIDTH)

    def test_a_word_has_the_same_vector_wherever_it_stands(self):
        one, other = model_history(("the", "bird", "the")), model_history(("a", "the"))
        assert np.array_equal(one.token_vectors[0], one.token_vectors[2])
        assert np.array_equal(one.token_vectors[0], other.token_vectors[1])
        assert not np.array_equal(one.token_vectors[0], one.token_vectors[1])

    def test_another_last_word_changes_only_what_reads_it(self):
        before, after = model_history(("the", "bird")), model_history(("the", "wall"))
        forward = slice(None, history.STATE_WIDTH)
        assert np.array_equal(before.earlier.encoder_states[0], after.earlier.encoder_states[0])
        assert np.array_equal(
            before.bridge.annotations[0, forward], after.bridge.annotations[0, forward]
        )
        assert np.array_equal(
            before.transformer.head.query[0, 0], after.transformer.head.query[0, 0]
        )
        for role in ("bridge", "transformer"):
            weights = [getattr(told, role).weights[0] for told in (before, after)]
            assert not np.array_equal(*weights)

    def test_all_three_models_read_the_same_token_vectors(self, monkeypatch):
        read = []
        for name in ("fixed_context", "additive_alignment", "self_attention"):
            model = getattr(history, name)

            def recorded(vectors, *steps, model=model, **weights):
                read.append(vectors)
                return model(vectors, *steps, **weights)

            monkeypatch.setattr(history, name, recorded)
        told = model_history()
        assert len(read) == 3
        assert all(vectors is told.token_vectors for vectors in read)

    def test_a_replay_is_the_same_to_the_last_bit_and_another_seed_is_not(self):
        first, again, other = (model_history(seed=seed) for seed in (4, 4, 5))
        for role, name in [
            ("earlier", "decoder_states"),
            ("bridge", "decoder_states"),
            ("transformer", "output"),
        ]:
            arrays = [getattr(getattr(told, role), name) for told in (first, again, other)]
            assert arrays[0].tobytes() == arrays[1].tobytes()
            assert not np.array_equal(arrays[0], arrays[2])

    def test_every_record_is_frozen_and_its_arrays_are_read_only(self):
        told = model_history()
        records = [told, told.earlier, told.earlier.encoder, told.bridge, told.transformer]
        arrays = []
        for record in records:
            entries = record._asdict() if isinstance(record, tuple) else vars(record)
            for name, entry in entries.items():
                arrays += [entry] if isinstance(entry, np.ndarray) else []
                with pytest.raises((FrozenInstanceError, AttributeError)):
                    setattr(record, name, entry)
        assert len(arrays) == 13
        assert not any(array.flags.writeable for array in arrays)

    def test_the_callers_vectors_are_neither_changed_nor_kept(self):
        vectors = VECTORS.copy()
        run = additive_alignment(vectors, S, **ADDITIVE)
        assert np.array_equal(vectors, VECTORS)
        kept = run.annotations.copy()
        vectors[:] = 0
        assert np.array_equal(run.annotations, kept)


class TestRefusals:
    @pytest.mark.parametrize("tokens", [(), [], "birds", ("birds", 3)])
    def test_tokens_that_are_no_words_are_refused(self, tokens):
        with pytest.raises(ValueError, match=r"tokens must be .*, got .*: pass a tuple") as refusal:
            model_history(tokens)
        assert repr(tokens) in str(refusal.value) or repr(tuple(tokens)) in str(refusal.value)

    @pytest.mark.parametrize("steps", [0, -1, 1.5, "2", None])
    def test_fewer_than_one_step_is_refused(self, steps):
        with pytest.raises(
            ValueError, match=r"steps must be a whole number.*: try steps=1"
        ) as refusal:
            model_history(steps=steps)
        assert f"got {steps!r}" in str(refusal.value)

    def test_a_numpy_integer_is_a_number_of_steps(self):
        assert len(model_history(steps=np.int64(3)).bridge.weights) == 3

    @pytest.mark.parametrize("shape", [(T, D + 1), (0, D), (D,), (1, T, D)])
    @pytest.mark.parametrize(
        "run",
        [
            lambda x: fixed_context(x, S, **FIXED),
            lambda x: additive_alignment(x, S, **ADDITIVE),
            lambda x: self_attention(x, **PROJECTIONS),
        ],
        ids=["fixed context", "additive alignment", "self-attention"],
    )
    def test_vectors_that_the_weights_cannot_read_are_refused(self, run, shape):
        with pytest.raises(ValueError, match="pass one row of 5 numbers for each token") as refusal:
            run(np.zeros(shape))
        assert f"got {shape}" in str(refusal.value)
        assert "token_vectors must be [tokens, 5]" in str(refusal.value)
