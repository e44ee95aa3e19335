"""A number's journey shows every cell that it reaches, with its equation, there and back."""

import re

import pytest

from attnlib.lessons import examples
from attnlib.views import style
from attnlib.views.journey import STEPS, journey
from tests.views.reading import ATTRIBUTES, TAGS, Page, six


def followed(name, query, feature):
    example = examples.load(name)
    head = example.head()
    gradients = head.backward(example.grad_output)
    return journey(head, gradients, example.grad_output, query, feature), head, example


def results(page):
    """The number that ends each equation, step by step."""
    return [
        [equation.rsplit("= ", 1)[1] for equation in line.split(": ")[-1][:-1].split("; ")]
        for line in page.description.splitlines()[1:]
    ]


SMALL = [("worked-example", 0, 1), ("random", 2, 3), ("one-token", 0, 0)]


@pytest.mark.parametrize(("name", "query", "feature"), SMALL)
def test_each_step_ends_in_the_numbers_of_the_record(name, query, feature):
    page, head, example = followed(name, query, feature)
    gradients = head.backward(example.grad_output)
    arrays = [
        *(head.raw_scores, head.scaled_scores, head.weights, head.output, example.grad_output),
        *(gradients.weights, gradients.scaled_scores, gradients.raw_scores),
    ]
    expected = [[six(number) for number in array[0, query]] for array in arrays]
    ends = [[six(array[0, query, feature])] for array in (head.query, gradients.query)]
    assert results(page) == [ends[0], *expected, ends[1]]


def test_the_last_number_is_the_slope_that_central_differences_find():
    page, _, example = followed("random", 2, 3)
    assert results(page)[-1] == [six(slope(example, 2, 3))]


def slope(example, query, feature, step=1e-6):
    """The objective's slope for one entry of Q, from two heads."""
    totals = []
    for sign in (1, -1):
        moved = examples.load(example.name)
        moved.query[0, query, feature] += sign * step
        totals.append((moved.head().output * example.grad_output).sum())
    return (totals[0] - totals[1]) / (2 * step)


def test_each_role_keeps_its_border_and_says_it_in_words():
    page, _, _ = followed("worked-example", 0, 1)
    for role in ("query", "score", "probability"):
        assert f"border:{style.ROLES[role].css}" in page.html
        assert f"({style.ROLES[role].cue})" in page.html


def test_it_is_one_table_of_what_untrusted_notebooks_keep():
    page, _, _ = followed("worked-example", 0, 1)
    read = Page(page.html)
    assert read.tags <= TAGS
    assert read.attributes <= ATTRIBUTES
    table = read.table("The way of Q[q₀, 1]")
    assert table.rows == [str(position + 1) for position in range(len(STEPS))]
    assert table.columns == ["step", "what happens", "with these numbers"]
    assert not re.search(r"\bid=|aria-", page.html)


@pytest.mark.parametrize("place", [(2, 0), (0, 2), (-1, 0)])
def test_a_number_that_is_not_there_is_refused_with_those_that_are(place):
    with pytest.raises(ValueError, match="a query from 0 to 1 and a feature from 0 to 1"):
        followed("worked-example", *place)


def test_a_head_too_large_to_follow_is_refused():
    with pytest.raises(ValueError, match="take a smaller head"):
        followed("real-head", 0, 0)
