"""An array as it should be beside the one that came: departing cells framed, and counted."""

from html import escape

import numpy as np

from attnlib.views import numbers, style, tables

MOST = 6
"""Rows and columns that are shown; the words count all of them."""
MOST_DIGITS = 12
GRIDS = {
    "raw_scores": ("Raw scores", "score", "q", "k"),
    "scaled_scores": ("Scaled scores", "score", "q", "k"),
    "weights": ("Weights", "probability", "q", "k"),
    "output": ("Output", "plain", "o", ""),
    "query": ("Q", "query", "q", ""),
    "key": ("K", "key", "k", ""),
    "value": ("V", "value", "v", ""),
    "dquery": ("dQ", "plain", "q", ""),
    "dkey": ("dK", "plain", "k", ""),
    "dvalue": ("dV", "plain", "v", ""),
}
"""array -> its title, its role, and the letters of its rows and columns."""


def pair_tables(pair, digits=6, came="yours"):
    """Show a pair as two tables under a sentence.

    Parameters
    ----------
    pair : Pair
        Of the first batch item in which it departs, or of the first one.
    digits : int, default 6
        Decimals of each number.
    came : str, default "yours"
        What the second table is called; the first is the right one.

    Returns
    -------
    str
        HTML; where nothing departs, or the shapes differ, the sentence alone tells it.
    """
    sentence = f"<div>{escape(pair_sentence(pair, digits))}</div>"
    seen = pair.fits and pair.departs.any() and drawable(pair.expected) and drawable(pair.got)
    if not seen:
        return sentence
    item = first_item(pair)
    marks = {
        (int(row), int(column)): style.CHOSEN_MARK
        for row, column in np.argwhere(pair.departs[item][:MOST, :MOST])
    }
    digits = _enough(pair, digits)
    right = _table(pair, "right", pair.expected[item], digits, {})
    other = _table(pair, came, pair.got[item], digits, marks)
    return f'{sentence}<div style="margin-top:4px">{right}{other}</div>'


def pair_sentence(pair, digits=6):
    """Say how much of an array departs, where it does first, and by what.

    Parameters
    ----------
    pair : Pair
        Any two arrays.
    digits : int, default 6
        Decimals; more where the two numbers would read the same.

    Returns
    -------
    str
        One sentence or two, without markup.
    """
    title = GRIDS[pair.name][0] if pair.name in GRIDS else pair.name
    if not pair.fits:
        return (
            f"{title}: the shape is {list(pair.got.shape)} where {list(pair.expected.shape)} is "
            "right."
        )
    departs = pair.departs
    count = int(departs.sum())
    if not count:
        return f"{title}: no entry departs."
    at, digits = tuple(map(int, np.argwhere(departs)[0])), _enough(pair, digits)
    whole = "every entry departs" if count == departs.size else f"{count} of {departs.size} depart"
    return (
        f"{title}: {whole}, first {place(pair, at)}: {_number(pair.got[at], digits)} where "
        f"{_number(pair.expected[at], digits)} is right."
    )


def place(pair, index):
    """Name one entry in words: ``weights [0, 1, 2]`` is q₁, k₂, with the item of a batch."""
    if len(index) != 3 or pair.name not in GRIDS:
        return f"at {list(index)}"
    letters, (item, row, column) = GRIDS[pair.name][2:], index
    words = f"{numbers.label(letters[0], row)}, "
    words += numbers.label(letters[1], column) if letters[1] else f"feature {column}"
    return f"{words} of batch item {item}" if len(pair.got) > 1 else words


def first_item(pair):
    """The first batch item that departs; 0 where none does."""
    found = np.argwhere(pair.departs)
    return int(found[0, 0]) if found.size else 0


def drawable(array):
    """Whether an array is real numbers in three axes, none of them empty."""
    return array.ndim == 3 and array.size > 0 and array.dtype.kind in "fiub"


def _table(pair, words, matrix, digits, marks):
    title, role, row_letter, column_letter = GRIDS.get(pair.name, (pair.name, "plain", "", ""))
    shown = np.asarray(matrix, dtype=float)[:MOST, :MOST]
    rows, columns = shown.shape
    heads = (
        numbers.labels(column_letter, columns)
        if column_letter
        else [f"feature {feature}" for feature in range(columns)]
    )
    cut = " · cut" if shown.shape != matrix.shape else ""
    sums = {"totals": matrix.sum(axis=1)[:MOST]} if pair.name == "weights" else {}
    return tables.matrix(
        title,
        shown,
        role,
        numbers.labels(row_letter, rows),
        heads,
        f"{words}{cut}",
        digits,
        marks=marks,
        total="sum over keys",
        **sums,
    )


def _number(entry, digits):
    return numbers.signed(numbers.fixed(float(entry), digits))


def _enough(pair, digits):
    """The decimals with which the first entry that departs reads other than the right one."""
    for at in map(tuple, np.argwhere(pair.departs)[:1]):
        while digits < MOST_DIGITS and (
            _number(pair.got[at], digits) == _number(pair.expected[at], digits)
        ):
            digits += 1
    return digits
