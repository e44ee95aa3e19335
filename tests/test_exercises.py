"""Exercises: each has a stub that stops nothing, a check, hints and a solution that passes it."""

import ast
import copy
import re

import pytest
from nbformat import v4

from tests import chapters
from tests.chapters import source

UNATTEMPTED = "not attempted yet"
CHECKS = ("check_stage(", "check_forward(", "check_backward(")
FENCE = re.compile(r"^```python\n(.*?)^```$", flags=re.M | re.S)


def tagged(cell, tag):
    return tag in cell["metadata"].get("tags", [])


def exercises(notebook):
    """Return each exercise with its check and its solution, the cells after it up to the next."""
    found = []
    for cell in notebook["cells"]:
        if tagged(cell, "exercise"):
            found.append({"exercise": cell, "texts": ""})
        elif found and tagged(cell, "solution"):
            found[-1].setdefault("solution", cell)
        elif found and cell["cell_type"] == "code" and any(x in source(cell) for x in CHECKS):
            found[-1].setdefault("check", cell)
        elif found and cell["cell_type"] == "markdown" and "solution" not in found[-1]:
            found[-1]["texts"] += source(cell)
    return found


def faults(notebook):
    """Return what is wrong with the exercises of a notebook, each phrase with the exercise's id."""
    found = []
    for exercise in exercises(notebook):
        name = exercise["exercise"]["id"]
        found += [f"no {x} (cell {name})" for x in ("check", "solution") if x not in exercise]
        if exercise["texts"].count("<summary>Hint") != 3:
            found.append(f"not three folded hints (cell {name})")
        if "solution" in exercise and not is_folded(source(exercise["solution"])):
            found.append(f"a solution that is not folded (cell {name})")
        said = "".join(map(chapters.shown, exercise.get("check", {}).get("outputs", [])))
        if UNATTEMPTED not in said.lower():
            found.append(f"a check that does not say {UNATTEMPTED} (cell {name})")
    return found


def is_folded(text):
    """Whether all of a text stands in one closed fold."""
    return bool(re.fullmatch(r"<details>\s.*</details>\s*", text, flags=re.S)) and (
        text.count("<details") == 1
    )


def verdicts(notebook):
    """Run a notebook's code with the solutions in the place of the stubs; return the checks'."""
    names, found = {}, {}
    for exercise in exercises(notebook):
        (solution,) = FENCE.findall(source(exercise["solution"]))
        exec(source(exercise["exercise"]), names)
        exec(solution, names)
        *before, last = ast.parse(source(exercise["check"])).body
        exec(compile(ast.Module(before, []), "check", "exec"), names)
        found[exercise["check"]["id"]] = repr(
            eval(compile(ast.Expression(last.value), "check", "eval"), names)
        )
    return found


WITH_EXERCISES = [path for path in chapters.CHAPTERS if exercises(chapters.load(path))]


def opening(notebook):
    """Return the imports that a notebook makes before its first exercise."""
    lines = []
    for cell in notebook["cells"]:
        if tagged(cell, "exercise"):
            break
        if cell["cell_type"] == "code":
            lines += [x for x in source(cell).splitlines() if x.startswith(("from ", "import "))]
    return "\n".join(lines)


@pytest.mark.parametrize("path", WITH_EXERCISES, ids=lambda path: path.stem)
class TestEveryExercise:
    def test_it_has_a_check_three_hints_and_a_folded_solution(self, path):
        assert faults(chapters.load(path)) == []

    def test_its_solution_passes_its_check(self, path):
        notebook = copy.deepcopy(chapters.load(path))
        first = exercises(notebook)[0]["exercise"]
        first["source"] = f"{opening(notebook)}\n{source(first)}"
        said = verdicts(notebook)
        assert said
        for words in said.values():
            assert "Not right" not in words
            assert UNATTEMPTED not in words.lower()
            assert words.startswith("Right")


def test_some_chapter_has_exercises():
    assert WITH_EXERCISES


def sound():
    """Return a notebook with one exercise without a fault."""
    said = v4.new_output("execute_result", data={"text/plain": "Not attempted yet. Put"})
    hints = "<details><summary>Hint</summary>a</details>" * 3
    solution = "<details>\n<summary>One</summary>\n\n```python\nf = 1\n```\n\n</details>"
    cells = [
        v4.new_code_cell("def f():\n    return ...", metadata={"tags": ["exercise"]}, id="stub"),
        v4.new_code_cell("check_forward(f)", outputs=[said]),
        v4.new_markdown_cell(hints),
        v4.new_markdown_cell(solution, metadata={"tags": ["solution"]}),
    ]
    return v4.new_notebook(cells=cells)


MISTAKES = {
    "no check": lambda cells: cells.pop(1),
    "no solution": lambda cells: cells[3].metadata.clear(),
    "not three": lambda cells: cells[2].update(source="<summary>Hint</summary>"),
    "not folded": lambda cells: cells[3].update(source="```python\nf = 1\n```"),
    "does not say": lambda cells: cells[1].outputs[0].data.update({"text/plain": "Right."}),
}


class TestPlantedMistakes:
    def test_a_sound_exercise_has_no_fault(self):
        assert faults(sound()) == []

    @pytest.mark.parametrize("fault", MISTAKES)
    def test_a_mistake_is_named(self, fault):
        notebook = sound()
        MISTAKES[fault](notebook.cells)
        found = faults(notebook)
        assert any(fault in phrase for phrase in found), found
