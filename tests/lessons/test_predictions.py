"""A prediction gets a verdict: right, wrong by a name, wrong, or not answered yet."""

import numpy as np
import pytest

from attnlib.lessons import predictions
from tests.authority import WORKED, columns, times

QUERY, KEY = WORKED[0][0].tolist(), WORKED[1][0].tolist()
RIGHT = {
    "raw-scores": times(QUERY, columns(KEY)),
    "favoured-keys": [1, 0],
    "output-shape": [4, 7, 5],
}


@pytest.mark.parametrize("name", predictions.NAMES)
class TestEveryQuestion:
    def test_an_unanswered_one_says_so_and_raises_nothing(self, name):
        verdict = predictions.answer(name)
        assert verdict.passed is None
        assert repr(verdict).endswith("Not answered yet.")

    def test_the_right_answer_passes_with_the_reasoning(self, name):
        verdict = predictions.answer(name, RIGHT[name])
        assert verdict.passed
        assert verdict.message.startswith("Right. ")
        assert predictions.answer(name, np.array(RIGHT[name], dtype=np.float32)).passed

    def test_one_wrong_number_does_not_pass(self, name):
        wrong = np.array(RIGHT[name], dtype=float)
        wrong.flat[0] += 0.01
        assert predictions.answer(name, wrong).passed is False

    @pytest.mark.parametrize("value", ["six", {}, [[1], [2, 3]], 7, [], object(), [np.nan] * 3])
    def test_an_answer_of_any_kind_gets_a_verdict(self, name, value):
        verdict = predictions.answer(name, value)
        assert verdict.passed is False
        assert verdict.message.startswith("Not yet: ")

    def test_its_misconceptions_are_wrong_and_differ_from_each_other(self, name):
        question = predictions.QUESTIONS[name]()
        answers = [question.right, *question.misconceptions.values()]
        texts = [str(np.round(answer, 2).tolist()) for answer in answers]
        assert len(texts) == len(set(texts)) > 1


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("raw-scores", [[0, 6], [6, 4]], "1 of 4"),
        ("raw-scores", times(QUERY, KEY), "Q times K as it stands"),
        ("raw-scores", [[0, 4.243], [4.243, -2.828]], "already divided"),
        ("favoured-keys", [0, 1], "smallest scores"),
        ("output-shape", [4, 7, 3], "shape of the queries"),
        ("output-shape", [4, 7, 7], "shape of the weights"),
    ],
)
def test_a_known_mistake_is_named(name, value, hint):
    assert hint in predictions.answer(name, value).message


def test_an_unknown_question_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"no question 'colour'.*raw-scores"):
        predictions.answer("colour")
