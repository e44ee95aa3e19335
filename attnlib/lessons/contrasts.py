"""A wrong head beside the right one: the smallest known input on which it shows, stage by stage."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from attnlib.lessons import examples
from attnlib.lessons.checking.fixtures import FIXTURES, SMALL, Fixture, right, right_gradients
from attnlib.lessons.checking.running import run
from attnlib.lessons.mistakes import CATALOGUE

STAGES = ("raw_scores", "scaled_scores", "weights", "output")
INPUTS = ("query", "key", "value")
CLOSE = {True: (1e-6, 1e-9), False: (1e-4, 1e-6)}
"""Whether the right answer is finer than float32 -> relative and absolute difference allowed."""


@dataclass(frozen=True, eq=False)
class Pair:
    """One array as it should be and as it came.

    Attributes
    ----------
    name : str
        A stage, an input, or the gradient of an input as ``"d"`` and its name.
    expected, got : numpy.ndarray
        Both whole; they may differ in shape.
    departs : numpy.ndarray of bool
        Where they part, in the shape of `got`; everywhere if the shapes differ.
    """

    name: str
    expected: np.ndarray
    got: np.ndarray
    departs: np.ndarray

    @property
    def fits(self):
        """Whether both have one shape."""
        return self.expected.shape == self.got.shape


def pair(name, expected, got):
    """Compare two arrays of one name entry by entry.

    Parameters
    ----------
    name : str
        What they are.
    expected, got : array_like
        Any shapes.

    Returns
    -------
    Pair
        Equal infinities and NaN in the same place don't depart.
    """
    expected, got = np.asarray(expected), np.asarray(got)
    if expected.shape != got.shape:
        departs = np.ones(got.shape, dtype=bool)
    else:
        # A head that computes in less than it was given is wrong by its rounding.
        fine = expected.dtype != np.float32
        with np.errstate(all="ignore"):
            departs = ~np.isclose(got, expected, *CLOSE[fine], equal_nan=True)
    return Pair(name, expected, got, departs)


@dataclass(frozen=True, eq=False)
class Contrast:
    """What one mistake does to one input.

    Attributes
    ----------
    mistake : Mistake
        From the catalogue.
    fixture : Fixture
        The input.
    pairs : tuple of Pair
        What the wrong head gave, in the order in which a head computes; inputs that it changed
        come last.
    error : str
        What it raised instead; empty if it ran.
    """

    mistake: object
    fixture: Fixture
    pairs: tuple
    error: str = ""

    @property
    def shows(self):
        """Whether anything departs."""
        return bool(self.error) or any(each.departs.any() for each in self.pairs)


def contrast(mistake):
    """Run a wrong head beside the right one, where no other mistake looks the same.

    Parameters
    ----------
    mistake : Mistake
        From the catalogue.

    Returns
    -------
    Contrast
        On the worked example if the mistake shows there and can be told from the others, else on
        the first such fixture; failing that, on the first where it shows.
    """
    others = [
        other
        for other in CATALOGUE.values()
        if other is not mistake and other.direction == mistake.direction
    ]
    shown = [found for fixture in _inputs() if (found := _contrast_on(mistake, fixture)).shows]
    for found in shown:
        if not any(_same(found, _contrast_on(other, found.fixture)) for other in others):
            return found
    return shown[0] if shown else _contrast_on(mistake, _inputs()[0])


def _same(one, other):
    """Whether two mistakes end in the same answer: the last array that a head gives, or none."""
    if one.error or other.error:
        return bool(one.error and other.error)
    got, others = one.pairs[-1].got, other.pairs[-1].got
    return got.shape == others.shape and not pair("", got, others).departs.any()


@lru_cache(maxsize=1)
def _inputs():
    return (_worked_example(), SMALL, *FIXTURES)


def _worked_example():
    example = examples.load("worked-example")
    arrays = example.query, example.key, example.value, example.grad_output
    return Fixture("worked example", *arrays)


@lru_cache(maxsize=2048)
def _contrast_on(mistake, fixture):
    backward = mistake.direction == "backward"
    given = (*fixture.inputs, fixture.grad_output) if backward else fixture.inputs
    outcome = run(mistake.head, given)
    if outcome.error is not None:
        error = f"{type(outcome.error).__name__}: {outcome.error}"
        return Contrast(mistake, fixture, (), error)
    if backward:
        came = {f"d{name}": array for name, array in zip(INPUTS, outcome.value, strict=True)}
        expected = {f"d{name}": getattr(right_gradients(fixture), name) for name in INPUTS}
    else:
        came = outcome.value
        expected = {name: getattr(right(fixture), name) for name in STAGES}
    pairs = [pair(name, expected[name], came[name]) for name in expected if name in came]
    changed = [
        pair(INPUTS[position], given[position], outcome.handed[position])
        for position in outcome.modified
    ]
    return Contrast(mistake, fixture, (*pairs, *changed))
