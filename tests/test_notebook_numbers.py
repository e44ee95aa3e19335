"""No number and no matrix in a notebook's prose that the code does not give.

Which numbers are held: those with three digits after the point or more (0.079), those that are no
whole numbers and have three significant digits or more (98.6 %, 1.97), and whole numbers of three
digits or more (256) that are not the year of a paper. A percentage is held as the share it is.

What holds them: `attnlib.lessons.evidence` and the notebook's own outputs, to the digits printed;
a half may be rounded either way. A whole number is meant exactly, and may also be one that the
notebook's code sets, alone or in a list. A matrix or a list is held as one: its shape and each
entry in its place, as an array, a part of one along its first axes, a row or a column. Lists in
code marks are Python to be typed, and held only where they have a number of the kinds above.
"""

import functools
import re

import numpy as np
import pytest
from nbformat import v4

from attnlib.lessons.evidence import learner_evidence
from tests import chapters
from tests.numbers_in_text import agree, brackets, matrices, numbers, parts, plain, tables

YEARS = range(1950, 2031)


@functools.cache
def evidence():
    """Return all numbers and all arrays of the evidence."""
    scalars, arrays = [], []

    def walk(claim):
        if isinstance(claim, dict):
            for each in claim.values():
                walk(each)
        elif isinstance(claim, list):
            array = as_array(claim)
            if array is not None:
                arrays.append(array)
                scalars.extend(array.ravel())
            else:
                for each in claim:
                    walk(each)
        elif isinstance(claim, int | float):
            scalars.append(claim)

    walk(learner_evidence().as_plain())
    return scalars, arrays


def as_array(claim):
    """Return a list as an array; None if it is not made of numbers, or not regular."""
    try:
        array = np.array(claim)
    except ValueError:
        return None
    return array.astype(float) if array.dtype.kind in "if" and array.size else None


def given(notebook):
    """Return the numbers and the arrays that a notebook's prose may repeat."""
    scalars, arrays = map(list, evidence())
    for cell in chapters.code_cells(notebook):
        for output in cell["outputs"]:
            text = plain(re.sub(r",?\s*dtype=\w+", "", chapters.shown(output)))
            scalars += [number.value for _, _, number in numbers(text)]
            arrays += [matrix.values for _, _, matrix in brackets(text)]
            arrays += [x.values for x in tables(chapters.data(output, "text/html"))]
    return np.array(scalars), [part for array in arrays for part in parts(array)]


def is_held(number):
    """Whether a number is one that the code must give."""
    if number.unit:
        return number.decimals >= 3 or number.significant >= 3
    year = number.text.isdecimal() and int(number.text) in YEARS
    leading = number.text.lstrip("-").startswith("0")
    return number.significant >= 3 and not year and not leading


def number_faults(notebook):
    """Return the numbers and matrices in a notebook's prose that the code does not give."""
    scalars, arrays = given(notebook)
    typed = "\n".join(chapters.source(cell) for cell in chapters.code_cells(notebook))
    typed = re.sub(r"(?<=\d)_(?=\d{3})", "", typed)
    whole = np.array([number.value for _, _, number in numbers(typed) if not number.unit])
    lists = [part for _, _, matrix in brackets(typed) for part in parts(matrix.values)]
    found = []
    for name, text in chapters.prose(notebook):
        displayed, rest = matrices(without_python_lists(text))
        for matrix in displayed:
            known = arrays if matrix.units.any() else arrays + lists
            found += [] if matrix.is_in(known) else [f"{matrix.text} (cell {name})"]
        for _, _, number in numbers(rest):
            known = scalars if number.unit else np.append(scalars, whole)
            if is_held(number) and not np.any(agree(known, number.value, number.unit)):
                found.append(f"{number.text} (cell {name})")
    return found


def without_python_lists(text):
    """Return Markdown without the lists in code marks that hold no number of ours."""
    return re.sub(r"`[^`\n]*`", lambda code: code[0] if holds_number(code[0]) else " ", text)


def holds_number(text):
    """Whether a text has a number that the code must give."""
    return any(is_held(number) for _, _, number in numbers(plain(text)))


@pytest.mark.parametrize("path", chapters.NOTEBOOKS, ids=lambda path: path.stem)
def test_every_number_in_the_prose_is_one_that_the_code_gives(path):
    found = number_faults(chapters.load(path))
    assert not found, "\n".join(found)


def notebook(*texts, outputs=(), typed="head"):
    """Return a notebook of these texts, and one code cell with these outputs."""
    cell = v4.new_code_cell(typed, outputs=list(outputs))
    return v4.new_notebook(cells=[cell, *map(v4.new_markdown_cell, texts)])


def output(kind, text):
    return v4.new_output("execute_result", data={kind: text})


