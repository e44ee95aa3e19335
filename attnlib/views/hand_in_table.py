"""Results of hand-ins as a table for a terminal, and as a file for a gradebook."""

import csv
import io
import json
import unicodedata
from collections import Counter
from dataclasses import fields
from textwrap import wrap

from attnlib.lessons.hand_ins.results import (
    NOT_ATTEMPTED,
    NOT_RUN,
    RIGHT,
    WRONG,
    Result,
)

HEADINGS = ("hand-in", "result", "what")
GAP = "  "
NAME, RESULT = 36, len(NOT_ATTEMPTED)
LEAST = 30
# Says nothing without what was raised.
RAISES = "raises"
# What a spreadsheet would take for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def table(results, width=100):
    """Lay results out in columns: one row for each hand-in, then how many of each.

    Parameters
    ----------
    results : sequence of Result
    width : int, default 100
        How many columns the terminal has.

    Returns
    -------
    str
        No newline at the end. A file's name is never cut: a long one has a line of its own.
    """
    first = min(NAME, max(_columns(x) for x in [HEADINGS[0], *(each.file for each in results)]))
    rest = max(LEAST, width - first - RESULT - 2 * len(GAP))
    lines = _row(HEADINGS[0], HEADINGS[1], HEADINGS[2], first, rest)
    lines.append(GAP.join("-" * size for size in (first, RESULT, rest)))
    for each in results:
        lines += _row(each.file, each.result, _what(each), first, rest)
    return "\n".join([*lines, "", *_counts(results)])


def _row(file, result, what, first, rest):
    name = file if _columns(file) <= first else ""
    lines = [] if name else [file]
    words = wrap(what, rest, break_on_hyphens=False) or [""]
    lines.append(GAP.join([name + " " * (first - _columns(name)), f"{result:{RESULT}}", words[0]]))
    lines += [" " * (first + RESULT + 2 * len(GAP)) + more for more in words[1:]]
    return [line.rstrip() for line in lines]


def _columns(text):
    """Return how many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


def _what(result):
    if result.result == NOT_RUN:
        return result.said
    if result.result != WRONG:
        return ""
    if result.mistake in ("", RAISES):
        return f"{result.mistake or 'no mistake known by name'}: {result.said}"
    return f"{result.mistake}: {result.title}"


def _counts(results):
    many = Counter(each.result for each in results)
    kinds = [f"{many[kind]} {kind}" for kind in (RIGHT, WRONG, NOT_ATTEMPTED, NOT_RUN)]
    hand_ins = f"{len(results)} hand-in{'s' * (len(results) != 1)}"
    lines = [f"{hand_ins}: {', '.join(kinds)}."]
    mistakes = Counter(each.mistake for each in results if each.mistake not in ("", RAISES))
    shared = [f"{name} ({times})" for name, times in mistakes.most_common() if times > 1]
    return lines + [f"More than once: {', '.join(shared)}."] * bool(shared)


def as_csv(results):
    """Return results as comma-separated values, with a heading.

    Parameters
    ----------
    results : sequence of Result

    Returns
    -------
    str
        One line for each hand-in. A text that a spreadsheet would compute starts with ``'``.
    """
    written = io.StringIO()
    names = [each.name for each in fields(Result)]
    rows = csv.DictWriter(written, names, lineterminator="\n")
    rows.writeheader()
    for each in results:
        plain = each.as_plain().items()
        rows.writerow({k: f"'{v}" if v.startswith(FORMULA) else v for k, v in plain})
    return written.getvalue().rstrip("\n")


def as_json(results):
    """Return results as a JSON list with an object for each hand-in."""
    return json.dumps([each.as_plain() for each in results], indent=2)
