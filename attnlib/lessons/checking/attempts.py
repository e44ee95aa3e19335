"""A forward hand-in, run on a fixture and held against the right head's stages."""

from dataclasses import dataclass
from functools import cached_property, partial
from time import monotonic

import numpy as np

from attnlib.lessons.checking import answers, comparing, running
from attnlib.lessons.checking.fixtures import EMPTY_BATCH, INTEGERS, Fixture, right

# A hand-in that fails on these is not wrong, but is told.
OPTIONAL = (EMPTY_BATCH, INTEGERS)
# Characters of what an exception says.
LONGEST = 300


@dataclass(frozen=True, eq=False)
class HandIn:
    """A forward function and how it is to be called and read.

    Attributes
    ----------
    function : callable
        Takes query, key and value.
    stages : tuple of str or None
        What it returns, where that is not told by the answer itself.
    adapter : callable or None
        Makes the hand-in's own arrays from NumPy's.
    seconds : float
        How long one call may take.
    """

    function: object
    stages: tuple | None = None
    adapter: object = None
    seconds: float = running.SECONDS

    def attempt(self, fixture, seed=0):
        """Run it on a fixture, whatever it does."""
        read = partial(answers.read, stages=self.stages)
        outcome = running.run(self.function, fixture.inputs, self.seconds, self.adapter, read, seed)
        return Attempt(fixture, outcome)

    def attempts(self, fixtures):
        """Run it on fixtures, up to the first on which nothing more is to be learnt.

        That is one that passes the time limit or gives what can't be read; and all of them
        together may take four times the limit of one.
        """
        made = []
        start = monotonic()
        for fixture in fixtures:
            attempt = self.attempt(fixture)
            made.append(attempt)
            over = monotonic() - start > 4 * self.seconds
            if over or attempt.outcome.timed_out or attempt.unreadable or attempt.unwritten:
                break
        return made


@dataclass(frozen=True, eq=False)
class Attempt:
    """What a hand-in did with one fixture.

    Attributes
    ----------
    fixture : Fixture
        What it was given.
    outcome : running.Outcome
        What became of the call; its value is an `answers.Answer`.
    """

    fixture: Fixture
    outcome: running.Outcome

    @property
    def problem(self):
        """Why what it returned can't be compared, or None."""
        return self.outcome.value.problem if self.outcome.value is not None else None

    @property
    def unreadable(self):
        """Whether there is a problem, on an input on which an answer is asked for."""
        return self.problem is not None and self.fixture not in OPTIONAL

    @property
    def stages(self):
        """The stages handed in; none where it raised."""
        return self.outcome.value.stages if self.outcome.value is not None else {}

    @property
    def final(self):
        """The name of the last stage handed in, or None."""
        return list(self.stages)[-1] if self.stages else None

    @property
    def error(self):
        """What it raised, as text, or an empty text."""
        error = self.outcome.error
        return "" if error is None else in_words(error)

    @property
    def unwritten(self):
        """Whether it says itself that it is not written yet."""
        # Its subclasses say something else, such as that there is no keyboard to read from.
        return type(self.outcome.error) is NotImplementedError

    @property
    def broke(self):
        """Whether it gave no finite answer: it raised, or returned NaN or an infinity."""
        return not self.stages or comparing.broken(self.stages[self.final])

    @cached_property
    def fits(self):
        """For each stage handed in, whether it is right, or on the way, in another right form."""
        return {
            name: comparing.alike(got, self.expected(name), self.tolerance(name))
            or (name == "raw_scores" != self.final and self.other_form(name) != "")
            for name, got in self.stages.items()
        }

    def tolerance(self, name):
        """How far a stage may be from the right one; None for the tolerance of its type."""
        # Rounded to single precision somewhere on the way: told as a remark.
        return comparing.ROUNDED if self.double(name) else None

    def double(self, name):
        """Whether a stage is in double precision, and so is the right one."""
        return self.stages[name].dtype == self.expected(name).dtype == np.float64

    @property
    def passed(self):
        """Whether the last stage handed in is right."""
        return bool(self.stages) and self.fits[self.final]

    @property
    def departs(self):
        """The first stage that departs and after which none is right, or None."""
        if self.passed or not self.stages:
            return None
        names = list(self.stages)
        fitting = [position for position, name in enumerate(names) if self.fits[name]]
        return names[fitting[-1] + 1 if fitting else 0]

    def expected(self, name):
        """Return a stage of the right head."""
        return getattr(right(self.fixture), name)

    def other_form(self, name):
        """Say in which other form a stage is right; an empty text if in none."""
        got, record = self.stages[name], right(self.fixture)
        with np.errstate(all="ignore"):
            if name == "raw_scores" and comparing.alike(got, record.scaled_scores):
                return "the raw scores handed in are already scaled" if record.scale != 1 else ""
            if name == "weights" and comparing.alike(np.exp(got.astype(float)), record.weights):
                return "the weights handed in are their logarithms"
        return ""


def in_words(error):
    """Print an exception of any kind, cut off where it is long."""
    name = type(error).__name__
    try:
        text = str(error).strip().rstrip(".")
    except Exception:
        # An exception of a hand-in may be unable to say what it is.
        text = ""
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return f"{name}: {text}" if text else name
