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

# Wrong mixtures of any weights; their heads read the queries and keys for more than scores.
MIXTURES = {
    "weights-transposed": lambda weights, inputs: weights.swapaxes(1, 2) @ inputs.value,
    "value-transposed": lambda weights, inputs: weights @ inputs.value.swapaxes(1, 2),
    "value-is-query": lambda weights, inputs: weights @ inputs.query,
    "value-is-key": lambda weights, inputs: weights @ inputs.key,
}
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
            if monotonic() > deadline:
                return None
            for second in later:
                gives = _mixes if second.id in MIXTURES else _goes_on
                if all(gives(trial, first.stage, head, second) for trial in trials):
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


def _goes_on(trial, stage, head, second):
    """Say whether the second head, on the first one's scores, does what the hand-in did."""
    fixture = trial.fixture
    scores = _raw_scores(stage, head, fixture)
    batch, tokens, width = fixture.query.shape
    if scores is None:
        return False
    if width < tokens:
        return True
    query, key = np.zeros((2, batch, tokens, width))
    query[..., :tokens] = scores
    key[..., :tokens] = np.eye(tokens)
    return _same(trial, lambda: second.head(query, key, fixture.value.copy())["output"])


def _mixes(trial, stage, head, second):
    """Say whether the first head's weights, mixed as the second does, give what the hand-in did."""
    weights = (wrong(head, trial.fixture) or {}).get("weights")
    if weights is None:
        return not trial.stages
    return _same(trial, lambda: MIXTURES[second.id](weights, trial.fixture))


def _same(trial, make):
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            output = np.asarray(make())
    except Exception:
        # Raising is what some of these heads are there for.
        return not trial.stages
    return bool(trial.stages) and comparing.alike(trial.stages["output"], output)
