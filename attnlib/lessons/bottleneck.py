"""What the three models of the history cost as sentences grow, and what a fixed context keeps.

Counted and measured on runs of `history.model_history`, whose weights are seeded draws: the counts
are structure, the sizes of the traces are those of an untrained plain tanh unit.
"""

from typing import NamedTuple

import numpy as np

from attnlib.lessons.history import context_sensitivity, model_history

LENGTHS = (2, 4, 8, 16, 32)


class Cost(NamedTuple):
    """What one model did on one sentence.

    Attributes
    ----------
    tokens : int
        Words read; the decoders take as many steps.
    name : str
        The model.
    pairs : int
        How many scores it computed, a pair each.
    waiting : int
        The longest chain of steps each of which needs the one before.
    kept : int
        The numbers about the sentence that a decoder step, or a query, can read.
    """

    tokens: int
    name: str
    pairs: int
    waiting: int
    kept: int


def costs(lengths=LENGTHS):
    """Count what each model does on sentences of these lengths.

    Parameters
    ----------
    lengths : sequence of int
        Numbers of tokens, and so of decoder steps.

    Returns
    -------
    list of Cost
        Model by model in the order of the history, and for each by length.
    """
    rows = []
    for tokens in lengths:
        history = model_history(_words(tokens), steps=tokens)
        head = history.transformer.head
        kept = (
            (history.earlier, len(history.earlier.contexts[0])),
            (history.bridge, history.bridge.annotations.size),
            (history.transformer, head.key.size + head.value.size),
        )
        rows.append(
            [Cost(tokens, run.name, len(run.pairs), run.sequential_steps, n) for run, n in kept]
        )
    return [cost for model in zip(*rows, strict=True) for cost in model]


def traces(tokens, seeds=50):
    """Measure how far each token still moves the fixed context, for many draws of the weights.

    Parameters
    ----------
    tokens : int
        Length of the sentence.
    seeds : int, default 50
        Draws 0, 1, ... of weights and word vectors.

    Returns
    -------
    numpy.ndarray
        Shape [seeds, tokens]: each token's sensitivity, from `context_sensitivity`, divided by that
        of the last token.
    """
    words = _words(tokens)
    measured = np.array(
        [context_sensitivity(model_history(words, seed=seed).earlier)[1] for seed in range(seeds)]
    )
    return measured / measured[:, -1:]


def _words(count):
    return tuple(f"word {position}" for position in range(count))
