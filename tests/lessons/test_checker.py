"""The check of a forward hand-in: what a verdict says, in which order, and on which input."""

import numpy as np
import pytest

from attnlib.lessons.checker import Verdict, check_forward
from attnlib.lessons.checking.fixtures import FIXTURES, MAIN, SQUARE, part, right
from attnlib.lessons.mistakes import CATALOGUE
from tests import authority


def softmax(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def raw(query, key):
    return query @ key.swapaxes(1, 2)


def root(query):
    return np.sqrt(query.shape[-1])


def weights(query, key):
    return softmax(raw(query, key) / root(query))


def head(query, key, value):
    return weights(query, key) @ value


def unscaled(query, key, value):
    return softmax(raw(query, key)) @ value


def flat(verdict):
    """The text of a verdict without its line breaks."""
    return repr(verdict).replace("\n  ", " ")


class TestTheFixtures:
    @pytest.mark.parametrize(
        "fixture", [f for f in FIXTURES if f.size], ids=lambda fixture: fixture.name
    )
    def test_their_right_answers_are_those_of_the_slow_head(self, fixture):
        slow = authority.slow_head(*fixture.inputs, fixture.grad_output)
        for stage in ("raw_scores", "scaled_scores", "weights", "output"):
            error = 1e-6 if fixture.query.dtype == np.float32 else 1e-14
            got = np.asarray(getattr(right(fixture), stage), dtype=float)
            authority.assert_near(got, getattr(slow, stage), error)

    def test_the_main_one_has_no_two_sizes_alike_and_the_square_one_no_two_apart(self):
        assert len({*MAIN.query.shape, MAIN.value.shape[2]}) == 4
        assert len({*SQUARE.query.shape, SQUARE.value.shape[2]}) == 1

    def test_a_part_holds_the_first_items_tokens_and_features(self):
        small = part(MAIN, items=1, tokens=2, width=3, value_width=1)
        np.testing.assert_array_equal(small.key, MAIN.key[:1, :2, :3])
        np.testing.assert_array_equal(small.grad_output, MAIN.grad_output[:1, :2, :1])


class TestARightHandIn:
    @pytest.mark.parametrize(
        "hand_in",
        [
            head,
            lambda q, k, v: (head(q, k, v), weights(q, k)),
            lambda q, k, v: [head(q, k, v), weights(q, k)],
            lambda q, k, v: {"weights": weights(q, k)},
            lambda q, k, v: {"probabilities": weights(q, k), "dot_products": raw(q, k)},
            lambda q, k, v: head(q, k, v).tolist(),
        ],
        ids=["output", "pair", "list of two", "weights alone", "other names", "nested lists"],
    )
    def test_passes_in_every_form(self, hand_in):
        verdict = check_forward(hand_in)
        assert isinstance(verdict, Verdict)
        assert verdict.passed
        assert verdict
        assert (verdict.mistake, verdict.stage, verdict.counterexample) == (None, None, None)
        assert repr(verdict).startswith("Right")

    @pytest.mark.parametrize(
        ("stages", "hand_in"),
        [
            ("raw_scores", lambda q, k, v: raw(q, k)),
            ("scaled_scores", lambda q, k, v: raw(q, k) / root(q)),
            (["weights"], lambda q, k, v: weights(q, k)),
            (("raw_scores", "weights"), lambda q, k, v: (raw(q, k), weights(q, k))),
            (("weights", "output"), lambda q, k, v: (weights(q, k), head(q, k, v))),
        ],
    )
    def test_may_stop_at_a_stage_that_is_named(self, stages, hand_in):
        assert check_forward(hand_in, stages=stages).passed

    def test_a_wrong_stage_is_named_there_too(self):
        verdict = check_forward(lambda q, k, v: raw(q, k), stages="scaled_scores")
        assert verdict.mistake == "scale-missing"
        verdict = check_forward(lambda q, k, v: raw(k, q), stages="raw_scores")
        assert verdict.mistake == "query-key-exchanged"

    def test_a_refused_empty_batch_is_a_remark(self):
        def stacked(query, key, value):
            items = zip(query, key, value, strict=True)
            return np.stack([head(*(array[None] for array in item))[0] for item in items])

        verdict = check_forward(stacked)
        assert verdict.passed
        assert "empty batch" in flat(verdict)

    @pytest.mark.parametrize("container", [tuple, list])
    def test_may_be_one_matrix_for_each_item(self, container):
        def items(query, key, value):
            made = zip(query, key, value, strict=True)
            return container(head(*(array[None] for array in item))[0] for item in made)

        assert check_forward(items).passed

    def test_scores_that_are_already_scaled_are_a_remark(self):
        def scaled_first(query, key, value):
            return {"raw_scores": raw(query / root(query), key), "output": head(query, key, value)}

        verdict = check_forward(scaled_first)
        assert verdict.passed
        assert "already scaled" in flat(verdict)

    def test_a_stage_that_does_not_matter_is_a_remark(self):
        turned = check_forward(lambda q, k, v: (head(q, k, v), weights(q, k).swapaxes(1, 2)))
        assert turned.passed
        assert flat(turned).startswith("Right: the output agrees")
        assert "axes are in the order (0, 2, 1)" in flat(turned)

    def test_logarithms_of_the_weights_are_a_remark(self):
        verdict = check_forward(lambda q, k, v: (head(q, k, v), np.log(weights(q, k))))
        assert verdict.passed
        assert "logarithms" in flat(verdict)


class TestTolerance:
    @pytest.mark.parametrize(
        ("dtype", "error", "passed"),
        [(np.float32, 3e-6, True), (np.float32, 1e-3, False), (np.float64, 1e-4, False)],
    )
    def test_follows_the_type_of_what_was_returned(self, dtype, error, passed):
        def near(query, key, value):
            return ((1 + error) * head(query, key, value)).astype(dtype)

        assert check_forward(near).passed is passed

    def test_single_precision_in_a_wider_type_is_a_remark(self):
        def narrow_inside(query, key, value):
            return head(*(x.astype(np.float32) for x in (query, key, value))).astype(float)

        verdict = check_forward(narrow_inside)
        assert verdict.passed
        assert "single precision" in flat(verdict)

    def test_half_precision_is_named(self):
        def half(query, key, value):
            return head(query, key, value).astype(np.float16).astype(float)

        assert check_forward(half).mistake == "half-precision"

    def test_cut_off_digits_are_told(self):
        verdict = check_forward(lambda *inputs: head(*inputs).round(3))
        assert not verdict.passed
        assert "rounded to 3 decimals" in flat(verdict)


class TestTheTextOfAVerdict:
    def test_the_stage_the_symptom_and_the_question_come_before_the_name(self):
        text = flat(check_forward(unscaled))
        mistake = CATALOGUE["scale-missing"]
        order = ["scaled scores", mistake.signature, mistake.question, mistake.id]
        places = [text.index(part) for part in order]
        assert places == sorted(places)

    def test_the_numbers_and_the_mend_come_only_when_asked_for(self):
        verdict = check_forward(unscaled)
        example = verdict.counterexample
        shown = f"{example.expected[example.index]:.6g}"
        assert shown not in repr(verdict)
        assert shown in verdict.explain()
        mend = CATALOGUE["scale-missing"].paragraph.split(". ")[-1].split()[0]
        assert mend in verdict.explain()
        assert repr(verdict.explain()) == str(verdict.explain())

    @pytest.mark.parametrize("id", ["scale-missing", "argument-ignored", "returns-weights"])
    def test_the_name_stands_within_a_sentence(self, id):
        title = CATALOGUE[id].title
        assert f"{id} ({title[0].lower()}{title[1:]})" in flat(check_forward(CATALOGUE[id].head))

    def test_the_hints_go_from_vague_to_plain(self):
        hints = check_forward(unscaled).hints
        assert "scaled scores" in hints[0]
        assert hints[-1] == CATALOGUE["scale-missing"].paragraph

    def test_it_is_the_same_each_time_and_whatever_is_random_elsewhere(self):
        first = check_forward(unscaled)
        np.random.seed(12)  # noqa: NPY002
        assert repr(check_forward(unscaled)) == repr(first)
        assert check_forward(unscaled).explain() == first.explain()


class TestTheCounterexample:
    @pytest.mark.parametrize(
        "hand_in",
        [unscaled, lambda q, k, v: head(k, q, v), lambda q, k, v: softmax(raw(q, k), 1) @ v],
    )
    def test_holds_what_is_right_and_what_the_hand_in_gives(self, hand_in):
        example = check_forward(hand_in).counterexample
        inputs = [example.inputs[name] for name in ("query", "key", "value")]
        expected = authority.slow_head(*inputs, np.zeros_like(inputs[2])).output
        authority.assert_near(example.expected, expected, 1e-14)
        np.testing.assert_array_equal(example.got, hand_in(*inputs))
        assert example.departing[example.index]

    def test_is_small(self):
        example = check_forward(unscaled).counterexample
        # With one token, or d_k = 1, a missing scale changes nothing.
        assert example.inputs["query"].shape == (1, 2, 2)
        assert example.inputs["value"].shape == (1, 2, 1)

    def test_shows_the_stage_that_departs_where_it_was_handed_in(self):
        verdict = check_forward(CATALOGUE["scale-missing"].head)
        assert verdict.counterexample.stage == "scaled_scores"

    def test_says_what_was_raised_where_nothing_was_returned(self):
        def careless(query, key, value):
            return head(query, key, value)[:, 5]

        verdict = check_forward(careless)
        assert verdict.mistake == "raises"
        assert verdict.counterexample.got is None
        assert "IndexError" in verdict.explain()


def all_stages(query, key, value):
    made = {"raw_scores": raw(query, key)}
    made["scaled_scores"] = made["raw_scores"] / root(query)
    made["weights"] = softmax(made["scaled_scores"])
    made["output"] = made["weights"] @ value
    return made


class TestTheFirstStageThatDepartsAndMatters:
    def test_a_softmax_of_raw_scores_is_told_from_a_missing_scale_by_the_stages(self):
        def dead_scale(query, key, value):
            spoiled = softmax(raw(query, key))
            return all_stages(query, key, value) | {"weights": spoiled, "output": spoiled @ value}

        assert check_forward(dead_scale).mistake == "softmax-on-raw-scores"
        assert check_forward(dead_scale).stage == "weights"
        output_alone = check_forward(lambda *inputs: dead_scale(*inputs)["output"])
        assert output_alone.mistake == "scale-missing"
        assert output_alone.also == ("softmax-on-raw-scores",)
        assert "softmax-on-raw-scores" in flat(output_alone)

    def test_a_stage_before_it_that_does_not_matter_is_passed_over(self):
        def hand_in(query, key, value):
            spoiled = softmax(raw(query, key) / root(query), axis=1)
            made = all_stages(query, key, value)
            made["raw_scores"] = raw(query / root(query), key)
            return made | {"weights": spoiled, "output": spoiled @ value}

        verdict = check_forward(hand_in)
        assert (verdict.mistake, verdict.stage) == ("softmax-over-queries", "weights")
        assert "already scaled" in flat(verdict)


class TestTwoMistakes:
    @pytest.mark.parametrize(
        ("hand_in", "first", "second"),
        [
            (lambda q, k, v: softmax(raw(q, k), 1) @ v, "scale-missing", "softmax-over-queries"),
            (lambda q, k, v: softmax(raw(k, q)) @ v, "query-key-exchanged", "scale-missing"),
            (
                lambda q, k, v: softmax(weights(q, k)).swapaxes(1, 2) @ v,
                "softmax-twice",
                "weights-transposed",
            ),
            (
                lambda q, k, v: softmax(raw(q, k)) @ v.swapaxes(1, 2),
                "scale-missing",
                "value-transposed",
            ),
            (lambda q, k, v: softmax(raw(q, k)) @ q, "scale-missing", "value-is-query"),
            (
                lambda q, k, v: softmax(raw(q, k) / -q.shape[2]) @ v,
                "scale-by-width",
                "sign-flipped",
            ),
            (
                lambda q, k, v: softmax(raw(q, k) / root(q), 1) @ v.swapaxes(1, 2),
                "softmax-over-queries",
                "value-transposed",
            ),
        ],
    )
    def test_the_first_is_named_and_the_second_told(self, hand_in, first, second):
        verdict = check_forward(hand_in)
        assert verdict.mistake == first
        assert verdict.more
        assert "More may follow" in flat(verdict)
        assert second in flat(verdict)

    def test_with_the_stages_handed_in_the_first_is_named_alone(self):
        def hand_in(query, key, value):
            scores = raw(query, key)
            strange = softmax(scores) ** 2
            made = {"raw_scores": scores, "scaled_scores": scores, "weights": strange}
            return made | {"output": strange @ value}

        verdict = check_forward(hand_in)
        assert (verdict.mistake, verdict.stage) == ("scale-missing", "scaled_scores")
        assert verdict.more

    def test_a_first_mistake_that_hides_where_sizes_are_equal_is_named_all_the_same(self):
        def hand_in(query, key, value):
            scores = raw(query, key)
            made = {"raw_scores": scores, "scaled_scores": scores / np.sqrt(value.shape[-1])}
            made["weights"] = softmax(made["scaled_scores"], axis=1)
            return made | {"output": made["weights"] @ value}

        verdict = check_forward(hand_in)
        assert (verdict.mistake, verdict.stage) == ("scale-wrong-width", "scaled_scores")
        assert verdict.more

    def test_a_softmax_that_overflows_as_well_does_not_hide_the_first(self):
        def hand_in(query, key, value):
            powers = np.exp(raw(query, key))
            return powers / powers.sum(axis=-1, keepdims=True) @ value

        verdict = check_forward(hand_in)
        assert verdict.mistake == "scale-missing"
        assert verdict.more


class TestAnUnknownMistake:
    @pytest.mark.parametrize(
        ("spoiled", "words"),
        [
            (lambda output: 3 * output, "times 3"),
            (lambda output: output / np.sqrt(7), "1/sqrt(7)"),
            (lambda output: output + 0.25, "plus 0.25"),
            (lambda output: output[:, ::-1], "queries are in the order (2, 1, 0)"),
            (lambda output: np.roll(output, 1, axis=2), "features are in the order (3, 0, 1, 2)"),
            (lambda output: output[::-1], "batch items are in the order (1, 0)"),
        ],
    )
    def test_what_is_regular_about_it_is_told(self, spoiled, words):
        verdict = check_forward(lambda *inputs: spoiled(head(*inputs)))
        assert not verdict.passed
        assert verdict.mistake is None
        assert verdict.stage == "output"
        assert words in flat(verdict)

    def test_arguments_in_another_order_are_told(self):
        wrong = check_forward(lambda query, key, value: head(query, value, key))
        assert "the arguments query, value, key" in flat(wrong)

    def test_hard_choices_and_missing_keys_show_in_the_mixture(self):
        def hardest(query, key, value):
            return np.eye(key.shape[1])[raw(query, key).argmax(axis=-1)] @ value

        assert "12 of 18 weights are 0" in flat(check_forward(hardest))
        squared = check_forward(lambda q, k, v: weights(q, k) ** 2 @ v)
        assert "weights that sum, for a query, to between" in flat(squared)
        assert "no mixture" in flat(check_forward(lambda *inputs: np.tanh(head(*inputs))))

    def test_where_and_by_how_much_is_told(self):
        def one_entry(query, key, value):
            output = head(query, key, value)
            output[-1:, -1:, -1:] += 0.125
            return output

        verdict = check_forward(one_entry)
        assert verdict.mistake is None
        assert "1 of 24 entries, most at (1, 2, 3), by 0.125" in flat(verdict)

    def test_the_stage_is_the_first_that_departs(self):
        def hand_in(query, key, value):
            spoiled = weights(query, key) ** 2
            return spoiled @ value, spoiled

        verdict = check_forward(hand_in)
        assert (verdict.mistake, verdict.stage) == (None, "weights")

    def test_weights_that_do_not_sum_to_one_are_told(self):
        def hand_in(query, key, value):
            spoiled = weights(query, key) + np.linspace(0, 1, key.shape[1])
            return spoiled @ value, spoiled

        assert "should sum to 1" in flat(check_forward(hand_in))


class TestWhatIsNamedByItsOwnProbe:
    @pytest.mark.parametrize("factor", [0.3, 1 / np.sqrt(77), 2.5])
    def test_any_constant_in_place_of_the_scale(self, factor):
        verdict = check_forward(lambda q, k, v: softmax(factor * raw(q, k)) @ v)
        assert verdict.mistake == "scale-wrong-width"
        assert f"{factor:.6g}" in flat(verdict)

    @pytest.mark.parametrize(("power", "words"), [(1, "5 = d_k^1"), (-2, "0.04 = d_k^-2")])
    def test_a_power_of_the_width_in_place_of_the_scale(self, power, words):
        hand_in = lambda q, k, v: softmax(raw(q, k) * q.shape[-1] ** power) @ v  # noqa: E731
        assert words in flat(check_forward(hand_in))

    def test_an_argument_that_makes_no_difference(self):
        leftover = np.random.default_rng(3).standard_normal((1, 1, 5))

        def hand_in(query, key, value):
            other = np.resize(leftover, key.shape)
            return head(query, other, value)

        verdict = check_forward(hand_in)
        assert verdict.mistake == "argument-ignored"
        assert "key" in verdict.message

    def test_an_argument_that_is_never_read(self):
        other = np.ones((1, 7, 2))
        verdict = check_forward(lambda query, key, value: head(query, other, value))
        assert verdict.mistake == "argument-ignored"
        assert "never reads key" in flat(verdict)

    def test_what_is_random(self):
        def dropout(query, key, value):
            made = weights(query, key)
            return made * (np.random.default_rng().random(made.shape) > 0.5) * 2 @ value

        assert check_forward(dropout).mistake == "dropout-active"

    def test_dropout_that_is_the_same_each_time(self):
        def dropout(query, key, value):
            kept = np.random.default_rng(8).random((*query.shape[:2], key.shape[1])) > 0.4
            return head(query, key, value), weights(query, key) * kept / 0.6

        verdict = check_forward(lambda *inputs: dict(weights=dropout(*inputs)[1]))
        assert verdict.mistake == "dropout-active"

    def test_a_buffer_of_whole_numbers(self):
        def hand_in(query, key, value):
            output = np.empty_like(value)
            output[...] = head(query, key, value)
            return output

        verdict = check_forward(hand_in)
        assert verdict.mistake == "integer-buffer"
        assert verdict.counterexample.inputs["value"].dtype.kind == "i"

    def test_an_input_that_is_changed_is_shown_before_and_after(self):
        def hand_in(query, key, value):
            query /= root(query)
            return softmax(raw(query, key)) @ value

        verdict = check_forward(hand_in)
        assert verdict.mistake == "input-modified"
        example = verdict.counterexample
        np.testing.assert_allclose(
            example.got * np.sqrt(example.got.shape[-1]), example.expected, rtol=1e-6
        )


class Tensor:
    """An array of another library, on which NumPy's functions are no use."""

    __array_ufunc__ = None

    def __init__(self, entries):
        self.entries = np.asarray(entries)
        self.shape = self.entries.shape

    def __matmul__(self, other):
        return Tensor(self.entries @ other.entries)

    def softmax(self):
        return Tensor(softmax(self.entries))

    def times(self, factor):
        return Tensor(self.entries * factor)

    def transposed(self):
        return Tensor(self.entries.swapaxes(1, 2))

    def detach(self):
        return self

    cpu = detach

    def numpy(self):
        return self.entries


class TestAnAdapter:
    def test_makes_the_hand_ins_own_arrays(self):
        def own(query, key, value):
            scores = (query @ key.transposed()).times(1 / np.sqrt(query.shape[-1]))
            return scores.softmax() @ value

        assert check_forward(own, adapter=Tensor).passed
        assert not check_forward(own).passed

    def test_names_a_mistake_in_them(self):
        def own(query, key, value):
            return (query @ key.transposed()).softmax() @ value

        assert check_forward(own, adapter=Tensor).mistake == "scale-missing"
