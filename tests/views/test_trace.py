"""The trace shows every number of every stage in its place, in HTML that survives untrusted."""

import math
import re

import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention
from attnlib.lessons import examples
from attnlib.views import style
from attnlib.views.trace import head_trace
from tests.authority import dot
from tests.views.reading import ATTRIBUTES, TAGS, Page, printed, six

SMALL = [name for name in examples.NAMES if name != "real-head"]
GRADIENTS = {
    "dWeights": "weights",
    "dScaled": "scaled_scores",
    "dRaw": "raw_scores",
    "dQ": "query",
    "dK": "key",
    "dV": "value",
}
STAGES = {
    "Q": "query",
    "K": "key",
    "V": "value",
    "Raw scores": "raw_scores",
    "Scaled scores": "scaled_scores",
    "Output": "output",
}


def traced(name, **options):
    example = examples.load(name)
    head = example.head()
    gradients = head.backward(example.grad_output)
    return head_trace(head, gradients, example.grad_output, **options), head, gradients, example


def normal(batch=1, tokens=2, key_width=2, value_width=2):
    draw = np.random.default_rng(7).standard_normal
    widths = (key_width, key_width, value_width)
    return scaled_dot_product_self_attention(*(draw((batch, tokens, width)) for width in widths))


def check_grids(html, head, gradients, grad_output, item=0):
    """Hold every grid of the page against the records."""
    page = Page(html)
    for title, name in STAGES.items():
        assert page.table(title).texts == printed(getattr(head, name)[item]), title
    weights = [[*row, row.sum()] for row in head.weights[item]]
    assert page.table("Weights").texts == printed(weights)
    assert page.table("dOutput").texts == printed(grad_output[item])
    for title, name in GRADIENTS.items():
        assert page.table(title).texts == printed(getattr(gradients, name)[item]), title


def check_account(html, head, query, item=0):
    """Hold one query's account, stage by stage, against arithmetic done here."""
    table = Page(html).table(f"Query q{'₀₁₂₃₄₅₆₇'[query]}")
    weights, value = head.weights[item, query], head.value[item]
    raw = [dot(head.query[item, query], key) for key in head.key[item]]
    root = math.sqrt(head.query.shape[2])
    expected = [
        [*map(six, raw), ""],
        [*(six(score / root) for score in raw), ""],
        [*map(six, weights), six(math.fsum(weights))],
    ]
    for feature in range(value.shape[1]):
        terms = weights * value[:, feature]
        expected.append([*map(six, terms), six(math.fsum(terms))])
    assert table.numbers == expected


def check_all(html, head, gradients, grad_output, item=0):
    """Hold a whole page of a small head against the records."""
    check_grids(html, head, gradients, grad_output, item)
    for query in range(head.query.shape[1]):
        check_account(html, head, query, item)


def evaluated(expression, **names):
    """The value of an equation as it is printed."""
    plain = expression.translate(str.maketrans("×÷\N{MINUS SIGN}\xa0", "*/- "))
    plain = re.sub("Z[₀-₉]", "Z", plain)
    return eval(plain, {"exp": math.exp, "__builtins__": {}}, names)


def written_in_account(table):
    """Each equation of one account with the number below it, as printed."""
    partition = evaluated(table.texts[1][-1].split("=")[1])
    for texts, numbers in zip(table.texts, table.numbers, strict=True):
        for text, number in zip(texts, numbers, strict=True):
            if number and text != number:
                yield text.removesuffix(number).rstrip("= \xa0"), number, partition


@pytest.mark.parametrize("name", examples.NAMES)
def test_a_page_is_well_formed_and_made_of_what_untrusted_notebooks_keep(name):
    page = Page(traced(name)[0].html)
    assert page.tags <= TAGS
    assert page.attributes <= ATTRIBUTES
    assert set(page.scopes) == {"row", "col"}
    for table in page.tables:
        assert table.caption
        assert len(table.rows) == len(table.texts)
        assert all(len(row) == len(table.columns) for row in table.texts)


@pytest.mark.parametrize("html", ["<div><p></div>", "<table>", "</b>"])
def test_a_tag_that_does_not_close_is_noticed(html):
    with pytest.raises(ValueError, match="clos"):
        Page(html)


@pytest.mark.parametrize("name", SMALL)
def test_every_number_of_every_stage_stands_in_its_cell(name):
    page, head, gradients, example = traced(name)
    check_all(page.html, head, gradients, example.grad_output)


