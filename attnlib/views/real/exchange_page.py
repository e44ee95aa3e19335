"""A score with single heads exchanged, as a table: a layer a row, a head a column."""

import numpy as np

from attnlib.views import numbers, style, tables
from attnlib.views.ensembles import PAPER
from attnlib.views.numbers import counted
from attnlib.views.showing import Page


def exchange_page(scores, before, after):
    """Show what a score becomes with each single head exchanged.

    Parameters
    ----------
    scores : numpy.ndarray
        Shape [layers, heads], from `exchange.exchanged_scores`.
    before, after : float
        The score in the sentence itself, and in the one that gave the heads' outputs.

    Returns
    -------
    Page
        A table; a frame marks a head that takes the score more than half of the way from `before`
        to `after`.
    """
    share = (scores - before) / (after - before) if after != before else np.zeros_like(scores)
    carriers = [(int(layer), int(head)) for layer, head in np.argwhere(share > 0.5)]
    layers, heads = scores.shape
    html = tables.matrix(
        "The score with one head exchanged",
        scores,
        "plain",
        [f"layer {layer}" for layer in range(layers)],
        [f"head {head}" for head in range(heads)],
        note=f"before: {_printed(before)}, in the other sentence: {_printed(after)}",
        digits=2,
        marks=dict.fromkeys(carriers, style.CHOSEN_MARK),
        second="a frame: more than half of the way from the one to the other",
    )
    return Page(f'<div style="{PAPER}">{html}</div>', _description(scores, carriers, before, after))


def _description(scores, carriers, before, after):
    named = [
        f"{_printed(scores[layer, head])} with layer {layer}, head {head}"
        for layer, head in carriers
    ]
    others = [score for place, score in np.ndenumerate(scores) if place not in carriers]
    rest = (
        f" With {'any other' if named else 'any'} it stays between {_printed(min(others))} and "
        f"{_printed(max(others))}."
        if others
        else ""
    )
    return (
        f"The score is {_printed(before)}, and {_printed(after)} in the other sentence. With one "
        f"head exchanged, more than half of the way to it: "
        f"{counted(len(named), 'head')}{': ' if named else ''}{'; '.join(named)}.{rest}"
    )


def _printed(number):
    return numbers.signed(numbers.fixed(number, 2))
