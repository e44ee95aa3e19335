"""What a check found, and what a mistake of the catalogue does, as pages.

A verdict begins with where to look and what to ask oneself; hints, name and numbers are folded.
"""

import re
from html import escape

from attnlib.lessons.checking.verdicts import TITLES
from attnlib.lessons.contrasts import Pair, contrast
from attnlib.views import numbers, style, tables
from attnlib.views.axis_page import LINE, SHEET
from attnlib.views.pairs import GRIDS, drawable, first_item, pair_sentence, pair_tables
from attnlib.views.showing import Page

CODE = "font-family:monospace"
FOLD = f"{LINE};margin-top:8px"
KEPT = "white-space:pre-wrap;font-family:monospace"
FRAMED = "A solid frame marks each cell that departs."
UNATTEMPTED = "Not attempted yet."
NEXT = "Put your own code in the place of the `...`, run that cell, then this one."
DIGITS = 3
"""Of a mistake's grids: they are looked at, not computed with."""


def verdict_page(verdict):
    """Show a verdict: the stage, the symptom and the question; hints and numbers folded.

    Parameters
    ----------
    verdict : Verdict
        From `check_forward`, `check_backward` or `check_stage`.

    Returns
    -------
    Page
        All that comes from the hand-in is shown as text; as text, the page is the verdict's own.
    """
    if not verdict.attempted:
        html = f"<div><b>{UNATTEMPTED}</b> {prose(NEXT)}</div>"
        return Page(f'<div style="{SHEET}">{html}</div>', f"{UNATTEMPTED} {NEXT}")
    parts = _right(verdict) if verdict.passed else _wrong(verdict)
    parts += [_line("Remark", prose(remark)) for remark in verdict.remarks]
    if verdict.printed:
        parts.append(_line("It printed", f'<span style="{KEPT}">{escape(verdict.printed)}</span>'))
    parts += _folded(verdict)
    return Page(f'<div style="{SHEET}">{"".join(parts)}</div>', repr(verdict))


def mistake_page(mistake):
    """Show what a mistake does to one input.

    Parameters
    ----------
    mistake : Mistake
        From `attnlib.lessons.mistakes.CATALOGUE`.

    Returns
    -------
    Page
        The sign that gives it away, what departs beside what is right, the departing cells framed;
        the explanation is folded.
    """
    found = contrast(mistake)
    name = f'<span style="{CODE};color:{style.SOFT_INK}">{escape(mistake.id)}</span>'
    where = escape(_named(found.fixture))
    parts = [
        f"<div><b>{escape(mistake.title)}</b> {name}</div>",
        _line("What gives it away", prose(mistake.signature)),
        f'<div style="color:{style.SOFT_INK}">Input: {where}. {FRAMED}</div>',
    ]
    parts += [_line("It raises", escape(found.error))] if found.error else []
    parts += [pair_tables(pair, DIGITS, "wrong") for pair in found.pairs]
    parts.append(_fold("What is wrong, and the mend", f"<div>{prose(mistake.paragraph)}</div>"))
    lines = [f"{mistake.title} ({mistake.id}). {mistake.signature}"]
    lines += [f"It raises {found.error}"] if found.error else []
    lines += [pair_sentence(pair, DIGITS) for pair in found.pairs]
    return Page(f'<div style="{SHEET}">{"".join(parts)}</div>', "\n".join(lines))


def _named(fixture):
    batch, tokens, width = fixture.query.shape
    return f"{fixture.name} (B={batch}, T={tokens}, d_k={width}, d_v={fixture.value.shape[2]})"


def prose(text):
    """Escape a text; what stands between backquotes is shown as code.

    Parameters
    ----------
    text : str
        Any words.

    Returns
    -------
    str
        HTML.
    """
    return re.sub(r"`([^`]+)`", rf'<span style="{CODE}">\1</span>', escape(text))


def _right(verdict):
    return [_line("Right", prose(verdict.message.removeprefix("Right: ")))]


def _wrong(verdict):
    first = repr(verdict).splitlines()[0]
    parts = [f"<div><b>{prose(first)}</b></div>", _line("What shows", prose(verdict.message))]
    if verdict.question:
        parts.append(_line("Ask yourself", prose(verdict.question)))
    if verdict.more:
        parts.append("<div>More mistakes may follow once this one is mended.</div>")
    return parts


def _folded(verdict):
    """Hints from vague to plain; the last two are the mistake's name and its mend."""
    said = (verdict.question, verdict.title, verdict.paragraph)
    hints = [("", prose(hint)) for hint in verdict.hints if hint not in said and not _points(hint)]
    if verdict.mistake is not None:
        also = f" The same numbers come from {', '.join(verdict.also)}." if verdict.also else ""
        name = f'<span style="{CODE}">{escape(verdict.mistake)}</span>'
        named = f"<b>{escape(verdict.title)}</b>, {name}.{escape(also)}"
        hints.append((": the name of the mistake", named))
    if verdict.paragraph:
        hints.append((": the mend", prose(verdict.paragraph)))
    folds = [
        _fold(f"Hint {position}{lead}", f"<div>{hint}</div>")
        for position, (lead, hint) in enumerate(hints, 1)
    ]
    if verdict.counterexample is not None:
        folds.append(_fold("The numbers", _numbers(verdict.counterexample)))
    return folds


def _points(hint):
    """Whether a hint only names the stage, which stands in the first line already."""
    return any(hint == f"Look at the {title}." for title in TITLES.values())


def _numbers(example):
    parts = [f"<div>On the input <b>{escape(example.name)}</b>:</div>"]
    came = _pair(example)
    item = 0 if came is None else first_item(came)
    inputs = [_input(name, array, item) for name, array in example.inputs.items()]
    parts.append(f"<div>{''.join(inputs)}</div>")
    if example.said:
        parts.append(_line("It raised", escape(example.said)))
    if came is not None:
        parts.append(f"{pair_tables(came)}<div>{FRAMED}</div>")
    return "".join(parts)


def _pair(example):
    if example.expected is None or example.got is None:
        return None
    backward = "grad_output" in example.inputs
    name = f"d{example.stage}" if backward else example.stage
    name = name if name in GRIDS else TITLES.get(example.stage, example.stage)
    departs = example.departing
    if departs is None:
        departs = example.got == example.got
    return Pair(name, example.expected, example.got, departs)


def _input(name, array, item):
    title, role, letter, _ = GRIDS.get(name, ("dOutput", "plain", "o", ""))
    if not drawable(array):
        return f"<div>{title}: shape {list(array.shape)}</div>"
    shown = array[item]
    heads = [f"feature {feature}" for feature in range(shown.shape[1])]
    rows = numbers.labels(letter, len(shown))
    note = f"batch item {item}" if len(array) > 1 else ""
    return tables.matrix(title, shown, role, rows, heads, note, DIGITS)


def _line(lead, html):
    return f"<div><b>{lead}:</b> {html}</div>"


def _fold(summary, html):
    return f'<details style="{FOLD}"><summary>{escape(summary)}</summary>{html}</details>'
