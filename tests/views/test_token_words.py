"""A token is shown whole and visible, and neither markup, mathematics nor direction gets out."""

import unicodedata

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as some
from matplotlib import ft2font

from attnlib.views import tables
from attnlib.views.token_words import drawn, html, label, shown, spoken, turns
from tests.views.real_heads import HOSTILE

TEXT = some.text(some.characters(), max_size=8)


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("street", "street"),
        ("##ing", "##ing"),
        ("[CLS]", "[CLS]"),
        ("<b>", "<b>"),
        ("$x$", "$x$"),
        ("שלום", "שלום"),
        ("\N{ROCKET}", "\N{ROCKET}"),
        ("e\u0301", "é"),
        ("", "(empty)"),
        (" a ", "␣a␣"),
        ("a\nb", "a‹U+000A›b"),
        ("\u202eabc", "‹U+202E›abc"),
        ("a\u2069b", "a‹U+2069›b"),
        ("\u00a0", "‹U+00A0›"),
        ("\u200d", "‹U+200D›"),
        ("\u0301", "◌\u0301"),
        ("\ud800", "‹U+D800›"),
    ],
)
def test_a_token_is_shown_as_it_is_but_for_what_cannot_be_seen(token, words):
    assert shown(token) == words


def test_an_older_matplotlib_names_letters_that_it_would_put_in_the_wrong_order(monkeypatch):
    monkeypatch.delattr(ft2font, "__libraqm_version__", raising=False)
    assert drawn("##אב", 2) == "##‹U+05D0›‹U+05D1› ·2"
    assert drawn("##ing", 2) == "##ing ·2"


def test_equal_tokens_are_told_apart_by_their_positions():
    assert [label("the", 1), label("the", 7)] == ["the ·1", "the ·7"]


def test_a_joined_emoji_stays_one_in_text():
    family = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
    assert shown(family) == family


def test_a_picture_names_what_its_font_lacks_by_code_point():
    assert drawn("\N{ROCKET}", 3) == "‹U+1F680› ·3"
    assert drawn("字", 0) == "‹U+5B57› ·0"
    assert drawn("é", 0) == "é ·0"


def test_a_word_from_right_to_left_is_kept_apart_from_its_position():
    assert spoken("שלום", 7) == "\u2068שלום\u2069 ·7"
    assert drawn("مرحبا", 7) == "\u200eمرحبا\u200e ·7"
    assert spoken("the", 7) == "the ·7"
    assert turns("a ב")
    assert not turns("a b 1")


@given(TEXT, TEXT, some.integers(0, 511), some.integers(0, 511))
def test_no_two_positions_get_the_same_label(one, other, here, there):
    assert (label(one, here) == label(other, there)) <= (here == there)


@given(TEXT)
def test_nothing_of_any_text_is_unseen_or_turns_what_follows(token):
    words = shown(token)
    assert words
    assert all(letter.isprintable() or letter in "\u200c\u200d" for letter in words)
    controls = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    assert {unicodedata.bidirectional(letter) for letter in words}.isdisjoint(controls)


@pytest.mark.parametrize("token", HOSTILE)
def test_an_isolate_that_is_opened_is_closed_once(token):
    words = spoken(token, 2)
    assert words.count("\u2068") == words.count("\u2069") == int(turns(shown(token)))
    assert words.endswith(" ·2")


@pytest.mark.parametrize("token", HOSTILE)
def test_a_page_says_the_same_words(token):
    assert BeautifulSoup(html(shown(token)), "html.parser").get_text() == shown(token)


@pytest.mark.parametrize(
    "words", ["$x$", "$$x$$", r"\(x\)", r"\[x\]", r"\begin{a}x\end{a}", "a $ b $"]
)
def test_no_piece_of_a_page_s_text_has_two_delimiters_of_mathematics(words):
    table = tables.matrix("Weights", [[1.0]], "plain", [words], [words])
    for page in (html(words), table):
        soup = BeautifulSoup(page, "html.parser")
        assert words in soup.get_text()
        for piece in soup.find_all(string=True):
            assert piece in ("$", "\\") or not set(piece) & {"$", "\\"}
