"""A prediction gets a verdict: right, wrong by a name, wrong, or not answered yet."""

import numpy as np
import pytest

from attnlib.lessons import predictions
from attnlib.lessons.questions.kinds import Choice
from tests.authority import WORKED, columns, slow_head, times

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
