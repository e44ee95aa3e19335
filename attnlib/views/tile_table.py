"""The online softmax as a table: a tile of keys a row, with what one query then knows."""

from attnlib.views import numbers, style, tables
from attnlib.views.showing import Page

COLUMNS = (
    ("tile", ""),
    ("scores", "s"),
    ("largest", "m"),
    ("rescale", "exp(m before − m)"),
    ("powers", "exp(s − m)"),
    ("running sum", "ℓ"),
    ("running mixture", "o"),
    ("answer so far", "o ÷ ℓ"),
)
"""Name and symbol of each."""
CELL = (
    f"text-align:left;vertical-align:top;padding:4px 8px;color:{style.INK};"
    f"background:{style.PAPER};border:{style.ROLES['plain'].css}"
)
NUMBERS = "font-family:monospace;font-size:13px;white-space:pre"
HEADER = f"{tables.HEADER};color:{style.INK};text-align:left;white-space:nowrap"
CAPTION = f"{tables.CAPTION};background:{style.PAPER}"
SHOWN = 4
"""Most numbers of a list that are written out; dots stand for the rest."""


def tile_table(steps, query=0):
    """Show how one query reads its keys tile by tile.

    Parameters
    ----------
    steps : sequence of TileStep
        From `online_softmax.trace`.
    query : int, default 0
        Its number, for the caption.

    Returns
    -------
    Page
        A row for each tile; and the same in lines of text.
    """
    heads = "".join(
        f'<th scope="col" style="{HEADER}"><div>{name}</div><div>{symbol}</div></th>'
        for name, symbol in COLUMNS
    )
    caption = (
        f"<b>{numbers.label('q', query)} reads its keys</b>, a tile a row; "
        f"ln ℓ + m at the end: {_number(steps[-1].log_sum_exp)}"
    )
    html = (
        f'<table style="{tables.TABLE}"><caption style="{CAPTION}">{caption}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(map(_row, steps))}</tbody></table>"
    )
    lines = [_line(step) for step in steps]
    return Page(html, f"{numbers.label('q', query)} reads its keys.\n" + "\n".join(lines))


def _row(step):
    cells = (
        _list(step.scores),
        _number(step.largest),
        _number(step.rescale),
        _list(step.powers),
        _number(step.total),
        _list(step.mixture),
        _list(step.output),
    )
    body = "".join(f'<td style="{CELL};{NUMBERS}">{cell}</td>' for cell in cells)
    return f'<tr><th scope="row" style="{HEADER}">{_keys(step)}</th>{body}</tr>'


def _line(step):
    return (
        f"{_keys(step)}: largest {_number(step.largest)}, rescale {_number(step.rescale)}, sum "
        f"{_number(step.total)}, mixture {_list(step.mixture)}, answer so far {_list(step.output)}."
    )


def _keys(step):
    """The keys of a tile: k₀, or k₀ to k₂."""
    first, last = (numbers.label("k", key) for key in (step.keys[0], step.keys[-1]))
    return first if first == last else f"{first} to {last}"


def _number(number):
    return numbers.signed(numbers.fixed(number))


def _list(entries):
    more = ["…"] if len(entries) > SHOWN else []
    return f"[{', '.join([*map(_number, entries[:SHOWN]), *more])}]"
