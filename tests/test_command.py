"""``python -m attnlib``, run as its users run it."""

import json
import os
import subprocess
import sys

import pytest

from attnlib.__main__ import main
from attnlib.lessons.evidence import learner_evidence

KEYS = {
    "worked_example": (
        "query key value raw_scores scaled_scores weights output scale key_width value_width "
        "weighted_values grad_output objective grad_query grad_key grad_value"
    ),
    "scale_probe": "scores unscaled scaled",
    "single_token": None,
    "equal_keys": None,
    "permutation": None,
    "batch_independence": None,
    "shapes": "query key value weights output",
    "rejected": "kind evidence",
    "history": "earlier bridge transformer comparison pairs",
    "checks": "row_sum_max_error gradient_check coordinates step tolerance replay",
}
PLANT = """
import dataclasses, runpy, sys
from attnlib.lessons import evidence
true = evidence.learner_evidence()
wrong = dataclasses.replace(true, checks={**true.checks, "replay": "differs"})
evidence.learner_evidence = lambda: wrong
sys.argv = ["attnlib", *sys.argv[1:]]
runpy.run_module("attnlib", run_name="__main__")
"""
BLOCK = """
import runpy, sys
for name in ("matplotlib", "IPython", "ipywidgets", "traitlets", "jupyter_client"):
    sys.modules[name] = None
sys.argv = ["attnlib", *sys.argv[1:]]
runpy.run_module("attnlib", run_name="__main__")
"""


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        capture_output=True,
        env={**os.environ, **environment},
        check=False,
        timeout=120,
    )


def test_it_prints_the_report_and_succeeds():
    done = run("-m", "attnlib")
    text = done.stdout.decode()
    assert done.returncode == 0
    assert done.stderr == b""
    for figure in ("0.014166", "2.957502", "-1.966576", "0.062847", "0.731059", "0.669762"):
        assert figure in text
    assert text.endswith("Everything holds.\n")


def test_its_json_has_the_promised_keys_in_order():
    plain = json.loads(run("-m", "attnlib", "--json").stdout)
    assert list(plain) == list(KEYS)
    for name, keys in KEYS.items():
        cases = plain[name] if isinstance(plain[name], list) else [plain[name]]
        if keys is not None:
            assert all(list(case) == keys.split() for case in cases)


def test_its_json_holds_the_evidence_to_the_last_bit():
    done = run("-m", "attnlib", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout) == learner_evidence().as_plain()


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_it_fails_when_a_claim_does_not_hold(options):
    done = run("-c", PLANT, *options)
    assert done.returncode == 1
    assert done.stderr == b""
    assert b"differs" in done.stdout


def test_the_report_names_what_does_not_hold():
    last = run("-c", PLANT).stdout.decode().splitlines()[-1]
    assert last == "  - a second run gives the same bits"


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_it_works_where_only_numpy_is_installed(options):
    assert run("-c", BLOCK, *options).stdout == run("-m", "attnlib", *options).stdout != b""


def test_a_windows_console_can_print_it():
    done = run("-m", "attnlib", PYTHONIOENCODING="cp1252")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "Everything holds." in done.stdout.decode("cp1252")


def test_a_reader_that_stops_early_meets_no_traceback():
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "attnlib"],
            stdout=closed,
            stderr=subprocess.PIPE,
            check=False,
            timeout=120,
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_help_says_what_it_does_and_what_its_exit_status_means():
    done = run("-m", "attnlib", "--help", COLUMNS="100")
    assert done.returncode == 0
    for words in (b"--json", b"Exit status", b"gradients"):
        assert words in done.stdout


def test_a_mistyped_option_is_refused_by_name():
    done = run("-m", "attnlib", "--jsn")
    assert done.returncode == 2
    assert b"--jsn" in done.stderr


def test_main_returns_its_exit_status(capsys):
    assert main([]) == 0
    assert capsys.readouterr().out.endswith("Everything holds.\n")


