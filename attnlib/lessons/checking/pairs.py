"""Two mistakes at once: the first spoils the scores or the weights, and the second goes on.

A wrong head is a function of query, key and value. It gets any scores R as its own raw scores where
its query is R and its key the identity, both filled up with zeros to the width d_k. So the second
head goes on from what the first one made.
"""

import warnings
from time import monotonic

import numpy as np

from attnlib.lessons.checking import comparing
from attnlib.lessons.checking.answers import STAGES
from attnlib.lessons.checking.naming import (
    EVERYWHERE,
    LEFT_OUT,
    Match,
    forward_mistakes,
    heads,
    wrong,
)

# In seconds: there are thousands of pairs.
LONGEST = 0.4


def two(trials):
    """Find two mistakes, one after the other, that together give the output handed in.

    Parameters
    ----------
    trials : sequence of Attempt
        What a hand-in gave.

    Returns
    -------
    Match or None
        The first of the two, with `then`.
    """
    trials = [t for t in trials if t.final in (None, "output") and _tells(t)]
    if not any(trial.stages and not trial.passed for trial in trials):
        return None
    # What gave an answer tells most pairs apart at once.
    trials.sort(key=lambda trial: not trial.stages)
    deadline = monotonic() + LONGEST
    for first in _mistakes(STAGES[:3]):
        later = _mistakes(STAGES[STAGES.index(first.stage) + 1 :])
        if first.stage == "weights":
            later += [mistake for mistake in _mistakes(["weights"]) if mistake is not first]
        for _, head in heads(first):
            scores = [_raw_scores(first.stage, head, trial.fixture) for trial in trials]
            if any(made is None for made in scores) or monotonic() > deadline:
                continue
            for second in later:
                if all(map(_gives, trials, scores, [second.head] * len(trials))):
                    return Match(first, partly=True, then=second)
    return None


def _tells(trial):
    fixture = trial.fixture
    return not fixture.extreme and fixture not in LEFT_OUT and fixture.query.dtype == np.float64


def _mistakes(stages):
    return [m for m in forward_mistakes() if m.stage in stages and m.id != EVERYWHERE]


def _raw_scores(stage, head, fixture):
    """Return the raw scores from which the right head would go on as this wrong one does."""
    made = (wrong(head, fixture) or {}).get(stage)
    batch, tokens, width = fixture.query.shape
    if made is None or made.shape != (batch, tokens, tokens) or comparing.broken(made):
        return None
    if stage == "raw_scores":
        return made
    if stage == "scaled_scores":
        return made * np.sqrt(width)
    # The logarithms of weights that sum to 1 are scores that give these weights.
    if np.any(made <= 0) or not comparing.alike(made.sum(axis=-1), np.ones((batch, tokens))):
        return None
    return np.log(made) * np.sqrt(width)


def _gives(trial, scores, head):
    """Say whether a head does with these raw scores what the hand-in did: its output, or raise."""
    fixture = trial.fixture
    batch, tokens, width = fixture.query.shape
    if width < tokens:
        return True
    query, key = np.zeros((2, batch, tokens, width))
    query[..., :tokens] = scores
    key[..., :tokens] = np.eye(tokens)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            output = head(query, key, fixture.value.copy())["output"]
    except Exception:
        # Raising is what some of these heads are there for.
        return not trial.stages
    return bool(trial.stages) and comparing.alike(trial.stages["output"], np.asarray(output))
