"""What a token reads from: every word with its share as a number, a line and a ground; safe."""

import re

import numpy as np
import pytest
from bs4 import BeautifulSoup

from attnlib.views import style, token_words
from attnlib.views.real.token_reading import THICKEST, head_reading, token_reading
from tests.views.real_heads import HOSTILE, LONG, drawn, encoder_heads, reading

REAL, HEADS = encoder_heads()
CASES = {
    "a real head": (REAL, HEADS[8], 10),
    "one token": (("a",), np.ones((1, 1)), 0),
    "one key alone": (("a", "b", "c"), np.eye(3)[[1, 2, 0]], 1),
    "hostile tokens": (HOSTILE, drawn(1, len(HOSTILE), 2)[0], 8),
    "64 long tokens": (LONG, drawn(1, 64, 3)[0], 63),
    "equal weights": (("the",) * 6, np.full((6, 6), 1 / 6), 2),
}
KEPT = {"div", "span", "b", "bdi", "ol", "li"}
"""What an untrusted notebook keeps of what a page may use."""


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request):
    tokens, weights, query = request.param
    page = token_reading(tokens, weights, query, "A <head>")
    return tokens, weights[query], query, page, BeautifulSoup(page.html, "html.parser")


def words_of(soup):
    """The sentence's words, each as its share, the word, its position and the style of both."""
    found = []
    for cell in soup.find_all("span", style=lambda css: css and "inline-block" in css):
        share, word = cell.find_all("span", recursive=False)
        place = word.find_all("span", recursive=False)[-1]
        texts = (share.get_text(), word.find("bdi").get_text(), place.get_text())
        found.append((*texts, word["style"], cell["style"]))
    return found


def number(css, pattern):
    return int(re.search(pattern, css).group(1))


class TestTheSentence:
    def test_every_token_stands_in_order_with_its_share_and_its_position(self, case):
        tokens, row, _, _, soup = case
        words = words_of(soup)
        assert [word for _, word, *_ in words] == [token_words.shown(token) for token in tokens]
        assert [place for _, _, place, *_ in words] == [f"·{i}" for i in range(len(tokens))]
        for (share, *_), weight in zip(words, row, strict=True):
            assert share == ("<0.1" if 0 < weight < 0.0005 else f"{100 * weight:.1f}")

    def test_the_line_is_as_thick_and_the_ground_as_dark_as_the_weight(self, case):
        _, row, _, _, soup = case
        grounds = []
        for (*_, css, _), weight in zip(words_of(soup), row, strict=True):
            thick = number(css, r"border-bottom:(\d+)px")
            assert abs(thick - THICKEST * weight) <= 0.5
            assert thick + number(css, r"margin-bottom:(\d+)px") == THICKEST
            grounds.append(int(re.search(r"background:#(\w{6})", css).group(1)[4:], 16))
        order = np.argsort(row)
        assert (np.diff(np.array(grounds)[order]) <= 0).all()

    def test_the_query_alone_has_a_frame(self, case):
        _, _, query, _, soup = case
        framed = ["outline" in css for *_, css in words_of(soup)]
        assert np.flatnonzero(framed).tolist() == [query]

    def test_the_ground_goes_from_paper_to_the_darkest_shade(self):
        assert style.tint(0) == style.PAPER
        assert style.tint(1) == style.SHADE
        assert not style.ink_on([int(style.SHADE[i : i + 2], 16) for i in (1, 3, 5)])


class TestTheWords:
    def test_the_strongest_keys_are_listed_in_order_and_the_rest_is_summed(self, case):
        tokens, row, _, _, soup = case
        order = [key for key in np.argsort(-row, kind="stable")[:5] if row[key] >= 0.0005]
        expected = [
            f"{token_words.shown(tokens[key])} ·{key} {100 * row[key]:.1f} %" for key in order
        ]
        assert [item.get_text() for item in soup.find_all("li")] == expected
        others = len(tokens) - len(order)
        left = 100 * abs(1 - row[order].sum())
        said = {0: "", 1: f"the other key has {left:.1f} %"}
        rest = said.get(others, f"the other {others} keys together have {left:.1f} %")
        assert soup.get_text().endswith(rest)

    def test_the_title_and_the_description_name_the_token(self, case):
        tokens, row, query, page, soup = case
        name = token_words.shown(tokens[query])
        assert soup.find("b").get_text() == f"A <head>: what {name} ·{query} reads from"
        key = int(np.argmax(row))
        told = (
            f"A <head>: {token_words.spoken(tokens[query], query)} reads "
            f"{100 * row[key]:.1f} % of {token_words.spoken(tokens[key], key)}"
        )
        assert page.description.startswith(told)


class TestSafety:
    def test_no_token_becomes_markup(self, case):
        *_, soup = case
        assert {tag.name for tag in soup.find_all(True)} <= KEPT
        assert {name for tag in soup.find_all(True) for name in tag.attrs} <= {"style"}

    def test_every_token_is_isolated_so_that_its_direction_stays_with_it(self, case):
        tokens, _, _, _, soup = case
        isolated = {text for bdi in soup.find_all("bdi") for text in bdi.find_all(string=True)}
        for text in soup.find_all(string=token_words.turns):
            assert text in isolated
        assert len(soup.find_all("bdi")) >= len(tokens)

    def test_it_has_paper_and_ink_of_its_own_on_a_dark_page(self, case):
        *_, page, _ = case
        assert page.html.startswith(f'<div style="background:{style.PAPER};color:{style.INK}')

    def test_words_are_apart_where_no_style_is_applied(self):
        soup = BeautifulSoup(token_reading(("a", "b"), np.eye(2), 0).html, "html.parser")
        assert "100.0 a ·0 0.0 b ·1 " in soup.get_text()


class TestOneHeadOfAnEncoder:
    def test_it_is_the_one_that_was_asked_for(self):
        read = reading(("[CLS]", "a", "b", "[SEP]"), layers=3, heads=2)
        page = head_reading(read, 2, 1, 3)
        expected = token_reading(read.tokens, read.layers[2].weights[1], 3, "Layer 2, head 1")
        assert page.html == expected.html

    @pytest.mark.parametrize(
        ("place", "words"),
        [
            ((3, 0, 0), "layer must be a whole number from 0 to 2, got 3"),
            ((0, 2, 0), "head must be a whole number from 0 to 1, got 2"),
            ((0, 0, 4), "a token's position must be a whole number from 0 to 3, got 4"),
            ((0, 0, -1), "from 0 to 3, got -1"),
            ((0, 0, "a"), "from 0 to 3, got 'a'"),
        ],
    )
    def test_one_that_is_not_there_is_refused(self, place, words):
        with pytest.raises(ValueError, match=words):
            head_reading(reading(("a", "b", "c", "d"), layers=3, heads=2), *place)

    def test_labels_of_another_sentence_are_refused(self):
        with pytest.raises(ValueError, match="its 15 tokens"):
            token_reading(REAL[1:], HEADS[0], 3)
