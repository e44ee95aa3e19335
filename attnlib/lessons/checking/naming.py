"""Find the mistake of the catalogue whose head gives the same stages as a hand-in."""

import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from attnlib.lessons.checking import comparing
from attnlib.lessons.checking.answers import STAGES
from attnlib.lessons.checking.fixtures import EMPTY_BATCH, INTEGERS
from attnlib.lessons.mistakes import CATALOGUE
from attnlib.lessons.mistakes.kinds import Mistake

# What a hand-in makes of these two is for probes of their own.
LEFT_OUT = (EMPTY_BATCH, INTEGERS)
# Raising on everything is what is said where nothing else explains it.
EVERYWHERE = "raises"


@dataclass(frozen=True, eq=False)
class Match:
    """A mistake that gives a hand-in's numbers.

    Attributes
    ----------
    mistake : Mistake
        From the catalogue.
    variant : str
        Which of its heads it was; an empty text for the first.
    agreeing : int
        How many stages are the same in both, over all fixtures, errors counted in.
    partly : bool
        Whether it explains only a part of what departs, so that more mistakes may follow.
    then : Mistake or None
        The second mistake, where two together explain the rest.
    """

    mistake: Mistake
    variant: str = ""
    agreeing: int = 0
    partly: bool = False
    then: Mistake | None = None


def forward_mistakes():
    """Return the forward mistakes of the catalogue, in teaching order."""
    return [mistake for mistake in CATALOGUE.values() if mistake.direction == "forward"]


def matches(trials):
    """Return the mistakes that explain what a hand-in gave, best first.

    Parameters
    ----------
    trials : sequence of Attempt
        One a fixture; at least one of them departs.

    Returns
    -------
    list of Match
        Those of the first way that finds any: all stages on all fixtures; the stages from the
        first that departs on; the last one; the same on ordinary inputs only; the stages up to the
        first that departs.
    """
    trials = [trial for trial in trials if trial.fixture not in LEFT_OUT]
    ordinary = [trial for trial in trials if not trial.fixture.extreme]
    if all(trial.passed for trial in ordinary):
        return _explaining(trials, _all_stages)
    if not any(trial.departs for trial in ordinary):
        return _explaining(trials, _all_stages)
    return (
        _explaining(trials, _all_stages)
        or _explaining(trials, _from_departing)
        or _explaining(trials, _final)
        or _explaining(ordinary, _all_stages, partly=True)
        or _explaining(ordinary, _from_departing, partly=True)
        or _explaining(ordinary, _up_to_first(ordinary), partly=True)
    )


def heads(mistake):
    """Yield the names and heads of a mistake, its variants included."""
    # Where the head is one of the variants itself, it has a name to tell.
    if mistake.head not in [head for _, head in mistake.variants]:
        yield "", mistake.head
    yield from mistake.variants


def _all_stages(trial):
    return tuple(trial.stages)


def _from_departing(trial):
    names = tuple(trial.stages)
    return names[names.index(trial.departs) :] if trial.departs in names else names[-1:]


def _final(trial):
    return tuple(trial.stages)[-1:]


def _up_to_first(trials):
    """Return how to compare the stages up to the first that departs on any of the inputs.

    Where sizes are equal a first mistake may not show, and a second one departs alone.
    """
    first = min(STAGES.index(trial.departs) for trial in trials if trial.departs)

    def up_to(trial):
        return tuple(name for name in trial.stages if STAGES.index(name) <= first)

    return up_to


def _explaining(trials, compared, partly=False):
    found = []
    for mistake in forward_mistakes():
        if mistake.id == EVERYWHERE:
            continue
        best = None
        for variant, head in heads(mistake):
            agreeing = _agreement(trials, head, compared)
            if agreeing is not None and (best is None or agreeing > best.agreeing):
                best = Match(mistake, variant, agreeing, partly)
        if best is not None:
            found.append(best)
    # Sorting keeps the teaching order among equals.
    return sorted(found, key=lambda match: -match.agreeing)


def _agreement(trials, head, compared):
    """Count the stages in which a head gives what the hand-in gave; None if any differs."""
    agreeing, explained, raised, unlike = 0, 0, 0, 0
    broke_too = 0
    # What raises on ordinary inputs as well does not raise because scores are extreme.
    runs = all(trial.stages for trial in trials if not trial.fixture.extreme)
    for trial in trials:
        stages = wrong(head, trial.fixture)
        if trial.fixture.extreme and trial.broke and (runs or trial.stages):
            if stages is not None and not _broke(stages, trial):
                return None
            broke_too += 1
        elif not trial.stages or stages is None:
            # Where only one of the two raised there is no evidence, for or against.
            if not trial.stages and stages is None:
                raised += _likeness(said(head, trial.fixture), trial.error)
            unlike += bool(trial.stages) != (stages is not None)
        else:
            names = [name for name in compared(trial) if name in stages]
            if not names or not _equal(trial, stages, names):
                return None
            # Stages before the one that departs are right in many heads, and tell none apart.
            if trial.final in names or trial.departs in names:
                agreeing, explained = agreeing + len(names), explained + (not trial.passed)
    if explained or (agreeing and broke_too) or (raised and not unlike):
        return agreeing + broke_too + raised
    return None


def _likeness(said, error):
    """Weigh two errors: none of another kind counts, and the same words, shapes and all, most."""
    same_kind = said.partition(":")[0] == error.partition(":")[0]
    return same_kind + (said == error)


def _equal(trial, stages, names):
    return all(
        comparing.alike(trial.stages[name], stages[name], trial.tolerance(name)) for name in names
    )


def _broke(stages, trial):
    name = trial.final if trial.final in stages else list(stages)[-1]
    return comparing.broken(stages[name])


def wrong(head, fixture):
    """Return the stages that a wrong head gives on a fixture, or None where it raises."""
    return _tried(head, fixture)[0]


def said(head, fixture):
    """Return what a wrong head raises on a fixture, as text; an empty text where it does not."""
    return _tried(head, fixture)[1]


@lru_cache(maxsize=4096)
def _tried(head, fixture):
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            stages = head(*(array.copy() for array in fixture.inputs))
    except Exception as error:
        # Raising is what some of these heads are there for.
        return None, f"{type(error).__name__}: {error}"
    return {name: np.asarray(stages[name]) for name in STAGES if name in stages}, ""
