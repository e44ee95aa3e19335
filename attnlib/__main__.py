"""``python -m attnlib``: every claim of the lesson, as text for people or JSON for machines."""

import argparse
import json
import os
import sys

from attnlib.lessons.evidence import learner_evidence
from attnlib.views.report import evidence_report

DESCRIPTION = """\
Compute one self-attention head and everything the lesson says about it: scores, weights, output,
gradients, boundary cases, refusals and checks."""
EPILOG = "Exit status: 0 if every claim holds, 1 if one does not, 2 if the command was mistyped."


def main(argv=None):
    """Print the evidence.

    Parameters
    ----------
    argv : list of str, optional
        The arguments; those of the process by default.

    Returns
    -------
    int
        The exit status: 1 if a claim does not hold, else 0.
    """
    parser = argparse.ArgumentParser("python -m attnlib", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--json", action="store_true", help="print JSON, unrounded")
    arguments = parser.parse_args(argv)
    evidence = learner_evidence()
    if arguments.json:
        _write(json.dumps(evidence.as_plain(), indent=2, allow_nan=False))
    else:
        _write(evidence_report(evidence))
    return 1 if evidence.failures else 0


def _write(text):
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # The reader (`| head`) has seen enough; Python would still flush, and complain, at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
