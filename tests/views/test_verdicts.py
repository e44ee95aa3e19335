"""A verdict says where to look first, folds the numbers, and shows nobody's markup as markup."""

import numpy as np
import pytest

from attnlib.lessons.checking.verdicts import Counterexample, Verdict
from attnlib.lessons.contrasts import contrast, pair
from attnlib.lessons.mistakes import CATALOGUE, load
from attnlib.views import style
from attnlib.views.pairs import pair_sentence, pair_tables
from attnlib.views.signs import signs_page
from attnlib.views.verdicts import mistake_page, verdict_page
from tests.views.reading import ATTRIBUTES, TAGS, Page, six

RIGHT = np.array([[[0.25, 0.75], [0.5, 0.5]]])
CAME = np.array([[[0.25, 0.75], [0.75, 0.25]]])
INPUTS = {name: np.array([[[1.0, 2.0], [0.0, 1.0]]]) for name in ("query", "key", "value")}
HOSTILE = "<script>alert('1')</script> <img src=x onerror=alert(1)> & <b>"
TEXTS = ("message", "title", "question", "paragraph", "printed")


def example(stage="weights", expected=RIGHT, got=CAME, inputs=INPUTS, said="", index=None):
    return Counterexample("small", inputs, stage, expected, got, index, said)


def wrong(**changes):
    found = {
        "message": "the sums over the keys are not 1",
        "mistake": "softmax-over-queries",
        "stage": "weights",
        "title": "The softmax runs over the queries",
        "question": "Who shares out a total of 1?",
        "paragraph": "The mend: use `axis=2`.",
        "counterexample": example(),
        "hints": (
            "Look at the weights.",
            "Who shares out a total of 1?",
            "Add up a row.",
            "The softmax runs over the queries",
            "The mend: use `axis=2`.",
        ),
    }
    return Verdict(False, **{**found, **changes})


def read(verdict):
    return Page(verdict_page(verdict).html)


def test_the_stage_comes_first_then_the_symptom_then_the_question():
    text = read(wrong()).text
    order = [
        "Not right yet",
        "weights",
        "the sums over the keys",
        "Who shares",
        "Hint 1",
        "the name of",
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places)


def test_hints_name_and_numbers_are_folded_and_the_question_is_asked_once():
    page = read(wrong())
    assert page.folds == [False] * 4
    for words in ("Hint 1", "Hint 2: the name of the mistake", "Hint 3: the mend", "The numbers"):
        assert words in page.text
    assert page.text.count("Who shares out a total of 1?") == 1
    html = verdict_page(wrong()).html
    start = html.index("<details")
    assert html.index("<table") > start
    assert html.index("softmax-over-queries") > start


def test_the_departing_cells_and_no_others_are_framed_and_told():
    page = read(wrong())
    right, came = (table for table in page.tables if table.title == "Weights")
    assert [row[:2] for row in right.texts] == [[six(x) for x in row] for row in RIGHT[0]]
    assert [row[:2] for row in came.texts] == [[six(x) for x in row] for row in CAME[0]]
    framed = [[style.CHOSEN_MARK in css for css in row[:2]] for row in came.styles]
    assert framed == [[False, False], [True, True]]
    assert not any(style.CHOSEN_MARK in css for row in right.styles for css in row)
    assert (came.rows, came.columns[:2]) == (["q₀", "q₁"], ["k₀", "k₁"])
    assert "2 of 4 depart, first q₁, k₀: 0.750000 where 0.500000 is right" in page.text
    assert [row[2] for row in came.texts] == [six(1)] * 2


def test_a_right_verdict_has_nothing_to_unfold():
    page = read(Verdict(True, "Right: it agrees on every input.", remarks=("it is slow",)))
    assert page.text.startswith("Right: it agrees on every input.")
    assert "Remark: it is slow" in page.text
    assert page.folds == []


def test_what_was_not_attempted_says_this_and_what_to_do():
    shown = verdict_page(Verdict(False, "Not attempted yet.", attempted=False))
    page = Page(shown.html)
    assert page.text.startswith("Not attempted yet. Put your own code")
    assert repr(shown).startswith("Not attempted yet. Put your own code")
    assert page.folds == page.tables == []


def test_as_text_it_is_the_verdicts_own():
    assert repr(verdict_page(wrong())) == repr(wrong())


