"""A token as a label: whole, visible, told apart by its position, and kept from its neighbours.

A token may be any text: markup, mathematics, a space, an emoji, a word that is read from right to
left. It is never shortened; what can't be seen or drawn is named by its code point.
"""

import re
import unicodedata
from functools import lru_cache
from html import escape

from matplotlib import font_manager, ft2font

FONT = "DejaVu Sans"
"""It comes with matplotlib, so that labels are the same everywhere."""

JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
ISOLATE, END = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"
LEFT_TO_RIGHT = "\N{LEFT-TO-RIGHT MARK}"
CIRCLE, SPACE = "\N{DOTTED CIRCLE}", "\N{OPEN BOX}"


def shown(token):
    """Make everything in a token visible.

    Parameters
    ----------
    token : str
        Any text.

    Returns
    -------
    str
        A space is ␣; control characters, also those that turn the direction of what follows, are
        code points such as ‹U+202E›; an accent alone stands on a dotted circle. Not yet escaped.
    """
    joins = token.strip(JOINERS) != ""
    words = "".join(_visible(letter, joins) for letter in unicodedata.normalize("NFC", token))
    if words and unicodedata.category(words[0]).startswith("M"):
        words = CIRCLE + words
    return words or "(empty)"


def label(token, position):
    """Name a token and its position, which keeps equal tokens apart: ``the ·7``."""
    return f"{shown(token)} ·{position}"


def spoken(token, position):
    """Name a token for running text, so that its direction doesn't reach the words around it."""
    words = shown(token)
    return f"{ISOLATE}{words}{END} ·{position}" if turns(words) else label(token, position)


def html(words):
    """Escape words for a page: neither markup nor, between dollar signs, mathematics.

    JupyterLab typesets what stands between two delimiters in one piece of text, so that a tag
    round each of them keeps them apart.
    """
    return re.sub(r"[$\\]", r"<span>\g<0></span>", escape(words))


def drawn(token, position):
    """Name a token for a picture: what the font can't draw is a code point, ‹U+1F680›."""
    words = in_font(shown(token))
    if turns(words):
        words = f"{LEFT_TO_RIGHT}{words}{LEFT_TO_RIGHT}"
    return f"{words} ·{position}"


def in_font(words):
    """Name by its code point what a picture can't show: its font lacks it, or it would turn it."""
    ordered = hasattr(ft2font, "__libraqm_version__")  # from matplotlib 3.11 on
    return "".join(
        letter
        if ord(letter) in _drawable() and (ordered or not turns(letter))
        else _code_point(letter)
        for letter in words
    )


def turns(words):
    """Whether a part of these words is read from right to left."""
    return any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in words)


def _visible(letter, joins):
    if letter == " ":
        return SPACE
    kind = unicodedata.category(letter)
    if (kind[0] == "C" or kind[0] == "Z") and not (joins and letter in JOINERS):
        return _code_point(letter)
    return letter


def _code_point(letter):
    """In brackets, so that no letter after it is taken for a digit of it."""
    return f"‹U+{ord(letter):04X}›"


@lru_cache(maxsize=1)
def _drawable():
    return frozenset(ft2font.FT2Font(font_manager.findfont(FONT)).get_charmap())