WEIGHTS = r"$$A\approx\begin{bmatrix}0.014166&0.985834\\0.999151&0.000849\end{bmatrix}$$"
GRADIENT = "array([[ 0.178   , -0.0295  ],\n       [-0.024389,  0.006195]])"
PAGE = (
    "<div><table><caption><b>R</b></caption><tbody><tr><th>q</th><td>0.125</td><td>2.5</td></tr>"
    "<tr><th>q</th><td>\N{MINUS SIGN}1.75</td><td><b>3.25</b> = 1 + 2</td></tr>"
    "</tbody></table></div>"
)
RIGHT = [
    r"$L\approx-1.966576$",
    "L is \N{MINUS SIGN}1.966576, or about \N{MINUS SIGN}1.97.",
    r"98.58\,\% of it, 98.6 %, or 0.986: nearly 100 %.",
    r"a step of $10^{-6}$, of 1×10⁻⁶, of $1.000\times10^{-6}$",
    r"$$p=\frac{e^1}{e^1+e^0}\approx0.731059$$",
    WEIGHTS,
    WEIGHTS.replace("bmatrix", "pmatrix"),
    r"$[0.042498,-0.042498]+[0.985834,2.957502]$",
    r"$o_0=0.014166\left[3,-3\right]+0.985834[1,3]$",
    r"$$Q=\begin{bmatrix}0&3\\2&-1\end{bmatrix},\quad q_0K^\top=[0,6]$$",
    r"The column $\begin{bmatrix}0.014166\\0.999151\end{bmatrix}$ of key 0",
    r"$$\begin{bmatrix}a&b\\c&d\end{bmatrix}$$",
    "Vaswani et al., 2017, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)",
    "Write `[[1, 2], [3, 4]]` or `weights[0, 1]`, at 6 digits of float64, in JupyterLab 4.4.1.",
    r"$O_{001}$, a 2×2 grid, 2.5 and 64",
    "[4, 7, 5]",
    "Half of [0, 1) and index A[3, 7]",
]
WRONG = {
    "the last digit": r"$L\approx-1.966577$",
    "the sign": r"$L\approx1.966576$",
    "a digit of a percentage": "98.7 %",
    "a digit in TeX": r"$$p=\frac{e^1}{e^1+e^0}\approx0.731058$$",
    "a rounding": "0.07901",
    "a power": r"$8.49\times10^{-5}$",
    "three digits": "about 1.98",
    "three decimals": "0.078",
    "a whole number": "over 1,048 pairs",
    "a digit of a matrix": WEIGHTS.replace("0.985834", "0.985833"),
    "two entries swapped": WEIGHTS.replace("0.014166&0.985834", "0.985834&0.014166"),
    "two rows swapped": r"$$\begin{bmatrix}6&-4\\0&6\end{bmatrix}$$",
    "a transposed matrix": r"$$\begin{bmatrix}1.028332&2.998303\\2.915004&-2.994908\end{bmatrix}$$",
    "a matrix as a list": "[0.014166, 0.985834, 0.999151, 0.000849]",
    "a list in the wrong order": r"$[-0.042498,0.042498]$",
    "a shape": "[4, 7, 6]",
    "a rounded whole entry": r"$[1,2.915004]$",
    "a number in code marks": "`[0.014167, 0.985834]`",
    "a list in code marks": "`[0.985834, 0.014166]`",
}


class TestPlantedMistakes:
    @pytest.mark.parametrize("text", RIGHT)
    def test_what_the_evidence_gives_is_held_true(self, text):
        assert number_faults(notebook(text)) == []

    @pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
    def test_a_wrong_number_is_named_with_its_cell(self, text):
        planted = notebook("A line.", text)
        (found,) = number_faults(planted)
        assert found.endswith(f"(cell {planted.cells[-1].id})")

    @pytest.mark.parametrize(
        ("shown", "right", "wrong"),
        [
            (output("text/plain", "0.123457"), "0.1235", "0.1234"),
            (output("text/plain", "0.125"), "0.12 or 0.125", "0.126"),
            (output("text/plain", "2.345"), "2.34 or 2.35", "2.36"),
            (output("text/plain", "709.782713"), "709.782713", "709.782714"),
            (output("text/plain", "12.3 %"), "12.3 %, or 0.123", "12.4 %"),
            (output("text/plain", "12345"), "12,345", "12,346"),
            (output("text/plain", "4.56e-07"), "4.56×10⁻⁷", "4.57×10⁻⁷"),
            (output("text/plain", GRADIENT), r"$[0.178,-0.0295]$", r"$[0.178,0.0295]$"),
            (output("text/plain", GRADIENT), r"$[-0.0295,0.0062]$", r"$[-0.0295,0.0061]$"),
            (output("text/plain", "[[0.25 0.5 ]\n [8.   9.  ]]"), "[8, 9]", "[8, 0.5]"),
            (output("text/plain", "q0 reads [0.25, 0.75]."), "[0.25, 0.75]", "[0.75, 0.25]"),
            (output("text/plain", "(3, 9, 9)"), "[3, 9, 9]", "[9, 9, 3]"),
            (output("text/html", PAGE), "[\N{MINUS SIGN}1.75, 3.25]", "[3.25, 0.125]"),
            (output("text/html", PAGE), "[2.5, 3.25]", "[2.5, 3.5]"),
            (v4.new_output("stream", text="off by 0.0327"), "0.0327", "0.0328"),
        ],
    )
    def test_its_own_outputs_are_held_too(self, shown, right, wrong):
        assert number_faults(notebook(right, outputs=[shown])) == []
        assert number_faults(notebook(right)) != []
        assert number_faults(notebook(wrong, outputs=[shown])) != []

    def test_a_whole_number_may_be_one_that_the_code_sets(self):
        assert number_faults(notebook("512 features", typed="ScaleExplorer(key_width=512)")) == []
        assert number_faults(notebook("23,000 draws", typed="draw(23_000)")) == []
        assert number_faults(notebook("[7, 8]", typed="value[0, 1] = [7, 8]")) == []
        assert len(number_faults(notebook("[8, 7]", typed="value[0, 1] = [7, 8]"))) == 1
        assert len(number_faults(notebook("0.512", typed="scale = 0.512"))) == 1
        assert len(number_faults(notebook("[0.5, 7]", typed="value = [0.5, 7]"))) == 1
