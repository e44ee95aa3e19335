"""Of a notebook that is handed in, what a function needs is run, and nothing else."""

import ast
import json
import sys

import nbformat
import pytest
from nbformat import v4

from attnlib.lessons.checker import check_backward, check_forward
from attnlib.lessons.hand_ins import notebooks, opening
from tests import chapters
from tests.test_exercises import FENCE, exercises

CHAPTER = chapters.FOLDER / "08_build_your_own_head.ipynb"


@pytest.fixture
def notebook(tmp_path):
    def write(*cells, text="Words."):
        path = tmp_path / "mine.ipynb"
        made = [v4.new_markdown_cell(text), *map(v4.new_code_cell, cells)]
        nbformat.write(v4.new_notebook(cells=made), path)
        return path

    return write


def kept(path, name):
    return [ast.unparse(each.node) for each in notebooks.needed(path, name)]


def refusal(address):
    with pytest.raises(opening.HandInError) as caught, opening.opened(address):
        pass
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestWhatIsPicked:
    def test_what_a_function_uses_comes_with_it_in_order_and_nothing_else(self, notebook):
        path = notebook(
            "import math\nimport no_such_library\nnumber = 2",
            "def helper(x):\n    return math.sqrt(x) * number\nhelper(4)\nprint('aloud')",
            "def f(x):\n    return helper(x)\n1 / 0\ng = 1 / 0",
        )
        first, second, third = "import math", "number = 2", "def helper(x):"
        assert [each.splitlines()[0] for each in kept(path, "f")] == [
            *(first, second, third),
            "def f(x):",
        ]

    def test_a_name_of_its_own_is_not_taken_for_the_notebook_s(self, notebook):
        path = notebook("x = 1 / 0\ny = 1 / 0", "def f(x):\n    y = x\n    return [y for y in [x]]")
        assert [each.splitlines()[0] for each in kept(path, "f")] == ["def f(x):"]

    @pytest.mark.parametrize(
        "line",
        [
            "from math import *",
            "number += 1",
            "sizes['a'] = 3",
            "f.calls = 0",
            "if number:\n    number = 3",
            "try:\n    import math as number\nexcept ImportError:\n    number = 0",
            "for number in range(3):\n    pass",
            "number, other = (1, 2)",
        ],
    )
    def test_whatever_gives_a_needed_name_its_value_is_kept(self, notebook, line):
        path = notebook("number, sizes = 1, {}", "def f(x):\n    return sizes, number", line)
        assert line in kept(path, "f")

    def test_the_last_definition_counts_as_after_a_run_of_the_whole(self, notebook):
        path = notebook("def f():\n    return 1", "def f():\n    return 2")
        with opening.opened(f"{path}:f") as function:
            assert function() == 2

    def test_a_decorator_a_default_and_a_base_class_are_needed(self, notebook):
        path = notebook(
            "import functools\nsize = 3\nclass A:\n    pass",
            "class B(A):\n    @functools.cache\n    def run(self, x=size):\n        return x",
            "b = B()",
        )
        with opening.opened(f"{path}:b.run") as function:
            assert function() == 3

    def test_what_only_ipython_reads_is_skipped(self, notebook):
        path = notebook(
            "%matplotlib inline\n!ls\nimport math\nmath.sqrt?",
            "%%time\ndef f(x):\n    if x:\n        %time math.sqrt(x)\n    return math.sqrt(x)",
        )
        with opening.opened(f"{path}:f") as function:
            assert function(4) == 2

    def test_a_percent_sign_of_python_is_no_magic(self, notebook):
        path = notebook("def f(x):\n    return (x\n        % 3)")
        with opening.opened(f"{path}:f") as function:
            assert function(4) == 1

    def test_nothing_is_kept_for_a_name_that_is_not_there(self, notebook):
        assert kept(notebook("def f():\n    pass"), "g") == []


