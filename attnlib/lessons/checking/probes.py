"""Calls and comparisons that show one habit each, where no wrong head gives the same numbers."""

import dis
from dataclasses import replace
from itertools import permutations
from types import FunctionType

import numpy as np

from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.lessons.checking import comparing, describing
from attnlib.lessons.checking.fixtures import (
    FAR_BELOW,
    INTEGERS,
    MAIN,
    OVERFLOW,
    SQUARE,
    UNLIKE_QUERIES,
)

ARGUMENTS = ("query", "key", "value")


def varies(hand_in, trial):
    """Say whether the same call gives something else the second time.

    Parameters
    ----------
    hand_in : HandIn
        What to call again.
    trial : Attempt
        The first call.

    Returns
    -------
    bool
        True for dropout, and for an array that is made but not filled.
    """
    if not trial.stages:
        return False
    again = hand_in.attempt(trial.fixture, seed=1)
    if list(again.stages) != list(trial.stages):
        return True
    return not all(comparing.alike(again.stages[name], got) for name, got in trial.stages.items())


def ignored(hand_in, trial):
    """Return the names of the arguments that can change without changing the last stage."""
    names = []
    # Only the output is made of the values.
    for name in ARGUMENTS if trial.final == "output" else ARGUMENTS[:2]:
        moved = getattr(trial.fixture, name)[::-1, ::-1] * 1.3 + 0.7
        again = hand_in.attempt(replace(trial.fixture, **{name: moved}))
        got = again.stages.get(trial.final)
        if got is not None and comparing.alike(got, trial.stages[trial.final]):
            names.append(name)
    return names


def other_order(trials):
    """Return the order in which a right head would take the arguments to give these outputs.

    Returns
    -------
    tuple of str or None
        Three of ``"query"``, ``"key"`` and ``"value"``, on the square fixture; else None.
    """
    square = next((trial for trial in trials if trial.fixture is SQUARE), None)
    if square is None or square.final != "output":
        return None
    for names in permutations(ARGUMENTS):
        inputs = [getattr(SQUARE, name) for name in names]
        output = scaled_dot_product_self_attention(*inputs).output
        if names != ARGUMENTS and comparing.alike(square.stages["output"], output):
            return names
    return None


def unread(function):
    """Return the names of the three arguments that the function's own code never reads."""
    code = function.__code__ if isinstance(function, FunctionType) else None
    if code is None or code.co_argcount < len(ARGUMENTS):
        return []
    given = code.co_varnames[: code.co_argcount][:3]
    loaded = {
        name
        for step in dis.get_instructions(code)
        if step.opname.startswith("LOAD_")
        for name in (step.argval if isinstance(step.argval, tuple) else (step.argval,))
        if isinstance(name, str)
    }
    return [name for name in given if name not in loaded | set(code.co_cellvars)]


def half_precision(trials):
    """Say whether double precision went in and only half precision came out, everywhere."""
    pairs = [
        (trial.final, trial.stages[trial.final], trial.expected(trial.final))
        for trial in trials
        if trial.stages and not trial.fixture.extreme and trial.fixture.value.dtype == np.float64
    ]
    errors = [comparing.error(got, expected) for _, got, expected in pairs]
    if not errors or not comparing.SINGLE < max(errors) < comparing.HALF:
        return False
    # Rounding errors follow no rule.
    return not describing.regularity(*pairs[0])


def dropped(trial):
    """Say whether some entries of a stage are 0 and all others too large by one factor."""
    stage = trial.departs
    if stage not in ("weights", "output"):
        return False
    got, expected = trial.stages[stage], trial.expected(stage)
    if got.shape != expected.shape or comparing.broken(got):
        return False
    kept = got != 0
    if kept.all() or np.count_nonzero(kept) < 2 or np.any(expected == 0):
        return False
    ratios = got[kept] / expected[kept]
    return bool(ratios.min() > 1 + comparing.SINGLE and np.ptp(ratios) < comparing.SINGLE)


def overflowing(trials):
    """Return the id of the softmax that only extreme scores break, or None.

    What breaks at a score of 1000 subtracts no maximum; what breaks where all scores are far
    below 0 starts its maximum too high; what breaks only where queries differ shares one.
    """
    broke = {trial.fixture for trial in trials if trial.broke}
    for fixture, name in (
        (OVERFLOW, "softmax-without-maximum"),
        (FAR_BELOW, "softmax-finite-sentinel"),
        (UNLIKE_QUERIES, "softmax-global-maximum"),
    ):
        if fixture in broke:
            return name
    return "scores-clipped" if any(map(_levelled, trials)) else None


def _levelled(trial):
    """Say whether two scores far below 0 came out equal, though one is ahead by 1."""
    got = trial.stages.get("output")
    mean = trial.fixture.value.mean(axis=1, keepdims=True)
    return (
        trial.fixture is FAR_BELOW
        and got is not None
        and comparing.alike(got, np.broadcast_to(mean, trial.expected("output").shape))
    )


def fails_on_integers(trials):
    """Return the trial on whole numbers if it gave a wrong answer there, or None."""
    found = [trial for trial in trials if trial.fixture is INTEGERS]
    return next((trial for trial in found if trial.stages and not trial.passed), None)


def on_main(trials):
    """Return the trial on the main fixture, or None."""
    return next((trial for trial in trials if trial.fixture is MAIN), None)


def score_factor(attempt):
    """Return the constant that multiplies the raw scores in place of the scale, or None."""
    stages = attempt.stages
    if "scaled_scores" in stages:
        if attempt.departs != "scaled_scores":
            return None
        return describing.constant_ratio(stages["scaled_scores"], attempt.expected("raw_scores"))
    if attempt.departs not in ("weights", "output"):
        return None
    weights = stages.get("weights")
    if attempt.departs == "output" and weights is not None:
        return None
    factor = describing.score_factor(
        stages.get("output"), weights, attempt.fixture.value, attempt.expected("raw_scores")
    )
    # The right scale, within a small error, is not what goes wrong.
    scale = attempt.fixture.query.shape[2] ** -0.5
    return None if factor is not None and abs(factor / scale - 1) < comparing.HALF else factor
