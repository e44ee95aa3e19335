"""The tape as a table: an operation a row, with what it made and what came back through it."""

from html import escape

import numpy as np

from attnlib.lessons.tape_walk import RULES
from attnlib.views import numbers, style, tables
from attnlib.views.showing import Page

SHOWN = 4
"""Most rows and columns of a matrix that are written out; dots stand for the rest."""
AGREED = 1e-12
"""The difference that is told: the true one is a matter of rounding, and differs by machine."""
COLUMNS = ("node", "made by", "value", "gradient on the tape", "closed form", "sends back")
CELL = (
    f"text-align:left;vertical-align:top;padding:4px 8px;color:{style.INK};"
    f"background:{style.PAPER};border:{style.ROLES['plain'].css}"
)
# A caption lies outside its table's own background: on a dark page it needs one.
CAPTION = f"{tables.CAPTION};background:{style.PAPER}"
HEADER = f"{tables.HEADER};color:{style.INK};font-weight:bold;white-space:nowrap;text-align:left"
NUMBERS = "font-family:monospace;font-size:13px;white-space:pre"


def tape_table(nodes):
    """Show the nodes of a tape in the order in which they ran.

    Parameters
    ----------
    nodes : sequence of Node
        From `tape_walk`; of a batch, the first item is shown.

    Returns
    -------
    Page
        Each node's operation, shapes, value and both gradients; and the same in lines of text.
    """
    heads = "".join(
        f'<th scope="col" style="{tables.HEADER};text-align:left">{name}</th>' for name in COLUMNS
    )
    caption = (
        f"<b>The tape</b> read downwards it runs, read upwards it sends back. {_verdict(nodes)}"
    )
    html = (
        f'<table style="{tables.TABLE}"><caption style="{CAPTION}">{caption}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(map(_row, nodes))}</tbody></table>"
    )
    lines = [f"{node.symbol}: {_made_by(node)}; {_plain(node)}" for node in nodes]
    return Page(html, "\n".join([*lines, _verdict(nodes)]))


def _row(node):
    operation, rule = RULES.get(node.symbol, ("input", "nothing: here the way back ends"))
    arguments = [f"{name} {_shape(shape)}" for name, shape in node.arguments.items()]
    made = [operation, *arguments, f"{'to ' if arguments else ''}{_shape(node.shape)}"]
    cells = (
        _words(made),
        _matrix(node.value),
        _matrix(node.gradient),
        _matrix(node.closed_form),
        _words(rule.split(", ")),
    )
    name = f'<th scope="row" style="{HEADER}">{escape(node.symbol)}</th>'
    return f"<tr>{name}{''.join(cells)}</tr>"


def _made_by(node):
    if node.operation is None:
        return f"input {_shape(node.shape)}"
    operation, _ = RULES[node.symbol]
    arguments = " and ".join(f"{name} {_shape(shape)}" for name, shape in node.arguments.items())
    return f"{operation}, from {arguments} to {_shape(node.shape)}"


def _shape(shape):
    return f"[{', '.join(map(str, shape))}]"


def _plain(node):
    rows = " ".join(_lines(node.gradient))
    return f"d{node.symbol.replace(' ', '')} = {rows}"


def _words(lines):
    lines = "".join(f"<div>{escape(line)}</div>" for line in lines)
    return f'<td style="{CELL}">{lines}</td>'


def _matrix(batch):
    lines = "".join(f"<div>{line}</div>" for line in _lines(batch))
    return f'<td style="{CELL};{NUMBERS}">{lines}</td>'


def _lines(batch):
    """The rows of the first batch item, as text."""
    if not len(batch):
        return ["no batch item"]
    matrix = np.asarray(batch[0])
    more = ["…"] if matrix.shape[1] > SHOWN else []
    lines = [
        f"[{', '.join([*(numbers.signed(numbers.fixed(entry)) for entry in row), *more])}]"
        for row in matrix[:SHOWN, :SHOWN]
    ]
    return lines + (["…"] if len(matrix) > SHOWN else [])


def _verdict(nodes):
    largest = max(node.difference for node in nodes)
    if largest <= AGREED:
        return f"Tape and closed form: no difference above {AGREED:g}."
    return f"Tape and closed form differ by up to {largest:.2g}."
