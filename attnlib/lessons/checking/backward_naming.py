"""Name the mistake of a way back: by the catalogue's wrong ones, and by wrong ways forward."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from attnlib.lessons.checking.backward_laws import SYMBOLS, constant, factor
from attnlib.lessons.checking.backward_pairs import pairs
from attnlib.lessons.checking.backward_trials import ORDER, near, right_gradients, sizes
from attnlib.lessons.checking.fixtures import INTEGERS
from attnlib.lessons.mistakes import CATALOGUE


@dataclass(frozen=True)
class Name:
    """A mistake that explains what was handed in.

    Attributes
    ----------
    id : str
        In the catalogue.
    stage : str
        The first gradient that it explains.
    remarks : tuple of str
        What it does not explain, in words.
    more : bool
        Whether something is left unexplained.
    how : str
        Which of the mistake's functions it was; an empty text for the first.
    """

    id: str
    stage: str
    remarks: tuple = ()
    more: bool = False
    how: str = ""


def backward_mistakes():
    """Return the catalogue's mistakes of the way back, in its order."""
    return tuple(mistake for mistake in CATALOGUE.values() if mistake.direction == "backward")


def heads_of(mistake):
    """Return all the functions that make a mistake: its head and its variants."""
    return mistake.head, *(head for _, head in mistake.variants)


@lru_cache(maxsize=4096)
def answer(head, fixture):
    """Return what a wrong backward gives on a fixture, by input, or the error that it raises."""
    with np.errstate(all="ignore"):
        try:
            given = head(*(array.copy() for array in (*fixture.inputs, fixture.grad_output)))
        except Exception as error:
            return error
    return dict(zip(("query", "key", "value"), given, strict=True))


def name(trials):
    """Return the Name of the first mistake that matters in a sequence of trials, or None."""
    found = _departing(trials)
    # dQ and dK share their way, so either may show what is wrong with both; dV has its own.
    first = found[:1] if found[:1] == ["value"] else found
    return (
        _whole(trials)
        or _forward(trials, whole=True)
        or _pair(trials, found)
        or _one_gradient(trials, found[:1])
        or _forward(trials, whole=False)
        or _one_gradient(trials, first[1:])
        or _multiple(trials, first)
    )


def beside_the_first(trials):
    """Return the Name of a mistake in the gradients after the first that departs, or None."""
    return _one_gradient(trials, _departing(trials)[1:])


def _departing(trials):
    found = {stage for trial in trials for stage in trial.departing}
    return [stage for stage in ORDER if stage in found]


def _whole(trials):
    for mistake in backward_mistakes():
        for how, head in (("", mistake.head), *mistake.variants):
            if _explains(head, trials, ORDER):
                return Name(mistake.id, next(iter(_departing(trials)), "call"), how=how)
    return None


def _pair(trials, found):
    """Two mistakes that together explain everything."""
    for id, end, head in pairs():
        if _explains(head, trials, ORDER):
            said = (f"Together with {end} it explains all the numbers.",)
            return Name(id, next(iter(found), "call"), said, more=True)
    return None


def _one_gradient(trials, stages):
    """The mistake that explains one gradient, and the most of the others."""
    for stage in stages:
        scores = {}
        for mistake in backward_mistakes():
            for head in heads_of(mistake):
                if _explains(head, trials, (stage,)):
                    others = [_explains(head, trials, (other,), need=False) for other in ORDER]
                    scores[mistake.id] = max(scores.get(mistake.id, 0), sum(others))
        if scores:
            return Name(max(scores, key=scores.get), stage, more=True)
    return None


def _multiple(trials, stages):
    """The mistake that explains one gradient but for a constant."""
    for stage in stages:
        for mistake in backward_mistakes():
            for head in heads_of(mistake):
                if (ratios := _ratios(head, trials, stage)) is not None:
                    return Name(mistake.id, stage, _times(stage, *ratios), more=True)
    return None