@pytest.mark.parametrize("right", ["0.985834", "4.242641", "0.062847", "2.957502", "1.000000"])
def test_a_wrong_number_anywhere_is_noticed(right):
    page, head, gradients, example = traced("worked-example")
    places = [match.start() for match in re.finditer(rf">{right}<", page.html)]
    assert places
    for place in places:
        wrong = f"{page.html[:place]}>9.999999<{page.html[place + len(right) + 2 :]}"
        with pytest.raises(AssertionError):
            check_all(wrong, head, gradients, example.grad_output)


@pytest.mark.parametrize("name", SMALL)
def test_every_equation_of_an_account_gives_the_number_below_it(name):
    tables = [x for x in Page(traced(name)[0].html).tables if x.title.startswith("Query")]
    equations = [part for table in tables for part in written_in_account(table)]
    assert len(equations) > 4
    for written, number, partition in equations:
        result = evaluated(written, Z=partition)
        assert result == pytest.approx(evaluated(number), abs=3e-6, rel=1e-5), written


@pytest.mark.parametrize("name", SMALL)
def test_every_equation_of_the_way_back_gives_the_number_below_it(name):
    lines = [x[2:] for x in Page(traced(name)[0].html).lines if x.startswith("= ")]
    assert len(lines) == 14
    for written, number in zip(lines[::2], lines[1::2], strict=True):
        assert evaluated(written) == pytest.approx(evaluated(number), abs=2e-5), written


def test_the_worked_example_reads_as_a_person_would_write_it():
    page = Page(traced("worked-example")[0].html)
    text = page.text.replace("\xa0", " ")
    for equation in (
        "0 × (−1) + 3 × 2 =6.000000",
        "6 × 0.707107 =4.242641",
        "exp(4.242641) ÷ Z₀ =0.985834",
        "Z₀ = exp(0.000000) + exp(4.242641)",
        "0.014166 + 0.985834 =1.000000",
        "0.014166 × (−3) =−0.042498",
        "−0.042498 + 2.957502 =2.915004",
        "1 × 3 + 0 × (−3)= 3.000000",
        "= 0.014166 × (3 − (0.014166 × 3 + 0.985834 × 1))= 0.027931",
        "= −1.966576",
    ):
        assert equation in text
    assert "normalized over keys" in text
    assert "1 ÷ √2 = 0.707107" in text


def test_queries_are_rows_and_keys_are_columns_and_both_are_labelled():
    page = Page(traced("random")[0].html)
    for title in ("Raw scores", "Scaled scores", "dWeights", "dScaled", "dRaw"):
        assert page.table(title).rows == ["q₀", "q₁", "q₂"]
        assert page.table(title).columns == ["k₀", "k₁", "k₂"]
    assert page.table("Weights").columns == ["k₀", "k₁", "k₂", "sum over keys"]
    assert page.table("dK").rows == page.table("K").rows == ["k₀", "k₁", "k₂"]
    assert page.table("V").columns == page.table("Output").columns == ["feature 0", "feature 1"]


def test_each_role_is_told_by_its_border_and_by_a_word():
    page = Page(traced("worked-example")[0].html)
    roles = {
        "Q": "query",
        "K": "key",
        "V": "value",
        "Raw scores": "score",
        "Scaled scores": "score",
        "Weights": "probability",
    }
    for title, role in roles.items():
        table = page.table(title)
        assert style.ROLES[role].cue in table.caption
        assert style.ROLES[role].cue in page.text.split("1. What goes in")[0]
        assert all(style.ROLES[role].css in row[0] for row in table.styles)
    assert all("4px double" in row[0] for row in page.table("Weights").styles)


def test_every_cell_brings_its_own_paper_and_ink():
    for table in Page(traced("worked-example")[0].html).tables:
        for cell in (cell for row in table.styles for cell in row):
            assert f"background:{style.PAPER}" in cell
            assert f"color:{style.INK}" in cell


def test_a_weight_has_a_bar_of_its_own_length():
    html = traced("worked-example")[0].html
    assert [float(width) for width in re.findall(r'"width:([\d.]+)%', html)] == [
        1.4,
        98.6,
        99.9,
        0.1,
    ]


def test_without_gradients_the_way_back_is_left_out():
    head = examples.load("worked-example").head()
    page = head_trace(head)
    assert "way back" not in page.html
    assert "dQ" not in page.description


