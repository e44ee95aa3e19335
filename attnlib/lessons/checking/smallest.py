"""The smallest input, of those tried, on which a hand-in goes wrong."""

from itertools import product
from time import monotonic

from attnlib.lessons.checking import comparing
from attnlib.lessons.checking.fixtures import EMPTY_BATCH, INTEGERS, MAIN, SMALL, part, right
from attnlib.lessons.checking.verdicts import Counterexample

# In seconds; a verdict is worth more than a smaller example.
LONGEST = 0.25
ARGUMENTS = ("query", "key", "value")


def counterexample(hand_in, trials, stage=None):
    """Look for a small input on which the hand-in departs.

    Parameters
    ----------
    hand_in : HandIn
        What is run again, on parts of the main fixture.
    trials : sequence of Attempt
        What was run already; at least one of them departs.
    stage : str, optional
        The stage to show, where it was handed in.

    Returns
    -------
    Counterexample or None
        An input with an answer to compare is preferred to one on which the hand-in raises.
    """
    failing = [t for t in trials if not t.passed and t.fixture not in (EMPTY_BATCH, INTEGERS)]
    answered = [trial for trial in failing if trial.stages]
    # Scores of a thousand hide many a sign; they are shown where nothing else goes wrong.
    known = sorted(answered or failing, key=lambda t: (t.fixture.extreme, t.fixture.size))
    if not known:
        return None
    best = known[0]
    if any(trial.fixture in (MAIN, SMALL) for trial in failing):
        best = _smaller(hand_in, best) or best
    return shown(best, stage)


def shown(trial, stage=None):
    """Make a counterexample of one trial."""
    stage = stage if stage in trial.stages else trial.departs or trial.final
    inputs = {name: getattr(trial.fixture, name) for name in ARGUMENTS}
    name = trial.fixture.name
    if stage is None:
        expected = right(trial.fixture).output
        return Counterexample(name, inputs, "output", expected, None, said=trial.error)
    got, expected = trial.stages[stage], trial.expected(stage)
    index = comparing.worst(got, expected)
    return Counterexample(name, inputs, stage, expected, got, index)


def _smaller(hand_in, best):
    deadline = monotonic() + LONGEST
    sizes = product(*(range(1, size + 1) for size in (*MAIN.query.shape, MAIN.value.shape[2])))
    parts = sorted((part(MAIN, *size) for size in sizes), key=lambda fixture: fixture.size)
    for fixture in parts:
        if fixture.size >= best.fixture.size or monotonic() > deadline:
            return None
        trial = hand_in.attempt(fixture)
        if trial.outcome.timed_out:
            return None
        if trial.stages and not trial.passed:
            return trial
    return None
