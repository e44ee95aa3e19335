"""The cheap signs of all mistakes on one page: the stage that departs, and what gives it away."""

from html import escape

from attnlib.lessons.checking.verdicts import TITLES
from attnlib.lessons.mistakes import CATALOGUE
from attnlib.views import style, tables
from attnlib.views.showing import Page
from attnlib.views.verdicts import CODE, prose

HEADS = ("mistake", "departs first", "what gives it away")
CELL = (
    f"text-align:left;vertical-align:top;padding:4px 8px;color:{style.INK};"
    f"background:{style.PAPER};border:{style.ROLES['plain'].css}"
)
SHEET = f"background:{style.PAPER};color:{style.INK};padding:8px 12px;font-size:14px"
NAMES = {"forward": "way forward", "backward": "way back"}


def signs_page(direction):
    """List the mistakes of one direction with their signs.

    Parameters
    ----------
    direction : str
        ``"forward"`` or ``"backward"``.

    Returns
    -------
    Page
        A folded table, in the order in which a head is computed; the same in lines of text.
    """
    listed = [m for m in CATALOGUE.values() if m.direction == direction]
    heads = "".join(
        f'<th scope="col" style="{tables.HEADER};text-align:left">{head}</th>' for head in HEADS
    )
    table = (
        f'<table style="{tables.TABLE}"><caption style="{tables.CAPTION}">'
        f"<b>Signs, {NAMES[direction]}</b></caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(map(_row, listed))}</tbody></table>"
    )
    summary = f"The signs of {len(listed)} mistakes on the {NAMES[direction]}"
    html = f'<details style="{SHEET}"><summary>{summary}</summary>{table}</details>'
    return Page(html, "\n".join(f"{m.id} ({TITLES[m.stage]}): {m.signature}" for m in listed))


def _row(mistake):
    name = f'<th scope="row" style="{CELL};{CODE};font-size:13px">{escape(mistake.id)}</th>'
    texts = map(prose, (TITLES[mistake.stage], mistake.signature))
    cells = "".join(f'<td style="{CELL}">{text}</td>' for text in texts)
    return f"<tr>{name}{cells}</tr>"
