"""A question as a form: it tells nothing before a commit, and everything after it."""

import json
import logging
import threading

import numpy as np
import pytest

from attnlib.explorers import predictions
from attnlib.lessons import predictions as lessons
from tests.lessons.test_predictions import CHOICES, HOSTILE, NUMBERS, RIGHT, right_answer

SCORES = [[0, 6], [6, -4]]


def from_the_browser(form, value):
    """Send an answer as the form's button does: through JSON."""
    form._handle_custom_msg(json.loads(json.dumps({"commit": value})), [])


def as_typed(name):
    """The right answer as the browser sends it."""
    right = right_answer(name)
    return right if name in CHOICES else np.array(right, dtype=float).tolist()


@pytest.mark.parametrize("name", lessons.NAMES)
class TestEveryForm:
    def test_it_shows_the_question_and_that_it_is_not_answered(self, name):
        form = predictions.ask(name)
        assert form.text == lessons.question(name).text
        assert form.message == "Not answered yet."
        assert (form.passed, form.given, form.commits, form.reasoning) == (None, None, 0, "")

    def test_nothing_in_the_browser_tells_the_answer_before_a_commit(self, name):
        question = lessons.question(name)
        state = json.dumps(predictions.ask(name).get_state(), default=str, ensure_ascii=False)
        assert question.reasoning not in state
        for known in question.misconceptions:
            assert known.hint not in state
        keys = predictions.ask(name).keys
        assert not {"right", "answer", "misconceptions"} & set(keys)

    def test_the_right_answer_shows_the_reasoning(self, name):
        form = predictions.ask(name)
        from_the_browser(form, as_typed(name))
        assert form.passed is True
        assert form.message == f"Right. {lessons.question(name).reasoning}"
        assert (form.reasoning, form.commits) == ("", 1)

    def test_a_known_mistake_shows_its_name_and_keeps_the_reasoning_at_hand(self, name):
        question = lessons.question(name)
        for known in question.misconceptions:
            form = predictions.ask(name)
            wrong = known.answer
            if name in CHOICES:
                wrong = "abcdef"[list(question.options).index(wrong)]
            from_the_browser(form, wrong if name in CHOICES else np.asarray(wrong).tolist())
            assert form.passed is False
            assert form.message == f"Not yet ({known.name}): {known.hint}"
            assert form.reasoning == question.reasoning

    def test_the_same_form_takes_another_try(self, name):
        form = predictions.ask(name)
        from_the_browser(form, "f" if name in CHOICES else None)
        assert form.passed is False
        from_the_browser(form, as_typed(name))
        assert (form.passed, form.commits, form.given) == (True, 2, as_typed(name))

    def test_as_text_it_is_the_question_and_how_to_answer_without_widgets(self, name):
        lines = repr(predictions.ask(name)).splitlines()
        listing = lessons.question(name).listing.splitlines()
        assert lines[: len(listing)] == listing
        assert lines[len(listing)] == f"To answer in a cell: {lessons.in_a_cell(name)}"
        assert lines[len(listing) + 1 :] == ["Not answered yet."]

    def test_its_text_is_the_same_each_time_and_stands_whole_in_the_output(self, name):
        first, second = predictions.ask(name), predictions.ask(name)
        data, _ = first._repr_mimebundle_()
        assert data["text/plain"] == repr(first) == repr(second)
        assert first.model_id not in data["text/plain"]
        assert "application/vnd.jupyter.widget-view+json" in data


@pytest.mark.parametrize("name", NUMBERS)
def test_there_is_a_field_for_every_number(name):
    form, shape = predictions.ask(name), np.shape(RIGHT[name])
    assert form.options == []
    assert tuple(len(axis) for axis in (form.rows, form.columns) if axis) == shape


@pytest.mark.parametrize("name", CHOICES)
def test_there_is_a_button_for_every_option(name):
    form = predictions.ask(name)
    assert form.options == list(lessons.question(name).options.values())
    assert form.rows == form.columns == []


def test_fields_left_empty_are_counted():
    form = predictions.ask("raw-scores")
    from_the_browser(form, [[0, None], [6, None]])
    assert (form.passed, form.message) == (False, "Not yet: 2 numbers are missing.")
    from_the_browser(form, [[0, 6], [6, None]])
    assert (form.message, form.reasoning) == ("Not yet: 1 number is missing.", "")


def test_a_commit_with_nothing_chosen_says_so():
    form = predictions.ask("moved-key")
    from_the_browser(form, None)
    assert form.message == "Not yet: nothing is chosen; the answer is one letter, a to d."
    assert form.passed is False


@pytest.mark.parametrize("name", ["raw-scores", "moved-key", "score-spread"])
@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
def test_an_answer_of_any_kind_gets_a_verdict(name, value):
    form = predictions.ask(name)
    form.commit(value)
    assert form.passed is False
    assert form.message.startswith("Not yet")


@pytest.mark.parametrize("content", [{}, {"do": "undo"}, None, "commit", ["commit"]])
def test_a_message_that_is_no_answer_changes_nothing(content):
    form = predictions.ask("raw-scores")
    form._handle_custom_msg(content, [])
    assert (form.commits, form.message) == (0, "Not answered yet.")


def test_markup_in_an_answer_stays_text():
    form = predictions.ask("moved-key")
    from_the_browser(form, "<b>c</b>")
    assert form.message.endswith("yours is '<b>c</b>'.")
    script = form._esm
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write"):
        assert way not in script


def test_what_goes_wrong_in_judging_shows_in_the_form_and_in_the_log(monkeypatch, caplog):
    def fail(name, value):
        raise ZeroDivisionError("the scale is gone")

    monkeypatch.setattr(predictions, "answer", fail)
    form = predictions.ask("raw-scores")
    with caplog.at_level(logging.ERROR, logger="attnlib"):
        from_the_browser(form, SCORES)
    assert form.message == "This answer could not be judged: the scale is gone"
    assert (form.passed, form.commits) == (None, 1)
    assert "raw-scores" in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_answers_from_two_threads_leave_a_verdict_that_belongs_to_one_of_them():
    form = predictions.ask("score-spread")
    torn = []

    def commit(value):
        for _ in range(20):
            from_the_browser(form, value)
            with form._lock:
                if form.passed is not (form.given == 8) or form.passed is not (
                    form.message.startswith("Right")
                ):
                    torn.append((form.given, form.passed, form.message))

    threads = [threading.Thread(target=commit, args=(value,)) for value in (8, 64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert torn == []
    assert form.commits == 40


def test_the_last_verdict_is_what_a_form_reads_as_later():
    form = predictions.ask("raw-scores")
    from_the_browser(form, SCORES)
    assert repr(form).splitlines()[-1].startswith("Right. ")


def test_a_form_and_a_cell_judge_alike():
    assert predictions.answer is lessons.answer
    assert predictions.NAMES == lessons.NAMES


def test_an_unknown_question_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"no question 'colour'.*raw-scores"):
        predictions.ask("colour")
