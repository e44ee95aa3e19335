"""What is handed out: no solution, nothing run yet, and every copy still runs."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

import handout
import notebooks as form
from tests import chapters
from tests.test_exercises import FENCE, WITH_EXERCISES, exercises, tagged
from tests.test_notebook_links import targets

NAMES = sorted(path.name for path in chapters.NOTEBOOKS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder that holds the collection as it is handed out."""
    made = tmp_path_factory.mktemp("class") / "handout"
    assert handout.main(["--to", str(made)]) == 0
    return made


def cells(path):
    return chapters.load(path)["cells"]


class TestTheCollection:
    def test_every_notebook_is_handed_out_in_a_folder_and_in_an_archive(self, folder):
        assert sorted(path.name for path in folder.iterdir()) == NAMES
        with zipfile.ZipFile(f"{folder}.zip") as archive:
            for name in NAMES:
                assert archive.read(name) == (folder / name).read_bytes()

    def test_a_copy_is_the_notebook_without_its_solutions_outputs_and_counts(self, folder):
        for path in chapters.NOTEBOOKS:
            kept = [cell for cell in cells(path) if not tagged(cell, "solution")]
            for cell in kept:
                if cell["cell_type"] == "code":
                    cell.update(outputs=[], execution_count=None)
            assert cells(folder / path.name) == kept

    def test_no_line_of_a_solution_is_in_any_copy_unless_it_is_in_the_rest_too(self, folder):
        whole = "\n".join((folder / name).read_text(encoding="utf-8") for name in NAMES)
        solutions = 0
        for path in WITH_EXERCISES:
            for exercise in exercises(chapters.load(path)):
                (code,) = FENCE.findall(chapters.source(exercise["solution"]))
                body = [line.strip() for line in code.splitlines()[1:] if line.strip()]
                assert body
                assert [line for line in body if json.dumps(line)[1:-1] in whole] == []
                solutions += 1
        assert solutions >= 6

    def test_no_copy_says_that_a_solution_is_below(self, folder):
        for name in NAMES:
            assert not any("<summary>One solution" in text for _, text in prose(folder / name))

    def test_every_link_between_chapters_leads_to_a_copy(self, folder):
        found = [link for name in NAMES for _, text in prose(folder / name) for link in links(text)]
        assert len(found) > len(NAMES)
        assert [link for link in found if not (folder / link).is_file()] == []

    def test_the_notebooks_are_as_before(self, tmp_path):
        before = {path: path.read_bytes() for path in chapters.FOLDER.rglob("*") if path.is_file()}
        assert handout.main(["--to", str(tmp_path / "new")]) == 0
        after = {path: path.read_bytes() for path in chapters.FOLDER.rglob("*") if path.is_file()}
        assert after == before


def prose(path):
    return chapters.prose(chapters.load(path))


def links(text):
    """Return the files that a text links to."""
    aims = [target.partition("#")[0] for target in targets(text)]
    return [aim for aim in aims if aim and "://" not in aim]


class TestRunning:
    def test_copies_that_lost_a_cell_give_what_the_notebooks_give(self, tmp_path):
        # nbval passes whatever has no outputs: so the same copies, with the saved ones kept.
        assert handout.main(["--outputs", "--to", str(tmp_path / "read")]) == 0
        shorter = [
            tmp_path / "read" / path.name
            for path in chapters.NOTEBOOKS
            if any(tagged(cell, "solution") for cell in cells(path))
        ]
        assert shorter
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", *shorter],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout

    def test_a_copy_that_no_longer_runs_is_not_handed_out(self, tmp_path, monkeypatch, capfd):
        source = planted(tmp_path, monkeypatch, needed())
        assert handout.main(["--to", str(tmp_path / "out")]) == 1
        assert "NameError" in capfd.readouterr().err
        assert not (tmp_path / "out").exists()
        assert source.is_file()


