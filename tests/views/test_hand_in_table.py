"""Results in columns for a terminal, and in files for a gradebook."""

import csv
import io
import json

import pytest

from attnlib.lessons.hand_ins.results import NOT_ATTEMPTED, NOT_RUN, RIGHT, WRONG, Result
from attnlib.views import hand_in_table

LONG = "a_name_as_a_learning_platform_makes_them_assignsubmission_file_4711.py"
RESULTS = [
    Result("ana.py", RIGHT, said="Right: it agrees."),
    Result("bo.py", WRONG, "scale-missing", "The scale is missing", "scaled scores", "Too uneven."),
    Result("cy.py", WRONG, "scale-missing", "The scale is missing", "scaled scores", "Too uneven."),
    Result("di.py", WRONG, "raises", "The call raises", "call", "it raises ValueError: no."),
    Result("ed.py", WRONG, said="The output departs."),
    Result("注.py", NOT_ATTEMPTED, said="Not attempted yet."),
    Result(LONG, NOT_RUN, said="it was not done after 30 s and was stopped: look for a loop."),
]


def rows(text):
    return text.split("\n\n")[0].splitlines()[2:]


class TestTable:
    @pytest.mark.parametrize("width", [20, 80, 100, 200])
    def test_columns_stand_below_each_other_and_no_name_is_cut(self, width):
        said = hand_in_table.table(RESULTS, width)
        assert LONG in said.splitlines()
        start = said.splitlines()[0].index("what")
        for line in rows(said):
            if line != LONG:
                wide = sum(letter == "注" for letter in line)
                assert line[start - 2 - wide : start - wide].strip() == ""

    def test_a_wide_enough_terminal_is_never_overrun(self):
        said = hand_in_table.table(RESULTS, 100)
        assert max(len(line) for line in said.splitlines()) <= 100
        assert all(line == line.rstrip() for line in said.splitlines())

    def test_each_row_says_what_became_of_it(self):
        said = hand_in_table.table(RESULTS, 200)
        ana, bo, _, di, ed, stub, *_, last = rows(said)
        assert ana.split() == ["ana.py", "right"]
        assert bo.endswith("wrong          scale-missing: The scale is missing")
        assert di.endswith("raises: it raises ValueError: no.")
        assert ed.endswith("no mistake known by name: The output departs.")
        assert stub.split() == ["注.py", "not", "attempted"]
        assert last.split(maxsplit=2)[2].startswith("it was not done after 30 s")

    def test_the_end_counts_them_and_names_what_several_made(self):
        count, shared = hand_in_table.table(RESULTS).splitlines()[-2:]
        assert count == "7 hand-ins: 1 right, 4 wrong, 1 not attempted, 1 not run."
        assert shared == "More than once: scale-missing (2)."

    def test_one_is_not_several(self):
        said = hand_in_table.table(RESULTS[:1])
        assert said.endswith("1 hand-in: 1 right, 0 wrong, 0 not attempted, 0 not run.")


class TestFiles:
    def test_json_and_csv_hold_every_result_whole(self):
        plain = [each.as_plain() for each in RESULTS]
        assert json.loads(hand_in_table.as_json(RESULTS)) == plain
        assert list(csv.DictReader(io.StringIO(hand_in_table.as_csv(RESULTS)))) == plain

    @pytest.mark.parametrize("start", ["=", "+", "-", "@"])
    def test_a_spreadsheet_computes_nothing_that_was_handed_in(self, start):
        text = hand_in_table.as_csv([Result(f"{start}1+1.py", NOT_RUN, said='a "b", c')])
        (row,) = csv.DictReader(io.StringIO(text))
        assert row["file"] == f"'{start}1+1.py"
        assert row["said"] == 'a "b", c'
