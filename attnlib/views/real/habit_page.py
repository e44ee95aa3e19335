"""The habits of an encoder's heads as a table: how many heads have each, and the strongest ones."""

from html import escape

from attnlib.lessons.head_habits import HABITS, THRESHOLD, strongest, survey
from attnlib.views import numbers, style, tables
from attnlib.views.real.head_sheet import sheet_sentence
from attnlib.views.shape_page import RULED, SHEET, TEXT
from attnlib.views.showing import Page

LISTED = 3
"""How many of the strongest heads are named."""


def habit_page(reading):
    """Show for each habit how many heads have it, and which read there most.

    Parameters
    ----------
    reading : object
        With `tokens`, T of them, and `layers`, each with `weights` [heads, T, T].

    Returns
    -------
    Page
        A table, a habit a row.
    """
    surveyed = survey(reading)
    rows = "".join(_row(surveyed, name) for name in HABITS)
    head = f"{TEXT};color:{style.SOFT_INK}"
    places = ("the most", "second", "third")
    columns = "".join(
        f'<th scope="col" style="{head}">{escape(words)}</th>'
        for words in ("where the weight goes", "heads", *places)
    )
    caption = (
        "<b>Habits of the heads</b>"
        f"<div>heads: how many give more than {100 * THRESHOLD:.0f} % of their weight to it, "
        "averaged over the queries that have one</div>"
    )
    html = (
        f'<div style="{SHEET}"><table style="{tables.TABLE};border-collapse:collapse">'
        f'<caption style="{tables.CAPTION}">{caption}</caption>'
        f"<thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
    return Page(html, sheet_sentence(surveyed))


def _row(surveyed, name):
    count = sum(name in habits.habits for layer in surveyed for habits in layer)
    named = [
        f"layer {layer}, head {head}: {numbers.fixed(share, 3)}"
        for layer, head, share in strongest(surveyed, name)[:LISTED]
    ]
    named += ["\N{EN DASH}"] * (LISTED - len(named))
    cells = "".join(f'<td style="{TEXT};{RULED}">{words}</td>' for words in (count, *named))
    return f'<tr><th scope="row" style="{TEXT};{RULED}">{HABITS[name]}</th>{cells}</tr>'
