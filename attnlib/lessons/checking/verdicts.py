"""What a check says: first where to look and what to ask oneself, and the numbers on demand."""

from dataclasses import dataclass
from textwrap import fill, indent

import numpy as np

TITLES = {
    "raw_scores": "raw scores",
    "scaled_scores": "scaled scores",
    "weights": "weights",
    "output": "output",
    "call": "call itself",
    "query": "gradient of query",
    "key": "gradient of key",
    "value": "gradient of value",
}

MORE = "Call .explain() for the numbers."
"""The last line of a verdict that has numbers to show."""


@dataclass(frozen=True, eq=False)
class Counterexample:
    """The smallest input found on which the mistake shows.

    Attributes
    ----------
    name : str
        Where the input comes from.
    inputs : dict of str to numpy.ndarray
        ``query``, ``key``, ``value``, and for a backward ``grad_output``.
    stage : str
        What is compared.
    expected : numpy.ndarray or None
        The right stage.
    got : numpy.ndarray or None
        The hand-in's, or None if it gave none.
    index : tuple of int or None
        The entry that departs most; None where the shapes differ or nothing was given.
    said : str
        What the hand-in raised, if it did.
    """

    name: str
    inputs: dict
    stage: str
    expected: np.ndarray | None
    got: np.ndarray | None
    index: tuple | None = None
    said: str = ""

    @property
    def departing(self):
        """Which entries depart, as booleans in the expected shape; None where shapes differ."""
        if self.expected is None or self.got is None or self.expected.shape != self.got.shape:
            return None
        tolerance = 1e-5 if self.got.dtype == np.float32 else 1e-9
        scale = max(1.0, float(np.max(np.abs(self.expected), initial=0)))
        with np.errstate(all="ignore"):
            return ~(np.abs(self.got - self.expected) <= tolerance * scale)


@dataclass(frozen=True, eq=False)
class Verdict:
    """The outcome of a check; its text gives where to look and a question, `explain` the numbers.

    Attributes
    ----------
    passed : bool
        Whether the hand-in is right.
    mistake : str or None
        The id of the mistake, in `attnlib.lessons.mistakes.CATALOGUE`; None if right or unknown.
    stage : str or None
        The first stage that departs and matters; ``"call"`` where it is the call itself.
    message : str
        The symptom in words.
    title, question, paragraph : str
        The mistake's name, what to ask oneself, and what happens, why, and the mend.
    counterexample : Counterexample or None
        The smallest input on which it shows, with what was expected and what came.
    hints : tuple of str
        From the vaguest to the plainest.
    also : tuple of str
        Other ids that explain the same numbers.
    remarks : tuple of str
        What is worth knowing and is no mistake.
    more : bool
        Whether more mistakes may follow.
    printed : str
        What the hand-in printed.
    limit : float or None
        The time limit of one call, in seconds, where it was passed.
    attempted : bool
        Whether there was something to check.
    """

    passed: bool
    message: str
    mistake: str | None = None
    stage: str | None = None
    title: str = ""
    question: str = ""
    paragraph: str = ""
    counterexample: Counterexample | None = None
    hints: tuple = ()
    also: tuple = ()
    remarks: tuple = ()
    more: bool = False
    printed: str = ""
    limit: float | None = None
    attempted: bool = True

    def __bool__(self):
        return self.passed

    def __repr__(self):
        plain = self.passed or not self.attempted
        lines = [_wrapped("", self.message)] if plain else self._questions()
        lines += [_wrapped("Remark: ", remark) for remark in self.remarks]
        if self.printed:
            printed = _shortened(" / ".join(self.printed.split("\n")).rstrip(" /"), 120)
            lines.append(_wrapped("It printed: ", printed))
        if self.counterexample is not None:
            lines.append(MORE)
        return "\n".join(lines)

    def _questions(self):
        first = "Not right yet."
        if self.stage == "call":
            first = "Not right yet: look at the call itself."
        elif self.stage is not None:
            first = f"Not right yet: the first stage that departs is the {TITLES[self.stage]}."
        lines = [first, _wrapped("What shows: ", self.message)]
        if self.question:
            lines.append(_wrapped("Ask yourself: ", self.question))
        if self.mistake is not None:
            lines.append(_wrapped("Its name: ", f"{self.mistake} ({_inside(self.title)})"))
        if self.also:
            lines.append(_wrapped("The same numbers come from: ", ", ".join(self.also)))
        if self.more:
            lines.append("More may follow: this one alone does not explain all the numbers.")
        return lines

    def explain(self):
        """Return the numbers as text: the input, what was expected, what came, and the mend.

        Returns
        -------
        Explanation
            Text that shows itself with its line breaks in a notebook.
        """
        parts = [self.message]
        example = self.counterexample
        if example is not None:
            parts.append(f"On the input '{example.name}':")
            parts += [_array(name, array) for name, array in example.inputs.items()]
            stage = TITLES.get(example.stage, example.stage)
            if example.expected is not None:
                parts.append(_array(f"{stage}, expected", example.expected))
            if example.got is not None:
                parts.append(_array(f"{stage}, got", example.got))
            if example.said:
                parts.append(f"It raised: {example.said}")
            parts += _at(example)
        if self.paragraph:
            parts.append(fill(self.paragraph, 88))
        return Explanation("\n".join(parts))


class Explanation(str):
    """Text whose repr is itself, so that a notebook shows its lines as lines."""

    __slots__ = ()

    def __repr__(self):
        return str(self)


def _at(example):
    if example.index is None or example.got is None or example.expected is None:
        return []
    expected, got = example.expected[example.index], example.got[example.index]
    return [f"They differ most at {example.index}: expected {expected:.6g}, got {got:.6g}."]


def _wrapped(lead, text):
    return fill(lead + text, 88, subsequent_indent="  ")


def _inside(title):
    """Start a title small inside a sentence, unless it starts with a symbol such as Q."""
    article = title[:2] == "A " and title[2:3].islower()
    return title[:1].lower() + title[1:] if article or title[1:2].islower() else title


def _shortened(text, length):
    return text if len(text) <= length else text[:length] + "..."


def _array(name, array):
    with np.printoptions(precision=6, suppress=True, threshold=200):
        shown = np.array2string(np.asarray(array))
    return f"{name}, shape {array.shape}:\n{indent(shown, '  ')}"


def naming(mistake, stage, message, counterexample, **said):
    """Make the verdict that names a mistake of the catalogue.

    Parameters
    ----------
    mistake : Mistake
        From the catalogue.
    stage : str
        Where the hand-in departs.
    message : str
        What shows.
    counterexample : Counterexample or None
        The smallest input found on which it does.
    **said
        Other attributes of the verdict.
    """
    look = "the call itself" if stage == "call" else f"the {TITLES[stage]}"
    return Verdict(
        False,
        message,
        mistake=mistake.id,
        stage=stage,
        title=mistake.title,
        question=mistake.question,
        paragraph=mistake.paragraph,
        counterexample=counterexample,
        hints=(f"Look at {look}.", mistake.question, mistake.title, mistake.paragraph),
        **said,
    )
