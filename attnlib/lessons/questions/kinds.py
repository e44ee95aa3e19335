"""What a question is made of: its words, the right answer, and the wrong ones that have a name."""

import textwrap
from dataclasses import dataclass, field

import numpy as np

LETTERS = "abcdef"
"""How the options of a choice are called."""


@dataclass(frozen=True, eq=False)
class Misconception:
    """A wrong answer that tells how it came about.

    Attributes
    ----------
    answer : numpy.ndarray or str
        What comes out that way: numbers, or the key of an option.
    name : str
        A few words, such as "softmax over the queries".
    hint : str
        What to look at again, in a sentence.
    """

    answer: np.ndarray | str
    name: str
    hint: str


@dataclass(frozen=True, eq=False)
class Numbers:
    """A question whose answer is a number, a list of numbers or a grid of them.

    Attributes
    ----------
    text : str
        The question.
    right : numpy.ndarray
        The right answer; its shape is that of every answer.
    reasoning : str
        Why it is right.
    misconceptions : tuple of Misconception
        Each of the right answer's shape.
    rows, columns : tuple of str
        What each axis of a grid counts; a list has columns only, a single number neither.
    whole : bool
        Whether the answer is made of whole numbers.
    """

    text: str
    right: np.ndarray
    reasoning: str
    misconceptions: tuple
    rows: tuple = ()
    columns: tuple = ()
    whole: bool = False

    @property
    def listing(self):
        """The question as plain text."""
        return wrapped(self.text)

    @property
    def form(self):
        """What an answer is made of, in words."""
        noun = "whole number" if self.whole else "number"
        if self.right.ndim == 2:
            return f"{self.right.shape[0]} rows of {self.right.shape[1]} {noun}s"
        return f"{self.right.size} {noun}s in a list" if self.right.ndim else f"one {noun}"

    @property
    def blank(self):
        """An answer with every number left out, as Python."""
        rest = "..."
        for length in self.right.shape[::-1]:
            rest = f"[{', '.join([rest] * length)}]"
        return rest


@dataclass(frozen=True, eq=False)
class Choice:
    """A question whose answer is one of a few.

    Attributes
    ----------
    text : str
        The question.
    options : dict of str to str
        A short key -> the option's words, in the order in which they are shown.
    right : str
        The key of the right option.
    reasoning : str
        Why it is right.
    misconceptions : tuple of Misconception
        One for each wrong option.
    """

    text: str
    options: dict
    right: str
    reasoning: str
    misconceptions: tuple

    @property
    def lettered(self):
        """Letter -> the option's words."""
        return dict(zip(LETTERS, self.options.values(), strict=False))

    @property
    def listing(self):
        """The question and its options as plain text."""
        lines = [f"  {letter}. {words}" for letter, words in self.lettered.items()]
        return "\n".join([wrapped(self.text), *lines])

    @property
    def form(self):
        """What an answer is made of, in words."""
        return f"one letter, a to {list(self.lettered)[-1]}"

    blank = '"..."'


@dataclass(frozen=True, eq=False)
class Words:
    """The words of a question, before anything is computed; {names} in them wait for figures.

    Attributes
    ----------
    text, reasoning : str
        As in the question.
    hints : dict
        Name of a misconception -> what to look at again; for a choice, key of an option -> both.
    options : dict of str to str
        As in a choice.
    """

    text: str
    reasoning: str
    hints: dict
    options: dict = field(default_factory=dict)

    def numbers(self, right, wrong, rows=(), columns=(), whole=False, **figures):
        """Make a question from its right numbers and the wrong ones, by their name in `hints`."""
        known = (
            Misconception(np.array(wrong[name], float), name, self.hints[name]) for name in wrong
        )
        texts = self.text.format(**figures), self.reasoning.format(**figures)
        right = np.array(right, float)
        return Numbers(texts[0], right, texts[1], tuple(known), rows, columns, whole)

    def choice(self, right, **figures):
        """Make a question from the key of the option that was found to be right."""
        known = (Misconception(key, *self.hints[key]) for key in self.options if key in self.hints)
        texts = self.text.format(**figures), self.reasoning.format(**figures)
        return Choice(texts[0], self.options, right, texts[1], tuple(known))


def only(**holds):
    """Choose the option that holds, so that a right option is found out and not typed in.

    Parameters
    ----------
    **holds : bool
        Key of an option -> whether what it says was seen.

    Returns
    -------
    str
        The one key that holds.

    Raises
    ------
    ValueError
        If not exactly one holds: then the question is ill posed.
    """
    found = [key for key, seen in holds.items() if seen]
    if len(found) != 1:
        raise ValueError(f"exactly one option must hold, got {found}: rework the question")
    return found[0]


def wrapped(text):
    """Break a text into lines that a page shows without scrolling."""
    # An equation stays on one line.
    kept = text.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    lines = textwrap.fill(kept, 88, break_long_words=False, break_on_hyphens=False)
    return lines.replace("\N{NO-BREAK SPACE}", " ")


def listed(numbers, decimals=6):
    """Write numbers as a question shows them: [0.014166, 0.985834]."""
    return "[" + ", ".join(f"{number:.{decimals}f}" for number in numbers) + "]"