def planted(tmp_path, monkeypatch, notebook):
    """Put one notebook in the place of the collection."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    monkeypatch.setattr(handout, "NOTEBOOKS", folder)
    path = folder / "09_planted.ipynb"
    nbformat.write(notebook, path)
    return path


def needed():
    """Return a notebook whose last cell needs its solution."""
    solution = v4.new_code_cell("def scale(x):\n    return x", metadata={"tags": ["solution"]})
    return v4.new_notebook(cells=[solution, v4.new_code_cell("scale(1)")])


def exercise(*more, stub="def scale(x):\n    return ..."):
    """Return a notebook with one exercise and a tagged solution."""
    cells = [
        v4.new_code_cell(stub, metadata={"tags": ["exercise"]}, id="stub"),
        v4.new_markdown_cell("<details>\n<summary>Hint 3: nearly the answer</summary>\n</details>"),
        v4.new_code_cell("[scale(x) for x in range(3)]"),
        v4.new_markdown_cell("## The solution\n", metadata={"tags": ["solution"]}),
        v4.new_markdown_cell("One last exercise, without a solution. The answer is yours."),
    ]
    return v4.new_notebook(cells=cells + list(more))


LOOKS = {
    "a fold": v4.new_markdown_cell("<details>\n<summary>One solution, to compare</summary>\nx\n"),
    "a fold with an answer": v4.new_markdown_cell("<summary>Show the answer</summary>"),
    "a heading": v4.new_markdown_cell("More.\n\n### Solution to exercise 1\n\nx"),
    "code in a text": v4.new_markdown_cell("So:\n\n```python\ndef scale(x):\n    return x\n```\n"),
    "a code cell": v4.new_code_cell("def scale(x):\n    return x / 2"),
    "a code cell with a magic": v4.new_code_cell("%%time\ndef scale(x):\n    return x / 2"),
}


class TestWhatLooksLikeASolution:
    def test_a_sound_notebook_has_none(self):
        assert handout.untagged(exercise()) == []

    @pytest.mark.parametrize("path", chapters.NOTEBOOKS, ids=lambda path: path.stem)
    def test_no_notebook_has_one_without_a_tag(self, path):
        assert handout.untagged(nbformat.read(path, as_version=4)) == []

    @pytest.mark.parametrize("name", LOOKS)
    def test_it_is_named_by_its_id_unless_it_is_tagged(self, name):
        cell = nbformat.from_dict(LOOKS[name])
        assert handout.untagged(exercise(cell)) == [cell.id]
        cell.metadata["tags"] = ["solution"]
        assert handout.untagged(exercise(cell)) == []

    def test_an_exercise_that_was_solved_in_place_is_named(self):
        assert handout.untagged(exercise(stub="def scale(x):\n    return x")) == ["stub"]

    def test_nothing_is_handed_out_while_there_is_one(self, tmp_path, monkeypatch, capsys):
        planted(tmp_path, monkeypatch, exercise(nbformat.from_dict({**LOOKS["a fold"], "id": "x"})))
        assert handout.main(["--to", str(tmp_path / "out")]) == 1
        said = capsys.readouterr().err
        assert "09_planted.ipynb: x looks like a solution" in said
        assert not (tmp_path / "out").exists()


class TestTags:
    def test_a_saved_notebook_keeps_the_tag_by_which_a_solution_is_found(self, tmp_path):
        path = tmp_path / "own.ipynb"
        nbformat.write(exercise(), path)
        saved = nbformat.reads(form.run(path), as_version=4)
        assert [cell.metadata.get("tags", []) for cell in saved.cells].count(["solution"]) == 1
        assert len(handout.handout(saved).cells) == len(saved.cells) - 1

    def test_a_copy_changes_nothing_in_what_it_was_made_of(self):
        notebook = exercise()
        notebook.cells[2].outputs = [v4.new_output("stream", text="[0, 1, 2]")]
        before = nbformat.writes(notebook)
        handout.handout(notebook)
        assert nbformat.writes(notebook) == before


class TestWhereItIsWritten:
    def test_a_folder_that_holds_something_is_left_alone(self, tmp_path, capsys):
        (tmp_path / "mine.ipynb").write_text("mine")
        with pytest.raises(SystemExit) as leaving:
            handout.main(["--to", str(tmp_path)])
        assert leaving.value.code == 2
        assert "not an empty folder" in capsys.readouterr().err
        assert [path.name for path in tmp_path.iterdir()] == ["mine.ipynb"]

    def test_an_archive_that_is_there_is_left_alone(self, tmp_path, capsys):
        Path(tmp_path / "class.zip").write_text("mine")
        with pytest.raises(SystemExit):
            handout.main(["--to", str(tmp_path / "class")])
        assert "class.zip is there already" in capsys.readouterr().err
        assert (tmp_path / "class.zip").read_text() == "mine"

    def test_its_own_folder_is_made_anew(self, tmp_path, monkeypatch):
        monkeypatch.setattr(handout, "HANDOUT", tmp_path / "build" / "handout")
        planted(tmp_path, monkeypatch, exercise())
        for _ in range(2):
            assert handout.main([]) == 0
            (old,) = handout.HANDOUT.iterdir()
            assert old.name == "09_planted.ipynb"
            old.rename(old.with_name("old.ipynb"))
