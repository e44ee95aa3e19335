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