HANDED_IN = """
import numpy as np

def softmax(scores, axis=2):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)

def right(query, key, value):
    weights = softmax(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[2]))
    return weights @ value, weights

def wrong(query, key, value):
    weights = softmax(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[2]), axis=1)
    return weights @ value, weights

def right_back(query, key, value, grad_output):
    _, weights = right(query, key, value)
    dA = grad_output @ value.swapaxes(1, 2)
    dS = weights * (dA - (weights * dA).sum(axis=2, keepdims=True))
    dR = dS / np.sqrt(query.shape[2])
    return dR @ key, dR.swapaxes(1, 2) @ query, weights.swapaxes(1, 2) @ grad_output

def wrong_back(query, key, value, grad_output):
    dQ, dK, dV = right_back(query, key, value, grad_output)
    return dQ * np.sqrt(query.shape[2]), dK * np.sqrt(query.shape[2]), dV

def stub(query, key, value):
    return ...

def leaves(query, key, value):
    raise SystemExit(0)

NUMBER = 3
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("hand_ins") / "my_file.py"
    path.write_text(HANDED_IN, encoding="utf-8")
    return path


def check(*arguments, **environment):
    done = run("-m", "attnlib", "check", *map(str, arguments), **environment)
    assert b"Traceback" not in done.stderr
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class TestCheck:
    def test_a_right_head_ends_with_0(self, file):
        status, said, errors = check(f"{file}:right")
        assert (status, errors) == (0, "")
        assert said.strip()

    def test_a_wrong_head_ends_with_1_and_its_name(self, file):
        status, said, errors = check(f"{file}:wrong")
        assert (status, errors) == (1, "")
        assert "weights" in said.splitlines()[0]
        assert "softmax-over-queries" in said
        assert "expected" not in said
        assert said.endswith("Add --explain for the numbers.\n")
        assert ".explain()" not in said

    def test_the_numbers_come_when_they_are_asked_for(self, file):
        status, said, _ = check("--explain", f"{file}:wrong")
        assert status == 1
        assert "expected" in said
        assert "--explain" not in said

    def test_a_backward_is_checked_as_one(self, file):
        assert check(f"{file}:right_back", "--backward")[0] == 0
        status, said, _ = check("--backward", f"{file}:wrong_back")
        assert status == 1
        assert "gradient-scale-missing" in said

    def test_what_is_not_attempted_or_ends_python_is_wrong(self, file):
        status, said, _ = check(f"{file}:stub")
        assert (status, "not attempted yet" in said.lower()) == (1, True)
        assert check(f"{file}:leaves")[0] == 1

    @pytest.mark.parametrize(
        ("address", "words"),
        [
            ("{file}:wrnog", "did you mean wrong?"),
            ("{file}:NUMBER", "not a function"),
            ("{file}", "my_file.py:my_attention"),
            ("{folder}/none.py:f", "there is no file"),
            ("--explain {folder}:f", "is a folder"),
            ("{folder}/empty:f", "holds no hand-in"),
            ("{folder}/broken.py:f", "line 1, ModuleNotFoundError"),
            ("{folder}/ends.py:f", "ends Python while it is run"),
        ],
    )
    def test_what_cannot_be_run_ends_with_2_and_one_line(self, file, address, words):
        (file.parent / "broken.py").write_text("import no_such_library\n", encoding="utf-8")
        (file.parent / "ends.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
        (file.parent / "empty").mkdir(exist_ok=True)
        *options, address = address.split(" ")
        status, said, errors = check(*options, address.format(file=file, folder=file.parent))
        assert (status, said) == (2, "")
        assert words in errors
        assert errors.startswith("Not checked: ")
        assert len(errors.splitlines()) == 1

    def test_help_says_that_the_file_is_run_and_what_the_exit_status_means(self):
        status, said, _ = check("--help", COLUMNS="100")
        assert status == 0
        for words in ("run as Python would", "trust", "--backward", "Exit status: 0", "could not"):
            assert words in said

    def test_it_needs_an_address(self):
        status, _, errors = check()
        assert status == 2
        assert "FILE:FUNCTION" in errors

    def test_a_windows_console_can_print_any_name(self, file):
        other = file.parent / "größe_注.py"
        other.write_text("x = 1\n", encoding="utf-8")
        for address, status in ((f"{other}:f", 2), (f"{file}:wrong", 1)):
            done = run("-m", "attnlib", "check", address, PYTHONIOENCODING="cp1252")
            assert done.returncode == status
            assert b"Traceback" not in done.stderr
            assert (done.stdout + done.stderr).decode("cp1252").strip()

    def test_it_works_where_only_numpy_is_installed(self, file):
        done = run("-c", BLOCK, "check", f"{file}:right")
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("class")
    (path / "ana.py").write_text(HANDED_IN, encoding="utf-8")
    (path / "größe_注.py").write_text(HANDED_IN.replace("axis=2", "axis=1"), encoding="utf-8")
    return path


class TestCheckOfAFolder:
    def test_it_prints_a_table_that_fits_the_terminal(self, folder):
        status, said, errors = check(f"{folder}:right", COLUMNS="90")
        assert (status, errors) == (1, "")
        heading, _, right, wrong, *_ = said.splitlines()
        assert heading.split() == ["hand-in", "result", "what"]
        assert right.split() == ["ana.py", "right"]
        assert "softmax-over-queries: The softmax runs over the queries" in wrong
        assert max(map(len, said.splitlines())) <= 90

    def test_the_exit_status_tells_the_worst_that_happened(self, folder):
        assert check(f"{folder}/ana.py:right", "--json")[0] == 0
        assert check(f"{folder}:right")[0] == 1
        assert check(f"{folder}:no_such_function")[0] == 2

    def test_json_and_csv_are_for_other_programs(self, folder):
        plain = json.loads(check(f"{folder}:right", "--json")[1])
        assert [each["result"] for each in plain] == ["right", "wrong"]
        assert list(plain[0]) == ["file", "result", "mistake", "title", "stage", "said"]
        heading, *rows = check(f"{folder}:right", "--csv")[1].splitlines()
        assert heading == "file,result,mistake,title,stage,said"
        assert len(rows) == 2

    def test_a_windows_console_can_print_any_name(self, folder):
        done = run("-m", "attnlib", "check", f"{folder}:right", PYTHONIOENCODING="cp1252")
        assert (done.returncode, done.stderr) == (1, b"")
        assert r"größe_\u6ce8.py" in done.stdout.decode("cp1252")

    def test_help_says_what_a_folder_gives_and_what_it_does_not_protect_from(self):
        said = " ".join(check("--help", COLUMNS="100")[1].split())
        for words in ("FOLDER:FUNCTION", "after 30 s", "no protection", "--csv", "For a folder: 0"):
            assert words in said
