"""What one token reads from: its sentence, each word with a line below it as thick as its weight.

The ground of a word is the darker, the more weight it has, and its number stands above it; the
strongest few are listed in words. Inline styles alone, as untrusted notebooks keep nothing else.
"""

import numpy as np

from attnlib.lessons.head_habits import checked, position, weights_of
from attnlib.views import style
from attnlib.views.real.head_words import percent
from attnlib.views.shape_page import SHEET
from attnlib.views.showing import Page
from attnlib.views.token_words import html, shown, spoken

THICKEST = 20
"""Pixels of the line below a word that has all the weight."""
LISTED = 5
"""How many of the strongest keys are listed."""
LEAST = 0.0005
"""Smaller shares would read 0.0 %."""

CELL = "display:inline-block;vertical-align:top;text-align:center;margin:0 4px 8px 0"
NUMBER = f"display:block;font-size:11px;line-height:14px;color:{style.SOFT_INK}"
WORD = f"display:block;line-height:22px;padding:0 2px;color:{style.INK}"
SMALL = f"font-size:13px;color:{style.SOFT_INK}"
BOX = f"background:{style.TINT};padding:0 4px"
"""Round a token in a list, so that a full stop isn't lost there."""
PLACE = "font-size:11px"
KEY = (
    "Above a word stands its share of the weight, in percent. The larger the share, the thicker "
    "the line below and the darker the ground. The word that reads has a frame."
)


def head_reading(reading, layer, head, query):
    """Show what one token reads from in one head of an encoder that has read a sentence.

    Parameters
    ----------
    reading : object
        With `tokens`, T of them, and `layers`, each with `weights` [heads, T, T].
    layer, head : int
        From 0.
    query : int
        The token's position, from 0.

    Returns
    -------
    Page
        The sentence and a list.

    Raises
    ------
    ValueError
        If there is no such layer, head or token.
    """
    weights = weights_of(reading, layer, head)
    return token_reading(reading.tokens, weights, query, f"Layer {layer}, head {head}")


def token_reading(tokens, weights, query, name="One head"):
    """Show what one token reads from.

    Parameters
    ----------
    tokens : sequence of str
        T tokens; any text.
    weights : array_like
        Shape [T (query), T (key)]; each query's weights sum to 1.
    query : int
        The token's position, from 0.
    name : str, default "One head"
        The title.

    Returns
    -------
    Page
        The sentence and a list.

    Raises
    ------
    ValueError
        If weights and tokens don't belong together, or there is no such token.
    """
    weights = checked(tokens, weights)
    position("a token's position", query, len(tokens))
    row = weights[query]
    words = "".join(
        _word(token, place, weight, place == query)
        for place, (token, weight) in enumerate(zip(tokens, row, strict=True))
    )
    title = f"<b>{html(name)}: what {_named(tokens[query], query)} reads from</b>"
    sheet = (
        f'<div style="{SHEET}"><div>{title}</div>'
        f'<div style="{SMALL}">{KEY}</div><div style="margin:10px 0 2px">{words}</div>'
        f"{_list(tokens, row)}</div>"
    )
    return Page(sheet, _description(tokens, row, query, name))


def _word(token, place, weight, asking):
    """One word of the sentence: its share, the word and its position, and the line below."""
    # Whole pixels, as browsers draw a thinner line too thick. The rest of the room is kept free.
    thick = int(THICKEST * weight + 0.5)
    look = (
        f"{WORD};background:{style.tint(weight)};border-bottom:{thick}px solid {style.INK};"
        f"margin-bottom:{THICKEST - thick}px"
    )
    frame = f";outline:{style.CHOSEN_MARK};outline-offset:2px" if asking else ""
    # The spaces keep words and numbers apart where no style is applied, and when read aloud.
    return (
        f'<span style="{CELL}{frame}"><span style="{NUMBER}">{_short(weight)}</span> '
        f'<span style="{look}">{_named(token, place)}</span></span> '
    )


def _short(weight):
    return "&lt;0.1" if 0 < weight < LEAST else f"{100 * weight:.1f}"


def _named(token, place):
    return f'<bdi>{html(shown(token))}</bdi> <span style="{PLACE}">·{place}</span>'


def _strongest(row):
    """The keys that are listed, the first of equal ones first, and what is said of the others."""
    keys = [key for key in np.argsort(-row, kind="stable")[:LISTED] if row[key] >= LEAST]
    count, share = len(row) - len(keys), percent(max(0.0, 1 - row[keys].sum()))
    if not count:
        return keys, ""
    return keys, f"the other {'key has' if count == 1 else f'{count} keys together have'} {share}"


def _list(tokens, row):
    keys, rest = _strongest(row)
    items = "".join(
        f'<li><span style="{BOX}">{_named(tokens[key], key)}</span> {percent(row[key])}</li>'
        for key in keys
    )
    return (
        f"<div>The strongest {'keys' if len(keys) > 1 else 'key'}:</div>"
        f'<ol style="margin:2px 0 4px;padding-left:28px">{items}</ol>'
        f'<div style="{SMALL}">{rest}</div>'
    )


def _description(tokens, row, query, name):
    keys, rest = _strongest(row)
    parts = [f"{percent(row[key])} of {spoken(tokens[key], key)}" for key in keys]
    parts += [rest] if rest else []
    return f"{name}: {spoken(tokens[query], query)} reads {', '.join(parts)}."
