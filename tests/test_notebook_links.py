"""Links in the notebooks lead somewhere, in JupyterLab and on GitHub."""

import re
from pathlib import Path

import pytest

from tests import chapters
from tests.chapters import headings

LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]*)>?[^)]*\)|<a\s[^>]*?href=[\"']([^\"']*)[\"']")
ROOT = chapters.FOLDER.parent


def targets(text):
    """Return where the links in a text lead."""
    return [inline or tag for inline, tag in LINK.findall(chapters.without_code(text))]


def link_faults(text, path):
    """Return the links in a notebook's text that lead nowhere."""
    return [target for target in targets(text) if not leads_somewhere(target, path)]


def leads_somewhere(target, path):
    """Whether a link names a page of the web, or a file and a heading that are there."""
    if re.match(r"https://[\w.-]+\.\w+(/|$)", target):
        return True
    file, _, anchor = target.partition("#")
    aim = (path.parent / file).resolve() if file else path
    if re.match(r"[a-z]+:", target) or not target or not aim.is_relative_to(ROOT):
        return False
    return aim.exists() and (not anchor or anchor in anchors(aim))


def anchors(path):
    """Return the names that JupyterLab gives to the headings of a notebook."""
    if path.suffix != ".ipynb":
        return set()
    text = "\n\n".join(words for _, words in chapters.prose(chapters.load(path)))
    return {re.sub(r"[`*]", "", words).replace(" ", "-") for _, words in headings(text)}


@pytest.mark.parametrize("path", chapters.NOTEBOOKS, ids=lambda path: path.stem)
def test_every_link_leads_somewhere(path):
    found = {name: link_faults(text, path) for name, text in chapters.prose(chapters.load(path))}
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_the_entrance_leads_to_every_chapter():
    entrance = chapters.FOLDER / f"{chapters.ENTRANCE}.ipynb"
    text = "\n\n".join(words for _, words in chapters.prose(chapters.load(entrance)))
    assert {f"{path.stem}.ipynb" for path in chapters.CHAPTERS} <= set(targets(text))


ENTRANCE = Path(chapters.FOLDER / f"{chapters.ENTRANCE}.ipynb")


class TestPlantedMistakes:
    @pytest.mark.parametrize(
        "link",
        [
            "[a](01_no_such_chapter.ipynb)",
            "[a](00_start_here.ipynb#No-such-heading)",
            "[a](#No-such-heading)",
            "[a](../attnlib/core/no_such_module.py)",
            "[a](/work/notebooks/00_start_here.ipynb)",
            "[a](../../elsewhere.md)",
            "[a](http://example.org/)",
            "[a](attachment:picture.png)",
            "[a]()",
            "<a href='00_begin.ipynb'>a</a>",
            "![a picture](no_such_picture.png)",
        ],
    )
    def test_a_link_that_leads_nowhere_is_named(self, link):
        assert len(link_faults(f"See {link}.", ENTRANCE)) == 1

    @pytest.mark.parametrize(
        "link",
        [
            "[a](00_start_here.ipynb)",
            "[a](../README.md)",
            "[a](../attnlib/core/head.py 'the head')",
            "[a](https://arxiv.org/abs/1706.03762)",
            "`[a](nowhere)`",
        ],
    )
    def test_a_link_that_leads_somewhere_has_no_fault(self, link):
        assert link_faults(f"See {link}.", ENTRANCE) == []

    def test_a_heading_is_named_as_jupyterlab_names_it(self, tmp_path):
        path = tmp_path / "a.ipynb"
        cell = '{"id": "a", "cell_type": "markdown", "source": ["## How to `read` this"]}'
        path.write_text(f'{{"cells": [{cell}]}}')
        assert anchors(path) == {"How-to-read-this"}
