"""``python -m attnlib``: every claim of the lesson; ``python -m attnlib check``: your own head."""

import argparse
import json
import os
import shutil
import sys

from attnlib.lessons.checker import check_backward, check_forward
from attnlib.lessons.checking.verdicts import MORE
from attnlib.lessons.evidence import learner_evidence
from attnlib.lessons.hand_ins import folders, opening
from attnlib.lessons.hand_ins.results import exit_status
from attnlib.views import hand_in_table
from attnlib.views.report import evidence_report

DESCRIPTION = """\
Compute one self-attention head and everything the lesson says about it: scores, weights, output,
gradients, boundary cases, refusals and checks. Or check a head that you wrote."""
EPILOG = "Exit status: 0 if every claim holds, 1 if one does not, 2 if the command was mistyped."
CHECK = """\
Check an attention function of your own: which stage departs first, the name of the mistake, and
what to ask yourself.

The file is run as Python would run it when it is imported, with its own folder first among the
places to import from. So it can do whatever Python can: check only files that you trust. What
stands under if __name__ == "__main__" does not run. Of a notebook (.ipynb), only the function
runs, and the imports, definitions and assignments that it uses.

A folder gives a table, with a row for each .py and .ipynb file in it. Each is run in a process of
its own and stopped after {seconds:g} s, so that one which hangs or ends Python stops no other. That
is no protection from a file that means harm."""
CHECK_EPILOG = """\
A forward function takes (query, key, value), each [batch, tokens, features], and returns the
output, or (output, weights), or a dict with any of raw_scores, scaled_scores, weights, output.
A backward function takes (query, key, value, grad_output) and returns (dQ, dK, dV).

Exit status: 0 if it is right, 1 if it is wrong, 2 if it could not be run. For a folder: 0 if all
are right, 2 if any could not be run or there is none, else 1."""
RIGHT, WRONG, NOT_RUN = 0, 1, 2


def main(argv=None):
    """Print the evidence, or check a hand-in.

    Parameters
    ----------
    argv : list of str, optional
        The arguments; those of the process by default.

    Returns
    -------
    int
        The exit status: 1 if a claim does not hold or the hand-in is wrong, 2 if it could not be
        run, else 0.
    """
    arguments = _parser().parse_args(argv)
    if arguments.command == "check":
        return _check(arguments)
    evidence = learner_evidence()
    if arguments.json:
        _write(json.dumps(evidence.as_plain(), indent=2, allow_nan=False))
    else:
        _write(evidence_report(evidence))
    return 1 if evidence.failures else 0


def _parser():
    parser = argparse.ArgumentParser("python -m attnlib", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--json", action="store_true", help="print JSON, unrounded")
    check = parser.add_subparsers(dest="command", title="check your own").add_parser(
        "check",
        help="check an attention function in a file of your own",
        description=CHECK.format(seconds=folders.SECONDS),
        epilog=CHECK_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check.add_argument(
        "address",
        metavar="FILE:FUNCTION",
        help=f"such as {opening.EXAMPLE}, or FOLDER:FUNCTION; each file is run",
    )
    check.add_argument("--backward", action="store_true", help="it computes gradients: check them")
    form = check.add_mutually_exclusive_group()
    form.add_argument("--explain", action="store_true", help="print the numbers of one file too")
    form.add_argument(
        "--json", dest="form", action="store_const", const="json", help="print a list in JSON"
    )
    form.add_argument(
        "--csv", dest="form", action="store_const", const="csv", help="print a table in CSV"
    )
    return parser


def _check(arguments):
    try:
        path, _ = opening.parted(arguments.address)
        if arguments.form or (path.is_dir() and not arguments.explain):
            return _check_many(arguments)
        return _check_one(arguments)
    except opening.HandInError as refusal:
        _write(f"Not checked: {refusal}", sys.stderr)
        return NOT_RUN


def _check_one(arguments):
    judge = check_backward if arguments.backward else check_forward
    with opening.opened(arguments.address) as function:
        verdict = judge(function)
    said = str(verdict)
    if said.endswith(MORE):
        asked = f"\n{verdict.explain()}" if arguments.explain else "Add --explain for the numbers."
        said = said.removesuffix(MORE) + asked
    _write(said)
    return RIGHT if verdict.passed else WRONG


def _check_many(arguments):
    results = folders.check(arguments.address, arguments.backward)
    if arguments.form == "json":
        _write(hand_in_table.as_json(results))
    elif arguments.form == "csv":
        _write(hand_in_table.as_csv(results))
    else:
        _write(hand_in_table.table(results, shutil.get_terminal_size((100, 24)).columns))
    return exit_status(results)


def _write(text, stream=None):
    stream = stream or sys.stdout
    # A console that lacks a letter of somebody's file name still says all the rest.
    encoding = stream.encoding or "utf-8"
    text = text.encode(encoding, "backslashreplace").decode(encoding)
    try:
        print(text, file=stream, flush=True)
    except BrokenPipeError:
        # The reader (`| head`) has seen enough; Python would still flush, and complain, at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