def test_the_description_holds_the_main_numbers_as_plain_text():
    page = traced("worked-example")[0]
    assert page.description.splitlines() == [
        "Batch item 0 of 1: T = 2 tokens, d_k = 2, d_v = 2. Scale 0.707107.",
        "q0: weights over keys [0.014166, 0.985834], output [1.028332, 2.915004].",
        "q1: weights over keys [0.999151, 0.000849], output [2.998303, -2.994908].",
        "Objective L = -1.966576.",
        "dQ: [0.079000, -0.039500] [-0.014389, 0.007195].",
        "dK: [-0.007195, 0.062847] [0.007195, -0.062847].",
        "dV: [0.014166, 0.999151] [0.985834, 0.000849].",
    ]
    assert repr(page) == page.description


def test_hostile_token_names_are_shown_and_not_obeyed():
    names = ("<script>alert(1)</script>", "\"><img src=x onerror='y'>&amp;")
    page = Page(traced("worked-example", tokens=names)[0].html)
    assert page.tags <= TAGS
    assert page.attributes <= ATTRIBUTES
    assert page.table("K").rows == [f"k₀ {names[0]}", f"k₁ {names[1]}"]


def test_another_batch_item_is_traced_as_if_it_were_alone():
    head = normal(batch=3, tokens=3, key_width=5, value_width=4)
    seed = np.random.default_rng(1).standard_normal(head.output.shape)
    grads = head.backward(seed)
    page = head_trace(head, grads, seed, item=2)
    check_all(page.html, head, grads, seed, item=2)
    assert "over all 3 batch items" in page.html


def test_a_large_head_is_folded_and_follows_one_query_across_all_its_keys():
    page, head, _, example = traced("real-head", item=3, query=5)
    read = Page(page.html)
    assert read.folds == [False] * 4
    shares = [table for table in read.tables if table.title.startswith("Weights")]
    assert {tuple(table.rows) for table in shares} == {("q₅",)}
    weights = [text for table in shares for text in table.texts[0]]
    assert weights == [*map(six, head.weights[3, 5]), "1.000000"]
    accounts = [table for table in read.tables if table.title.startswith("Query q₅")]
    terms = [number for table in accounts for number in table.numbers[3]]
    first = head.weights[3, 5] * head.value[3, :, 0]
    assert terms == [*map(six, first), six(head.output[3, 5, 0])]
    assert len(page.html) < 1_000_000
    named = Page(traced("real-head", tokens=example.tokens)[0].html)
    assert "k₂ animal" in [row for table in named.tables for row in table.rows]


@pytest.mark.parametrize("name", SMALL)
def test_a_small_head_is_unfolded(name):
    assert Page(traced(name)[0].html).folds == [True] * 4


@pytest.mark.parametrize("tokens", range(1, 10))
def test_no_table_has_more_columns_than_a_page_has_room_for(tokens):
    head = normal(tokens=tokens, key_width=tokens, value_width=tokens)
    assert all(len(table.columns) <= 6 for table in Page(head_trace(head).html).tables)


def test_numbers_far_from_one_are_shown_in_powers_of_ten():
    head = scaled_dot_product_self_attention(*([[[1e100, 100000.0]]],) * 3)
    assert "1e+200" in head_trace(head).html
    assert "100000" in head_trace(head).html


def test_single_precision_is_traced_too():
    draw = np.random.default_rng(3).standard_normal((3, 1, 2, 2)).astype(np.float32)
    head = scaled_dot_product_self_attention(*draw)
    check_account(head_trace(head).html, head, 0)


@pytest.mark.parametrize(
    ("options", "mend"),
    [
        ({"item": 1}, "choose 0 to 0"),
        ({"item": -1}, "choose 0 to 0"),
        ({"query": 2}, "choose 0 to 1"),
        ({"tokens": ["one"]}, "pass one a token"),
        ({"grad_output": np.ones((1, 2, 2))}, "pass both"),
        ({"gradients": normal().backward(np.ones((1, 2, 2)))}, "pass both"),
        (
            {"gradients": normal().backward(np.ones((1, 2, 2))), "grad_output": np.ones((2, 2))},
            "head.backward",
        ),
    ],
)
def test_what_cannot_be_traced_is_refused_with_a_mend(options, mend):
    with pytest.raises(ValueError, match=mend):
        head_trace(normal(), **options)


def test_a_head_too_large_to_read_and_an_empty_batch_are_refused():
    with pytest.raises(ValueError, match="at most 64 tokens"):
        head_trace(normal(tokens=65))
    with pytest.raises(ValueError, match="nothing to trace"):
        head_trace(normal(batch=0))