def _explains(head, trials, stages, need=True):
    """Whether a wrong head gives these gradients wherever both ran, and raises where one must."""
    seen = False
    for trial in trials:
        given = answer(head, trial.fixture)
        raised = isinstance(given, Exception)
        if trial.outcome.error is not None or raised:
            if not _raise_alike(trial, given):
                return False
            continue
        for stage in stages:
            if not trial.gradients or not _same(trial, given, stage):
                return False
            seen = seen or stage in trial.departing
    return seen or not need


def _raise_alike(trial, given):
    """Whether a call that failed says nothing against a wrong head."""
    # An empty batch stops many loops, and whole numbers many libraries, right and wrong ones.
    if not len(trial.fixture.query) or trial.fixture is INTEGERS:
        return True
    error = trial.outcome.error
    return isinstance(given, Exception) and error is not None and type(error) is type(given)


def _same(trial, given, stage):
    # A wrong gradient may hold the terms of another one, which are far larger where it is extreme.
    found = sizes(trial.fixture)
    sized = max(found, key=found.get) if trial.fixture.extreme else stage
    return near(trial.gradients[stage], np.asarray(given[stage]), trial.fixture, sized)


def _ratios(head, trials, stage):
    """The fixtures and the constants by which a wrong head's gradient is multiplied, or None."""
    fixtures, ratios = [], []
    for trial in trials:
        given = answer(head, trial.fixture)
        if isinstance(given, Exception) or not trial.gradients:
            if not len(trial.fixture.query):
                continue
            return None
        wrong = np.asarray(given[stage], dtype=float)
        right = right_gradients(trial.fixture)[stage]
        if not np.any(wrong) or near(wrong, right, trial.fixture, stage):
            continue
        # A multiple of a multiple is one of the right gradient too, and names nothing.
        if not ratios and factor(wrong, right, trial.fixture, stage) is not None:
            return None
        ratio = factor(trial.gradients[stage], wrong, trial.fixture, stage)
        if ratio is None or abs(ratio) < 1e-6:
            return None
        fixtures.append(trial.fixture)
        ratios.append(ratio)
    return (fixtures, ratios) if ratios else None


def _times(stage, fixtures, ratios):
    return (
        f"On top of it, on '{fixtures[0].name}', every entry of {SYMBOLS[stage]} is multiplied by "
        f"{constant(fixtures, ratios)}.",
    )


def _forward(trials, whole):
    """A wrong way forward whose weights explain dV."""
    for mistake in CATALOGUE.values():
        if mistake.direction == "backward" or mistake.stage not in (
            "raw_scores",
            "scaled_scores",
            "weights",
        ):
            continue
        for head in heads_of(mistake):
            back = _through_weights(head)
            if not _explains(back, trials, ("value",)):
                continue
            if _explains(back, trials, ORDER) or _explains(_slopes(head), trials, ORDER):
                return Name(mistake.id, "value")
            if not whole:
                return Name(mistake.id, "value", more=True)
    return None


@lru_cache(maxsize=512)
def _through_weights(head):
    """The right way back with the weights of a wrong way forward."""

    def back(query, key, value, grad_output):
        weights = np.asarray(head(query.copy(), key.copy(), value.copy())["weights"])
        grad_weights = grad_output @ value.swapaxes(1, 2)
        row_term = np.sum(weights * grad_weights, axis=2, keepdims=True)
        grad_raw = weights * (grad_weights - row_term) / np.sqrt(query.shape[2])
        return grad_raw @ key, grad_raw.swapaxes(1, 2) @ query, weights.swapaxes(1, 2) @ grad_output

    return back


@lru_cache(maxsize=512)
def _slopes(head):
    """The gradients of a wrong way forward itself, by central differences."""

    def back(*arrays):
        *operands, grad_output = (array.astype(np.float64) for array in arrays)
        return tuple(_slope(head, operands, place, grad_output) for place in range(3))

    return back


def _slope(head, operands, place, grad_output, step=1e-5):
    slopes = np.zeros(operands[place].shape)
    for index in np.ndindex(slopes.shape):
        ends = []
        for move in (step, -step):
            moved = [array.copy() for array in operands]
            moved[place][index] += move
            ends.append(np.sum(np.asarray(head(*moved)["output"]) * grad_output))
        slopes[index] = (ends[0] - ends[1]) / (2 * step)
    return slopes
