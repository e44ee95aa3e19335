"""The README: what it promises is there."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
MAKEFILE = (ROOT / "Makefile").read_text()
FIRST_CHAPTER = "notebooks/00_start_here.ipynb"


def targets_named(text):
    """Return the make targets that the commands in a text name."""
    return set(re.findall(r"(?:^|`)make ([a-z]+)", text, flags=re.MULTILINE))


def targets_made(makefile):
    """Return the targets that a Makefile has and explains."""
    return set(re.findall(r"^([a-z]+):[^\n]*## \S", makefile, flags=re.MULTILINE))


def badge_target(text):
    """Return the owner/name and the page that a Binder badge opens."""
    return re.search(r"\(https://mybinder\.org/v2/gh/([^/]+/[^/]+)/main\?urlpath=([^)]+)\)", text)


class TestBadge:
    def test_it_opens_this_repository(self):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        repository = project["urls"]["Repository"].removeprefix("https://github.com/")
        assert badge_target(README)[1] == repository

    def test_it_opens_the_first_chapter(self):
        assert badge_target(README)[2] == f"lab/tree/{FIRST_CHAPTER}"
        assert (ROOT / FIRST_CHAPTER).is_file()

    def test_a_badge_of_another_repository_would_be_seen(self):
        other = (
            "[![B](b.svg)](https://mybinder.org/v2/gh/someone/fork/main?urlpath=lab/tree/a.ipynb)"
        )
        assert badge_target(other).groups() == ("someone/fork", "lab/tree/a.ipynb")


class TestCommands:
    def test_every_make_target_that_the_texts_name_exists(self):
        named = targets_named(README) | targets_named((ROOT / "CONTRIBUTING.md").read_text())
        assert {"lab", "test"} <= named
        assert named <= targets_made(MAKEFILE)

    def test_every_target_explains_itself(self):
        phony = re.search(r"^\.PHONY: (.+)$", MAKEFILE, flags=re.MULTILINE)[1].split()
        assert set(phony) == targets_made(MAKEFILE)
        assert phony == [
            "help",
            "install",
            "lab",
            "test",
            "browser",
            "hub",
            "hubtest",
            "notebooks",
            "handout",
            "check",
            "bench",
            "clean",
        ]

    def test_a_target_that_does_not_exist_would_be_seen(self):
        assert targets_named("make lab\n`make coffee`") - targets_made(MAKEFILE) == {"coffee"}


class TestContents:
    def test_every_file_it_links_to_exists(self):
        links = re.findall(r"\]\((?!https?:)([^)#]+)", README)
        assert links
        assert [link for link in links if not (ROOT / link).exists()] == []

    def test_every_chapter_is_on_the_map(self):
        for path in (ROOT / "notebooks").glob("*.ipynb"):
            assert f"(notebooks/{path.name})" in README

    def test_the_python_it_shows_runs(self):
        (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
        names = {}
        exec(example, names)
        assert names["grads"].query.shape == names["query"].shape
