"""TEACHING.md: the commands it names exist, and what it shows is what they do."""

import json
import re
import shlex
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

import handout
from attnlib.__main__ import main
from attnlib.lessons import predictions
from tests import chapters
from tests.lessons.hand_ins.test_folders import HEAD
from tests.test_readme import MAKEFILE, targets_made, targets_named

ROOT = Path(__file__).resolve().parents[1]
TEACHING = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
HUB = (ROOT / "deploy" / "hub" / "README.md").read_text(encoding="utf-8")
WRONG = HEAD.replace("/ np.sqrt(query.shape[2])", "")
STUB = "def attention(query, key, value):\n    return ...\n"
HAND_INS = {
    "learner_1.py": HEAD,
    "learner_2.ipynb": WRONG,
    "learner_3.py": f"import numpy\nsoftmx\n{HEAD}",
    "learner_4.ipynb": STUB,
    "learner_5.py": WRONG,
}


def fenced(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", TEACHING, flags=re.M | re.S)


def table_after(heading):
    """Return the rows of the first table under a heading, cell by cell, without its head."""
    part = TEACHING.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = re.search(r"(?:^\|.*\n)+", part, flags=re.M)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


class TestCommands:
    def test_every_make_target_exists(self):
        named = targets_named(TEACHING)
        assert {"handout", "hub", "lab", "notebooks", "test"} <= named
        assert named <= targets_made(MAKEFILE)

    def test_every_option_of_a_target_is_one_that_its_script_takes(self, monkeypatch, tmp_path):
        (options,) = re.findall(r'HANDOUT_ARGS="([^"]*)"', TEACHING)
        assert "$(HANDOUT_ARGS)" in MAKEFILE
        assert handout.main([*shlex.split(options), "--to", str(tmp_path / "made")]) == 0

    def test_every_setting_of_the_hub_is_one_that_its_own_page_knows(self):
        named = set(re.findall(r"\bHUB_[A-Z_]+", TEACHING))
        assert named
        assert named <= set(re.findall(r"`(HUB_[A-Z_]+)`", HUB))

    def test_every_check_that_is_shown_runs(self, hand_ins, monkeypatch, capsys):
        monkeypatch.chdir(hand_ins.parent)
        lines = re.findall(r"^\.venv/bin/python -m attnlib (check .*)$", fenced("sh")[1], re.M)
        assert len(lines) == 4
        for line in lines:
            assert main(shlex.split(line.partition(" > ")[0])) in (0, 1, 2)
            said, errors = capsys.readouterr()
            assert said
            assert errors == ""

    def test_the_table_is_the_one_that_is_printed(self, hand_ins, monkeypatch, capsys):
        monkeypatch.setenv("COLUMNS", "90")
        assert main(["check", f"{hand_ins}:attention"]) == 2
        assert capsys.readouterr().out == fenced("text")[0]


@pytest.fixture
def hand_ins(tmp_path):
    folder = tmp_path / "hand_ins"
    folder.mkdir()
    for name, text in HAND_INS.items():
        path = folder / name
        if path.suffix == ".py":
            path.write_text(text)
        else:
            nbformat.write(v4.new_notebook(cells=[v4.new_code_cell(text)]), path)
    return folder


class TestContents:
    def test_the_readme_leads_here(self):
        assert "(TEACHING.md)" in (ROOT / "README.md").read_text(encoding="utf-8")

    def test_every_file_it_links_to_or_names_exists(self):
        links = re.findall(r"\]\((?!https?:)([^)#]+)", TEACHING)
        named = re.findall(r"`((?:attnlib|tests)/[\w/.]+)`", TEACHING)
        assert links
        assert named
        assert [each for each in links + named if not (ROOT / each).exists()] == []

    def test_the_plan_has_every_chapter_by_its_name(self):
        numbers = [row[0] for row in table_after("A plan")]
        assert numbers == [stem.replace("_", " ") for stem in plain_names()]

    def test_every_question_is_asked_in_its_chapter_and_its_wrong_answers_are_the_known_ones(self):
        rows = table_after("Questions to ask, and answers to expect")
        assert len(rows) >= 12
        for chapter, words, wrong in rows:
            name = re.match(r"`([\w-]+)`", words)[1]
            known = predictions.question(name).misconceptions
            assert wrong.split("; ") == [each.name for each in known]
            (path,) = (x for x in chapters.NOTEBOOKS if x.stem.startswith(f"{chapter}_"))
            assert json.dumps(f'predictions.ask("{name}")')[1:-1] in path.read_text("utf-8")


def plain_names():
    """Return the chapters' names as the plan writes them."""
    return [
        stem.replace("02_scale_normalize", "02_scale,_normalize") for stem in chapters.COLLECTION
    ]
