"""A token by its place in a head and its own words, and what of them a small picture has room for.

``q₀ animal`` in tables and lists, ``q₀ “animal”`` within a sentence; equal tokens differ in place.
"""

from functools import lru_cache

from matplotlib import font_manager
from PIL import ImageFont

from attnlib.views import numbers, token_words
from attnlib.views.token_words import END, FONT, ISOLATE

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
LEAST, MOST = 2, 64
"""Characters that are worth printing, the ellipsis among them, and that a picture could hold."""


def named(letter, position, labels=()):
    """Name one token by its place and, where it has any, its words: ``q₀ animal``."""
    return _joined(numbers.label(letter, position), position, labels, "{}")


def spoken(name, position, labels=()):
    """Add a token's words to its name within a sentence: ``q₀ “animal”``."""
    return _joined(name, position, labels, "“{}”")


def all_named(letter, count, labels=()):
    """Name `count` tokens in order; without a letter they are features, and have no words."""
    return [named(letter, position, labels if letter else ()) for position in range(count)]


def _joined(name, position, labels, form):
    return f"{name} {form.format(whole(labels[position]))}" if labels else name


def whole(words):
    """All of a token's words as text to show, whose direction stays its own; not yet escaped."""
    words = token_words.shown(words)
    return f"{ISOLATE}{words}{END}" if token_words.turns(words) else words


@lru_cache(maxsize=1024)
def fitting(words, size, room):
    """Shorten a token's words to the room that a picture has for them.

    Parameters
    ----------
    words : str
        A token.
    size : float
        Of the font, in pixels.
    room : float
        In pixels.

    Returns
    -------
    str
        All of it, or its beginning and an ellipsis; nothing where that would be too little, or
        where the font of pictures can't draw it.
    """
    words = token_words.shown(words) if words else ""
    if not words or token_words.in_font(words) != words:
        return ""
    if len(words) <= MOST and length(words, size) <= room:
        return words
    kept = range(min(len(words) - 1, MOST), 0, -1)
    shorter = (words[:count].rstrip() + ELLIPSIS for count in kept)
    found = next((text for text in shorter if length(text, size) <= room), "")
    return found if len(found) >= LEAST else ""


def length(words, size):
    """How long words are in a picture, in pixels, in a font of this size in pixels."""
    return _font(size).getlength(words)


@lru_cache(maxsize=8)
def _font(size):
    return ImageFont.truetype(font_manager.findfont(FONT), size)