@pytest.mark.parametrize("name", TEXTS)
def test_whatever_a_hand_in_says_is_shown_as_text(name):
    page = read(wrong(**{name: HOSTILE}))
    assert HOSTILE in page.text
    assert page.tags <= TAGS


def test_hints_remarks_and_errors_are_shown_as_text_too():
    told = example(got=None, said=HOSTILE, inputs={**INPUTS, HOSTILE: RIGHT})
    page = read(wrong(hints=(HOSTILE,), remarks=(HOSTILE,), also=(HOSTILE,), counterexample=told))
    assert page.text.count(HOSTILE) >= 4
    assert page.tags <= TAGS
    assert page.attributes <= ATTRIBUTES


@pytest.mark.parametrize(
    "found",
    [
        example(got=None),
        example(expected=None),
        example(got=RIGHT[:, :, 0]),
        example(got=np.float64(3)),
        example(stage="call"),
        example(expected=RIGHT[:0], got=RIGHT[:0], inputs={"query": RIGHT[:0]}),
        example(got=RIGHT * np.nan),
        example(got=RIGHT * np.inf),
        example(stage="query", inputs={**INPUTS, "grad_output": RIGHT}),
        example(stage="output", expected=np.ones((2, 9, 9)), got=np.zeros((2, 9, 9))),
    ],
    ids=str,
)
def test_any_counterexample_can_be_shown(found):
    page = read(wrong(counterexample=found))
    assert "On the input small" in page.text
    assert page.tags <= TAGS
    assert page.attributes <= ATTRIBUTES


def test_a_gradient_is_named_as_one():
    found = example(stage="query", inputs={**INPUTS, "grad_output": RIGHT})
    titles = [table.title for table in read(wrong(counterexample=found)).tables]
    assert titles == ["Q", "K", "V", "dOutput", "dQ", "dQ"]


def test_every_page_has_a_paper_of_its_own():
    for page in (verdict_page(wrong()), mistake_page(load("scale-missing")), signs_page("forward")):
        first = page.html[: page.html.index(">")]
        assert f"background:{style.PAPER}" in first
        assert f"color:{style.INK}" in first


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_mistake_of_the_catalogue_has_its_page(name):
    shown = mistake_page(load(name))
    page = Page(shown.html)
    for words in (CATALOGUE[name].title, name, contrast(load(name)).fixture.name):
        assert words in page.text
    assert page.folds == [False]
    assert page.tags <= TAGS
    assert page.attributes <= ATTRIBUTES
    assert shown.description.startswith(f"{CATALOGUE[name].title} ({name}).")


def test_a_softmax_over_the_queries_is_given_away_by_its_sums():
    page = Page(mistake_page(load("softmax-over-queries")).html)
    right, came = (table for table in page.tables if table.title == "Weights")
    assert {row[-1] for row in right.texts} == {"1.000"}
    assert {row[-1] for row in came.texts} != {"1.000"}
    for column in range(len(came.texts)):
        assert abs(sum(float(row[column]) for row in came.texts) - 1) < 2e-3
    assert "Raw scores: no entry departs." in page.text


def test_numbers_that_would_read_the_same_get_more_digits():
    close = pair("output", RIGHT, RIGHT + 1e-5)
    assert "0.25001 where 0.25000 is right" in pair_sentence(close, 3)
    assert "0.25001" in Page(pair_tables(close, 3)).tables[1].texts[0]


def test_the_item_of_a_batch_that_departs_is_the_one_that_is_shown():
    expected = np.stack([RIGHT[0], RIGHT[0]])
    table = Page(pair_tables(pair("weights", expected, np.stack([RIGHT[0], CAME[0]])))).tables[1]
    assert table.texts[1][0] == six(0.75)
    assert "first q₁, k₀ of batch item 1" in pair_sentence(
        pair("weights", expected, np.stack([RIGHT[0], CAME[0]]))
    )


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_the_page_of_signs_lists_every_mistake_of_its_direction(direction):
    shown = signs_page(direction)
    page = Page(shown.html)
    (table,) = page.tables
    listed = [mistake for mistake in CATALOGUE.values() if mistake.direction == direction]
    assert table.rows == [mistake.id for mistake in listed]
    assert [row[1] for row in table.texts] == [mistake.signature for mistake in listed]
    assert page.folds == [False]
    assert len(shown.description.splitlines()) == len(listed)
    assert page.tags <= TAGS
    assert page.attributes <= ATTRIBUTES
