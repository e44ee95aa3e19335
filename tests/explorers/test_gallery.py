"""The gallery shows each mistake that the checker knows, and never goes blank."""

import pytest
from traitlets import TraitError

from attnlib.explorers import gallery
from attnlib.explorers.gallery import MistakeGallery
from attnlib.lessons.mistakes import CATALOGUE, load
from tests.views.reading import Page


@pytest.fixture
def panel():
    return MistakeGallery()


def test_it_starts_with_the_mistake_that_is_made_most(panel):
    assert repr(panel) == "MistakeGallery('softmax-over-queries')"
    assert load("softmax-over-queries").signature in Page(panel.page.value).text


def test_its_list_has_every_mistake_by_title_in_the_catalogues_order(panel):
    assert [value for _, _, value in panel.choice.options] == list(CATALOGUE)
    for group, title, value in panel.choice.options:
        assert title == CATALOGUE[value].title
        assert group.endswith("back") is (CATALOGUE[value].direction == "backward")


def test_a_name_that_is_no_mistake_changes_nothing(panel):
    with pytest.raises(TraitError, match="no-such"):
        panel.choice.value = "no-such"
    assert panel.choice.value == "softmax-over-queries"
    assert load("softmax-over-queries").signature in Page(panel.page.value).text


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_choice_shows_this_mistake_and_its_sign(panel, name):
    panel.choice.value = name
    page = Page(panel.page.value)
    assert CATALOGUE[name].title in page.text
    assert name in page.text
    assert panel.summary.startswith(CATALOGUE[name].title)
    assert repr(panel) == f"MistakeGallery({name!r})"


def test_it_can_start_with_any_mistake_and_refuses_a_name_that_is_none():
    assert MistakeGallery("scale-missing").choice.value == "scale-missing"
    with pytest.raises(ValueError, match="no-such"):
        MistakeGallery("no-such")


def test_a_page_that_cannot_be_made_is_told_in_the_panel(panel, monkeypatch, caplog):
    def broken(mistake):
        raise RuntimeError("<b>")

    monkeypatch.setattr(gallery, "mistake_page", broken)
    panel.choice.value = "scale-missing"
    assert panel.page.value == panel.summary
    assert "could not be shown (RuntimeError)" in panel.summary
    assert "scale-missing" in caplog.text
