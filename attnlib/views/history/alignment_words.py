"""The three alignment pictures told in sentences, and as tables with every word whole."""

import numpy as np

from attnlib.lessons.history import context_sensitivity
from attnlib.views import numbers, tables
from attnlib.views.numbers import counted
from attnlib.views.shape_page import SHEET
from attnlib.views.showing import Page


def alignment_sentence(history):
    """Say what the three grids show, and who waits for whom.

    Parameters
    ----------
    history : ModelHistory
        One run of the three models.

    Returns
    -------
    str
        One sentence for each model.
    """
    earlier, bridge, transformer = history.earlier, history.bridge, history.transformer
    steps = len(bridge.weights)
    context = ", ".join(numbers.signed(numbers.fixed(x, 3)) for x in earlier.contexts[0])
    each = "each of the" if steps > 1 else "the"
    rows = "; ".join(
        f"decoder state {row} reads {_share(weights, history.tokens)}"
        for row, weights in enumerate(bridge.weights)
    )
    asked = "; ".join(
        f"{history.tokens[row]} reads {_share(weights, history.tokens)}"
        for row, weights in enumerate(transformer.weights)
    )
    return (
        f"Fixed context: no pair; {each} {counted(steps, 'decoder step')} reads the same "
        f"{len(earlier.contexts[0])} numbers, {context}, after {earlier.sequential_steps} steps "
        f"in a row. Additive alignment: {counted(len(bridge.pairs), 'pair')}, one row after "
        f"another in {bridge.sequential_steps} steps; {rows}. "
        f"Self-attention: {counted(len(transformer.pairs), 'pair')} in one step; {asked}."
    )


def history_sentence(history):
    """Say what the three models did, in numbers only.

    Parameters
    ----------
    history : ModelHistory
        One run of the three models.

    Returns
    -------
    str
        Short enough to be read after every change.
    """
    runs = (history.earlier, history.bridge, history.transformer)
    pairs = ", ".join(str(len(run.pairs)) for run in runs)
    waits = ", ".join(str(run.sequential_steps) for run in runs)
    _, moves = context_sensitivity(history.earlier)
    first, last = (numbers.fixed(move) for move in moves[[0, -1]])
    return (
        f"{counted(len(history.tokens), 'word')}, "
        f"{counted(len(history.bridge.weights), 'decoder step')}. Pairs scored: {pairs}; steps in "
        f"a row: {waits} (fixed context, additive alignment, self-attention). When a word's vector "
        f"moves by 1, the fixed context moves by {first} at most for the first word, by {last} for "
        "the last."
    )


def alignment_tables(history):
    """Show the same numbers as tables, with six decimals and every word whole.

    Parameters
    ----------
    history : ModelHistory
        One run of the three models.

    Returns
    -------
    Page
        The contexts, both grids of weights, and how far each token still moves the fixed context.
    """
    words = [f"{position} {token}" for position, token in enumerate(history.tokens)]
    states = numbers.labels("s", len(history.bridge.weights))
    width = len(history.earlier.contexts[0])
    _, moves = context_sensitivity(history.earlier)
    parts = (
        ("Fixed context", history.earlier.contexts, "plain", states, numbers.labels("c", width)),
        ("Moves the context by", moves[:, None], "plain", words, ["at most"]),
        ("Additive alignment", history.bridge.weights, "probability", states, words),
        ("Self-attention", history.transformer.weights, "probability", words, words),
    )
    notes = ("the same in every row", "for a unit move of the word's vector", "", "")
    html = "".join(tables.matrix(*part, note) for part, note in zip(parts, notes, strict=True))
    return Page(f'<div style="{SHEET}">{html}</div>', alignment_sentence(history))


def _share(weights, tokens):
    favoured = int(np.argmax(weights))
    return f"{100 * weights[favoured]:.1f} % of {tokens[favoured]}"