class TestRefusals:
    def test_an_unknown_name_is_told_with_what_there_is(self, notebook):
        path = notebook("def attention(q, k, v):\n    return v")
        assert refusal(f"{path}:atention").endswith("has no atention: did you mean attention?")
        assert refusal(f"{notebook('x = 1')}:f").endswith("it defines no function")

    def test_what_fails_is_told_with_its_cell_and_line(self, notebook):
        told = refusal(f"{notebook('x = 1', 'a = 2' + chr(10) + 'f = 1 / 0')}:f")
        assert told.endswith(
            "could not be run: code cell 2, line 2, ZeroDivisionError: division by zero"
        )

    def test_a_broken_cell_is_told_if_the_function_stands_in_it_and_passed_over_if_not(
        self, notebook
    ):
        told = refusal(f"{notebook('', 'def f(x:' + chr(10) + '    return x')}:f")
        assert "code cell 2, line 1, SyntaxError: " in told
        path = notebook("def f():\n    return 1", "print(f(")
        with opening.opened(f"{path}:f") as function:
            assert function() == 1

    @pytest.mark.parametrize(
        "text",
        [
            "def f(q, q):\n    return q",
            "def f(q):\n    return '\0'",
            "def f(q):\n    return '\ud800'",
            f"def f(q):\n    return {'(' * 300}q{')' * 300}",
            f"def f(q):\n    return {'-' * 99999}q",
            f"def f(q):\n    return {'+'.join('q' * 9999)}",
        ],
        ids=["twice", "null", "half a character", "brackets", "signs", "sums"],
    )
    def test_what_python_cannot_compile_is_told_in_one_line(self, tmp_path, text):
        path = tmp_path / "odd.ipynb"
        path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": text}]}))
        assert "could not be run: code cell 1, line " in refusal(f"{path}:f")

    def test_a_broken_cell_with_a_helper_in_it_is_told(self, notebook):
        path = notebook("def helper(x:\n    return", "def f():\n    return helper(1)")
        assert "code cell 1, line 1, SyntaxError" in refusal(f"{path}:f")

    @pytest.mark.parametrize(
        "text", ["", "[]", "{}", '{"cells": 3}', '{"cells": [1]}', "[" * 99999]
    )
    def test_a_file_that_is_no_notebook_says_so(self, tmp_path, text):
        path = tmp_path / "a.ipynb"
        path.write_text(text)
        assert refusal(f"{path}:f").endswith("it is no notebook of format 4: save it in Jupyter")


class TestTheChapter:
    @pytest.fixture
    def solved(self, tmp_path):
        """Return chapter 8 as a reader hands it in who got everything right."""
        notebook = chapters.load(CHAPTER)
        for exercise in exercises(notebook):
            (solution,) = FENCE.findall(chapters.source(exercise["solution"]))
            exercise["exercise"]["source"] = solution
        path = tmp_path / "solved.ipynb"
        nbformat.write(nbformat.from_dict(notebook), path)
        return path

    def test_its_functions_pass_once_they_are_written(self, solved):
        with opening.opened(f"{solved}:attention") as function:
            assert check_forward(function).passed
        with opening.opened(f"{solved}:attention_backward") as function:
            assert check_backward(function).passed

    def test_its_explorers_and_checks_are_not_run(self, solved):
        lines = "\n".join(kept(solved, "attention"))
        assert "attnlib" not in lines
        assert "import numpy as np" in lines

    def test_untouched_it_says_that_nothing_was_attempted(self):
        with opening.opened(f"{CHAPTER}:attention") as function:
            verdict = check_forward(function)
        assert (verdict.passed, verdict.attempted) == (False, False)


def test_a_hand_in_without_neighbours_cannot_import_them(tmp_path):
    (tmp_path / "hand_in_of_another.py").write_text("def f():\n    return 1\n")
    mine = tmp_path / "mine.py"
    mine.write_text("from hand_in_of_another import f\n")
    with opening.opened(f"{mine}:f") as function:
        assert function() == 1
    del sys.modules["hand_in_of_another"]
    with (
        pytest.raises(opening.HandInError, match="No module named 'hand_in_of_another'"),
        opening.opened(f"{mine}:f", neighbours=False),
    ):
        pass
