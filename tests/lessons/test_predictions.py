"""A prediction gets a verdict: right, wrong by a name, wrong, or not answered yet."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from attnlib.lessons import predictions
from attnlib.lessons.questions import mixing, opening, reaching, separating
from attnlib.lessons.questions.kinds import Choice, only
from tests.authority import WORKED, central_differences, columns, slow_head, softmax, times

QUERY, KEY, VALUE = (matrix[0].tolist() for matrix in WORKED[:3])
SLOW = slow_head(*WORKED)
TERM = [SLOW.weights[0, 0, 1] * feature for feature in VALUE[1]]

# Numbers come from the slow reference or by hand; an option is named by words of its own.
RIGHT = {
    "raw-scores": times(QUERY, columns(KEY)),
    "favoured-keys": [1, 0],
    "moved-key": "a column of the grid",
    "negative-score": "yet above 0",
    "normalized-axis": "over the keys",
    "shifted-scores": "stay as they are",
    "weighted-term": TERM,
    "output-range": "no, never",
    "probe-scaled": "less, but still more than a half",
    "score-spread": 8,
    "zeros-added": "the raw scores stay, the scaled scores move closer to 0",
    "scale-divisor": "flatter and flatter",
    "output-shape": [4, 7, 5],
    "one-token": [1, 5, -2],
    "swapped-tokens": "they change places too",
    "equal-keys": [0.5, 0.5],
    "batch-broadcast": "it refuses",
    "value-gradient": SLOW.grad_value[0],
    "score-gradient-sum": 0,
    "saturated-choice": "almost 0",
    "checked-entries": 12,
    "best-step": "1e-6",
    "pairs-counted": [0, 6 * 4, 6 * 6],
    "fixed-context-size": "keeps its size",
    "recurrent-or-grid": "additive alignment, step by step",
    "future-access": "query 0 reads token 1",
    "grid-memory": 16384**2 * 8 / 10**9,
    "larger-score": "multiplied by exp(m − m′)",
    "streaming-backward": "every weight can be computed again",
    "commonest-habit": "[CLS]",
    "changed-word": "all of them",
    "moved-operand": "the query of “it”",
    "weight-meaning": "how much the value of “animal” counts",
}
CHOICES = [name for name, right in RIGHT.items() if isinstance(right, str)]
NUMBERS = [name for name in RIGHT if name not in CHOICES]


def letter_of(name, words):
    """The letter of the one option that has these words."""
    lettered = predictions.question(name).lettered
    (letter,) = [letter for letter, option in lettered.items() if words in option]
    return letter


def right_answer(name):
    return letter_of(name, RIGHT[name]) if name in CHOICES else RIGHT[name]


class Unreadable:
    """An object that fails at whatever is done to it."""

    def __getattr__(self, name):
        raise RuntimeError("not for reading")

    def __repr__(self):
        raise RuntimeError("not for showing")


HOSTILE = {
    "words": "six",
    "a dict": {},
    "ragged": [[1], [2, 3]],
    "another number": 7,
    "nothing in brackets": [],
    "an object": object(),
    "an unreadable object": Unreadable(),
    "a complex number": 1j,
    "complex numbers": np.array([1j, 2]),
    "too many": np.ones((5, 5, 5)),
    "not numbers": [np.nan] * 3,
    "infinity": np.inf,
    "a huge integer": 10**400,
    "bytes": b"\xff",
    "nested without end": [[[[[[[[[1]]]]]]]]],
    "an ellipsis": ...,
    "markup": "<img src=x onerror=alert(1)>",
    "braces": "{text} {0}",
}


def test_the_questions_are_those_of_the_chapters():
    assert tuple(RIGHT) == predictions.NAMES


@pytest.mark.parametrize("name", RIGHT)
class TestEveryQuestion:
    def test_an_unanswered_one_says_so_and_raises_nothing(self, name):
        verdict = predictions.answer(name)
        assert verdict.passed is None
        assert verdict.reasoning == ""
        assert repr(verdict).endswith("\nNot answered yet.")
        lines = repr(verdict).splitlines()
        assert " ".join(lines).startswith(predictions.question(name).text)
        assert max(map(len, lines)) <= 88

    def test_the_right_answer_passes_with_the_reasoning(self, name):
        verdict = predictions.answer(name, right_answer(name))
        assert verdict.passed
        assert verdict.misconception is None
        assert verdict.message == f"Right. {verdict.reasoning}"
        assert len(verdict.reasoning) > 20

    @pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
    def test_an_answer_of_any_kind_gets_a_verdict(self, name, value):
        verdict = predictions.answer(name, value)
        assert verdict.passed is False
        assert verdict.message.startswith("Not yet")

    def test_each_misconception_is_recognized_by_name(self, name):
        question = predictions.question(name)
        for known in question.misconceptions:
            verdict = predictions.answer(name, known.answer)
            assert verdict.passed is False
            assert verdict.misconception == known.name
            assert verdict.message == f"Not yet ({known.name}): {known.hint}"
            assert verdict.reasoning == question.reasoning

    def test_its_misconceptions_have_names_of_their_own_and_do_not_tell_the_answer(self, name):
        question = predictions.question(name)
        names = [known.name for known in question.misconceptions]
        assert len(set(names)) == len(names) >= 2
        assert len({known.hint for known in question.misconceptions}) == len(names)
        assert question.reasoning not in [known.hint for known in question.misconceptions]

    def test_its_words_are_whole(self, name):
        question = predictions.question(name)
        hints = [known.hint for known in question.misconceptions]
        for words in (question.listing, question.reasoning, *hints):
            assert not set("{}<>$\\") & set(words)
        for sentence in (question.reasoning, *hints):
            assert sentence.endswith((".", "?"))

    def test_the_call_that_it_offers_runs_and_finds_the_answer_left_out(self, name):
        verdict = eval(predictions.in_a_cell(name), {"predictions": predictions})
        assert verdict.passed is False
        assert "missing" in verdict.message or "nothing is chosen" in verdict.message


@pytest.mark.parametrize("name", NUMBERS)
class TestNumbers:
    def test_one_wrong_number_does_not_pass(self, name):
        for index in np.ndindex(np.shape(RIGHT[name])):
            wrong = np.array(RIGHT[name], dtype=float)
            wrong[index] += 0.01
            assert predictions.answer(name, wrong).passed is False

    def test_two_decimals_and_single_precision_are_enough(self, name):
        right = np.array(RIGHT[name], dtype=np.float32)
        assert predictions.answer(name, right).passed
        assert predictions.answer(name, np.round(right.astype(float), 2).tolist()).passed

    def test_numbers_left_out_are_counted(self, name):
        whole = np.array(RIGHT[name], dtype=float)
        for count in range(1, whole.size + 1):
            part = whole.astype(object)
            part.flat[:count] = None
            nouns = "number is" if count == 1 else "numbers are"
            verdict = predictions.answer(name, part.tolist() if whole.ndim else ...)
            assert verdict.message == f"Not yet: {count} {nouns} missing."
            assert verdict.passed is False
            assert verdict.reasoning == ""

    def test_every_axis_has_a_name_for_each_of_its_places(self, name):
        question = predictions.question(name)
        named = tuple(len(axis) for axis in (question.rows, question.columns) if axis)
        assert named == question.right.shape == np.shape(RIGHT[name])

    def test_its_wrong_answers_differ_from_each_other_by_more_than_the_tolerance(self, name):
        question = predictions.question(name)
        answers = [question.right, *(known.answer for known in question.misconceptions)]
        for i, one in enumerate(answers):
            for other in answers[:i]:
                assert np.max(np.abs(one - other)) > 2 * predictions.TOLERANCE


@pytest.mark.parametrize("name", CHOICES)
class TestChoices:
    def test_every_option_but_the_right_one_is_a_misconception(self, name):
        question = predictions.question(name)
        assert isinstance(question, Choice)
        wrong = {known.answer for known in question.misconceptions}
        assert wrong == set(question.options) - {question.right}

    def test_a_letter_and_an_option_s_own_words_count_the_same(self, name):
        letter = right_answer(name)
        words = predictions.question(name).lettered[letter]
        for value in (letter, f" {letter.upper()} ", words, words.upper()):
            assert predictions.answer(name, value).passed

    def test_the_question_as_text_lists_its_options(self, name):
        lettered = predictions.question(name).lettered
        lines = repr(predictions.answer(name)).splitlines()[-1 - len(lettered) : -1]
        assert lines == [f"  {letter}. {words}" for letter, words in lettered.items()]

    def test_nothing_chosen_is_not_yet_an_answer(self, name):
        for value in ("", "  ", "...", ...):
            assert "nothing is chosen" in predictions.answer(name, value).message


def test_the_right_options_stand_at_no_place_by_rule():
    letters = [right_answer(name) for name in CHOICES]
    assert set(letters) == set("abcd")


class TestAgainstTheSlowReference:
    """What the right options say, seen once more without attnlib."""

    def test_a_key_that_moves_changes_the_scores_in_its_column(self):
        moved = [[KEY[0][0] + 1, KEY[0][1] + 1], KEY[1]]
        before, after = (np.array(times(QUERY, columns(key))) for key in (KEY, moved))
        assert (before != after).tolist() == [[True, False], [True, False]]

    def test_a_negative_score_has_a_small_weight_above_0(self):
        assert SLOW.raw_scores[0, 1, 1] < 0 < SLOW.weights[0, 1, 1] < SLOW.weights[0, 1, 0] / 100

    def test_weights_sum_to_1_over_the_keys_and_not_over_the_queries(self):
        assert SLOW.weights[0].sum(axis=1) == pytest.approx([1, 1])
        assert np.all(np.abs(SLOW.weights[0].sum(axis=0) - 1) > 0.01)

    def test_a_shift_of_all_scores_leaves_the_weights(self):
        scores = SLOW.scaled_scores[0, 0]
        assert softmax(scores + 5) == pytest.approx(softmax(scores))

    def test_the_probe_s_favoured_weight_falls_but_stays_above_a_half(self):
        assert 0.5 < softmax([1 / math.sqrt(2), 0])[0] < softmax([1, 0])[0]

    def test_the_spread_of_many_drawn_scores_is_near_8(self):
        query, key = np.random.default_rng(7).standard_normal((2, 20_000, 64))
        assert np.std(np.sum(query * key, axis=1)) == pytest.approx(8, rel=0.02)

    def test_zeros_leave_raw_scores_and_shrink_scaled_ones(self):
        wide = [np.pad(matrix, ((0, 0), (0, 0), (0, 4))) for matrix in WORKED[:2]]
        padded = slow_head(*wide, *WORKED[2:])
        assert np.array_equal(padded.raw_scores, SLOW.raw_scores)
        assert padded.scaled_scores * math.sqrt(6 / 2) == pytest.approx(SLOW.scaled_scores)

    def test_dividing_by_the_width_flattens_the_weights_as_it_grows(self):
        favoured = {}
        for width in (4, 64):
            query, key = np.random.default_rng(7).standard_normal((2, 200, 4, width))
            scores = np.einsum("nf,nkf->nk", query[:, 0], key)
            for divisor in (width, math.sqrt(width)):
                weights = [max(softmax(row / divisor)) for row in scores]
                favoured[width, divisor == width] = np.mean(weights)
        assert favoured[64, True] < favoured[4, True] < favoured[4, False]
        assert favoured[64, True] < 0.35 < favoured[64, False]

    def test_swapped_tokens_swap_the_outputs(self):
        swapped = slow_head(*(matrix[:, ::-1] for matrix in WORKED))
        assert swapped.output[:, ::-1] == pytest.approx(SLOW.output)

    def test_a_query_that_has_made_its_choice_gets_hardly_any_gradient(self):
        mild, sure = (
            np.abs(slow_head(factor * WORKED[0], *WORKED[1:]).grad_query[0, 1]).max()
            for factor in (0.25, 4)
        )
        assert sure < 1e-3 * mild

    def test_the_middle_step_is_the_most_exact(self):
        def loss(query):
            return np.sum(slow_head(query, *WORKED[1:]).output * WORKED[3])

        errors = {
            step: np.abs(central_differences(loss, WORKED[0], step) - SLOW.grad_query).max()
            for step in (1e-1, 1e-6, 1e-12)
        }
        assert min(errors, key=errors.get) == 1e-6


class TestPlantedMistakes:
    """The right answer follows what the head does: with another head it would be another."""

    def test_softmax_over_the_queries(self, monkeypatch):
        weights = np.array(
            [columns([softmax(column) for column in columns(SLOW.scaled_scores[0])])]
        )
        head = SimpleNamespace(scaled_scores=SLOW.scaled_scores, weights=weights)
        planted = SimpleNamespace(load=lambda name: SimpleNamespace(head=lambda: head))
        monkeypatch.setattr(mixing, "examples", planted)
        assert predictions.question("normalized-axis").right == "queries"
        assert predictions.answer("normalized-axis", "b").passed is False

    def test_keys_stretched_over_the_batch(self, monkeypatch):
        def planted(query, key, value):
            return SimpleNamespace(output=query @ key)

        monkeypatch.setattr(separating, "scaled_dot_product_self_attention", planted)
        assert predictions.question("batch-broadcast").right == "broadcast"

    def test_a_context_that_grows(self, monkeypatch):
        def planted(tokens, steps):
            return SimpleNamespace(earlier=SimpleNamespace(contexts=np.ones((steps, len(tokens)))))

        monkeypatch.setattr(reaching, "model_history", planted)
        assert predictions.question("fixed-context-size").right == "tenfold"

    def test_an_encoder_with_a_mask(self, monkeypatch):
        tokens = ("a", "b", "c", "d")
        layers = [np.tril(np.ones((1, 4, 4))), np.tril(np.ones((1, 4, 4)))]
        layers[1][0, 2:, 2] = 3
        before, after = (
            SimpleNamespace(
                tokens=words, layers=[SimpleNamespace(weights=x / x.sum(axis=-1, keepdims=True))]
            )
            for words, x in zip((tokens, (*tokens[:2], "x", "d")), layers, strict=True)
        )
        planted = {opening.TIRED: before, opening.WIDE: after}
        monkeypatch.setattr(opening, "_readings", lambda: planted)
        assert predictions.question("changed-word").right == "later"

    def test_an_ill_posed_question_would_be_seen(self):
        for holds in ({"one": True, "other": True}, {"one": False, "other": False}):
            with pytest.raises(ValueError, match="exactly one option must hold"):
                only(**holds)


@pytest.mark.parametrize(
    ("name", "value", "misconception"),
    [
        ("raw-scores", times(QUERY, KEY), "Q times K without the transpose"),
        ("raw-scores", [[0, 4.243], [4.243, -2.828]], "scaled scores"),
        ("raw-scores", [[0, 6], [6, 4]], "signs left out"),
        ("raw-scores", [[0, 0], [-2, -2]], "products not added up"),
        ("raw-scores", times(QUERY, columns(QUERY)), "queries against queries"),
        ("favoured-keys", [0, 1], "own key, or smallest score"),
        ("favoured-keys", [2, 1], "counted from 1"),
        ("weighted-term", SLOW.output[0, 0], "the whole mixture"),
        ("weighted-term", [0.042498, -0.042498], "the term of value 0"),
        ("weighted-term", [0.014, 0.042], "the other key's weight"),
        ("weighted-term", [1, 3], "value without its weight"),
        ("score-spread", 64, "variance instead of standard deviation"),
        ("score-spread", 1, "the spread of a scaled score"),
        ("score-spread", 0, "mean instead of spread"),
        ("output-shape", [4, 7, 3], "the shape of the queries"),
        ("output-shape", [4, 7, 7], "the shape of the weights"),
        ("output-shape", [4, 7, 8], "widths put side by side"),
        ("one-token", [0, 0, 0], "a token that skips itself"),
        ("one-token", [0.5, 2.5, -1], "half of the weight kept back"),
        ("equal-keys", [1, 0], "a hard choice"),
        ("equal-keys", [1, 1], "not normalized"),
        ("equal-keys", [0, 0], "keys that cancel each other"),
        ("value-gradient", SLOW.weights[0], "A without its transpose"),
        ("value-gradient", [[1, 0], [0, 1]], "the output's gradient handed on"),
        ("score-gradient-sum", 1, "the sum of the weights"),
        ("score-gradient-sum", sum(SLOW.grad_weights[0, 0]), "the sum of dA"),
        ("score-gradient-sum", SLOW.output[0, 0, 0], "mean of dA not taken off"),
        ("checked-entries", 4, "one input only"),
        ("checked-entries", 3, "one entry for each input"),
        ("checked-entries", 8, "V left out"),
        ("checked-entries", 24, "losses counted"),
        ("pairs-counted", [6, 24, 36], "reading taken for scoring"),
        ("pairs-counted", [24, 24, 36], "a fixed context that chooses"),
        ("pairs-counted", [0, 24, 30], "a token that skips itself"),
        ("pairs-counted", [0, 24, 21], "each pair counted once"),
        ("pairs-counted", [0, 24, 24], "decoder steps for queries"),
        ("normalized-axis", "a", "softmax over the queries"),
        ("best-step", "1e-12", "the smaller the better"),
        ("fixed-context-size", "a", "one state kept for each token"),
        ("commonest-habit", "c", "one encoder taken for all"),
        ("changed-word", "b", "a mask that isn't there"),
        ("moved-operand", "b", "what is read taken for what moved"),
        ("weight-meaning", "a", "a weight taken for a belief"),
    ],
)
def test_a_known_mistake_is_named(name, value, misconception):
    assert predictions.answer(name, value).misconception == misconception


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("raw-scores", [[0, 6], [6, 5]], "Not yet: 1 of 4 numbers differ. Look once more."),
        ("score-spread", 9, "Not yet: it differs. Look once more."),
        ("raw-scores", [0, 6, 6], "the answer is 2 rows of 2 numbers; yours is [0, 6, 6]."),
        ("output-shape", 7, "the answer is 3 whole numbers in a list; yours is 7."),
        ("checked-entries", [1, 2], "the answer is one whole number; yours is [1, 2]."),
        ("moved-key", "e", "the answer is one letter, a to d; yours is 'e'."),
        ("moved-key", 2, "the answer is one letter, a to d; yours is 2."),
        ("raw-scores", [[0, 6], [6]], "Not yet: 1 number is missing."),
        ("raw-scores", [], "Not yet: 4 numbers are missing."),
    ],
)
def test_any_other_answer_reads_what_is_wrong_with_it(name, value, message):
    verdict = predictions.answer(name, value)
    assert verdict.misconception is None
    assert verdict.message.endswith(message)


def test_a_single_number_may_come_in_brackets_or_as_text():
    assert predictions.answer("score-spread", [8]).passed
    assert predictions.answer("score-spread", "8.0").passed
    assert predictions.answer("score-spread", np.float32(8)).passed


def test_a_long_answer_is_not_repeated_whole():
    assert len(predictions.answer("raw-scores", "x" * 10**6).message) < 200


@pytest.mark.parametrize("name", ["colour", None, ["raw-scores"], 3])
def test_an_unknown_question_is_refused_with_those_there_are(name):
    with pytest.raises(ValueError, match=r"there is no question .*raw-scores.*future-access"):
        predictions.answer(name)
