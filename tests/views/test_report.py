"""The text report prints every claim of the lesson, aligned, for any terminal."""

import dataclasses
import re

import numpy as np
import pytest

from attnlib.lessons.evidence import learner_evidence
from attnlib.views.report import evidence_report


@pytest.fixture(scope="module")
def evidence():
    return learner_evidence()


@pytest.fixture(scope="module")
def report(evidence):
    return evidence_report(evidence)


def section(report, number):
    """The lines of one numbered section."""
    text = re.search(rf"^{number}\. .*?(?=\n\n\d+\. |\Z)", report, re.S | re.M).group()
    return text.splitlines()


def rows(lines, label):
    """The numbers of every line that starts with this label."""
    found = [line for line in lines if re.match(rf"\s*{label}\s", line)]
    return [re.findall(r"-?\d+\.\d{6}", line) for line in found]


def test_it_fits_eighty_columns_of_ascii_without_trailing_blanks(report):
    lines = report.splitlines()
    assert max(map(len, lines)) <= 80
    assert report.isascii()
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize(
    ("number", "label", "expected"),
    [
        (1, "q0", "0.000000 3.000000 3.000000 0.000000 3.000000 -3.000000"),
        (1, "q1", "2.000000 -1.000000 -1.000000 2.000000 1.000000 3.000000"),
        (2, "q0", "0.000000 6.000000 0.000000 4.242641"),
        (2, "q1", "6.000000 -4.000000 4.242641 -2.828427"),
        (2, "scale", "0.707107"),
        (3, "q0", "0.014166 0.985834 1.000000"),
        (3, "q1", "0.999151 0.000849 1.000000"),
        (4, "A00 v0", "0.042498 -0.042498"),
        (4, "A01 v1", "0.985834 2.957502"),
        (4, "o0", "1.028332 2.915004"),
        (4, "A10 v0", "2.997454 -2.997454"),
        (4, "A11 v1", "0.000849 0.002546"),
        (4, "o1", "2.998303 -2.994908"),
        (5, "o0", "1.000000 0.000000"),
        (5, "o1", "0.000000 1.000000"),
        (5, "objective", "-1.966576"),
        (5, "q0", "0.079000 -0.039500 -0.007195 0.062847 0.014166 0.999151"),
        (5, "q1", "-0.014389 0.007195 0.007195 -0.062847 0.985834 0.000849"),
        (6, "weight of the first, unscaled", "0.731059"),
        (6, r"weight of the first, / sqrt\(2\)", "0.669762"),
    ],
)
def test_the_figures_of_the_chapter_stand_in_their_rows(report, number, label, expected):
    assert rows(section(report, number), label) == [expected.split()]


def test_a_wrong_figure_shows_in_its_row(evidence):
    wrong = evidence.worked_example["weights"] + np.array([[0, 1e-6], [0, 0]])
    planted = dataclasses.replace(
        evidence, worked_example={**evidence.worked_example, "weights": wrong}
    )
    lines = section(evidence_report(planted), 3)
    assert rows(lines, "q0") == [["0.014166", "0.985835", "1.000001"]]


@pytest.mark.parametrize("number", range(1, 6))
def test_numbers_of_one_column_end_in_one_place(report, number):
    for table in "\n".join(section(report, number)).split("\n\n"):
        lines = [line for line in table.splitlines() if re.match(r"[qoA]\d", line)]
        ends = {tuple(match.end() for match in re.finditer(r"\d\.\d{6}", x)) for x in lines}
        assert len(ends) <= 1


def test_queries_label_rows_and_keys_label_columns(report):
    for number in (2, 3):
        header = next(line for line in section(report, number) if line.startswith("   "))
        assert header.split()[:2] == ["k0", "k1"]
    assert "a query is a row and a key is a column" in report


def test_the_cases_to_predict_are_told(report):
    text = "\n".join(section(report, 7))
    one, equal, moved, batch = re.split("equal keys|tokens in the order|two heads", text)
    assert "[5.000000, -2.000000]" in one
    assert one.count("[0.000000, 0.000000]") == 2
    assert "[0.500000, 0.500000] [0.500000, 0.500000]" in equal
    assert "[2.998303, -2.994908] [1.028332, 2.915004]" in moved
    assert moved.count("yes") == 2
    assert batch.count("[2, 2, 2]") == 3
    assert "yes" in batch


def test_every_shape_and_refusal_and_pair_is_listed(evidence, report):
    shapes = [re.findall(r"\[.*?\]", line) for line in section(report, 8)]
    assert shapes[3:] == [[str(list(x)) for x in case.values()] for case in evidence.shapes]
    refused = section(report, 9)[2:]
    assert refused == [f"{case['kind']}: {case['evidence']}" for case in evidence.rejected]
    history = "\n".join(section(report, 10))
    for name, pairs in evidence.history["pairs"].items():
        assert name in history
        assert all(f"{query} x {key}" in history for query, key in pairs)
    assert evidence.history["comparison"] in history


def test_the_checks_are_listed_and_the_last_line_says_that_all_holds(report):
    checks = section(report, 11)
    assert re.search(r"gradient check +passed", "\n".join(checks))
    assert re.search(r"4\+4\+4", "\n".join(checks))
    assert re.search(r"0\.000001, 0\.000002", "\n".join(checks))
    assert re.search(r"replay +bitwise", "\n".join(checks))
    assert report.endswith("\n\nEverything holds.")


def test_what_fails_is_listed_at_the_end(evidence):
    planted = dataclasses.replace(
        evidence,
        checks={**evidence.checks, "replay": "differs", "gradient_check": False},
        permutation={**evidence.permutation, "output_follows": False},
    )
    report = evidence_report(planted)
    assert "Everything holds." not in report
    closing = report.split("NOT everything holds. What fails:\n")[1]
    assert closing.splitlines() == [f"  - {claim}" for claim in planted.failures]
    assert len(planted.failures) == 3
    assert re.search(r"gradient check +FAILED", report)
    assert re.search(r"the output follows +NO", report)
