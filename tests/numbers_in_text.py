"""Numbers and matrices in a text as people write them: Markdown, TeX, HTML or printed arrays."""

import re
from dataclasses import dataclass

import numpy as np

from tests.views.reading import Page

# What ends a word as a space does. Any other command is a name, such as \theta or \bar.
RELATIONS = (
    "approx|cdot|times|div|pm|mp|leq?|geq?|lt|gt|neq?|sim|simeq|equiv|cong|propto|to|mapsto|in|"
    "q?quad|left|right|[Bb]igg?[lr]?|(?:long|Long)?[Rr]ightarrow|implies|iff|[lc]?dots|mid"
)
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
PLAIN = [
    # Addresses and the names of papers hold digits that count nothing.
    (r"\]\([^)\s]*\)", "] "),
    (r"https?://[^\s)>]+|\barXiv:\s*\S+|\bdoi:\s*\S+", " "),
    # One minus, one kind of space, digits without gaps.
    ("\N{MINUS SIGN}", "-"),
    ("(?<=\\d)(?:[\u2009\u202f\u00a0]|\\\\,|\\{,\\})(?=\\d{3}(?!\\d))", ""),
    ("[\u2009\u202f\u00a0]", " "),
    (r"(?<![\d,.\[(])(\d{1,3}(?:,\d{3})+)(?![\d,\]])", lambda found: found[1].replace(",", "")),
    # Powers of ten.
    ("10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)", lambda found: f"10^{found[1].translate(SUPERSCRIPTS)}"),
    (r"(?<=[\d.])\s*(?:\\times|\\cdot|×|·|\*)\s*10\^\{?(-?\d+)\}?", r"e\1"),
    (r"(?<![\w.])10\^\{?(-?\d+)\}?", r"1e\1"),
    # TeX: an index is part of its letter's name.
    (r"(?<=[A-Za-z}\])])_(?:\{[^{}]*\}|\w)", "x"),
    (r"\\%", "%"),
    (r"\\[,;:!> ]|\\\\", " "),
    (rf"\\(?:{RELATIONS})(?![A-Za-z])", " "),
    (r"\\[A-Za-z]+\*?", "x"),
    (r"[{}$&^]", " "),
]
NUMBER = re.compile(
    r"(?<![\w.])(?P<digits>\d+(?:\.(?P<decimals>\d*))?)(?:e(?P<exponent>[-+]?\d+))?"
    r"(?P<percent>\s?(?:%|per ?cent\b))?(?!\w|\.\d)",
    flags=re.IGNORECASE,
)
MATRIX = re.compile(
    r"\\begin\{(?P<kind>[bpvBV]?matrix|smallmatrix|array)\}(?:\{[lcr|]*\})?(?P<body>.*?)"
    r"\\end\{(?P=kind)\}",
    flags=re.DOTALL,
)
FRACTION = re.compile(r"(-?)\\[td]?frac(?:\{(\d+)\}|(\d))(?:\{(\d+)\}|(\d))")
TOKEN = re.compile(r"(?P<open>[\[(])|(?P<close>[\])])|(?P<gap>[\s,]+|array(?=\())|(?P<rest>\S)")


@dataclass(frozen=True)
class Number:
    """One number as it is printed.

    Attributes
    ----------
    text : str
        What stands there.
    value : float
        What it says; 98.6 % says 0.986.
    unit : float
        What its last digit counts; 0 for a whole number, which is meant exactly.
    significant : int
        How many digits it has, zeros in front left out.
    decimals : int
        How many digits stand after its point.
    """

    text: str
    value: float
    unit: float = 0.0
    significant: int = 1
    decimals: int = 0


@dataclass(frozen=True, eq=False)
class Matrix:
    """A list of numbers or of rows, as it is printed."""

    text: str
    values: np.ndarray
    units: np.ndarray

    def is_in(self, arrays):
        """Whether one of the arrays, rounded to these digits, is this matrix entry by entry."""
        values, units = self.values, self.units
        if values.ndim == 2 and 1 in values.shape:
            # A list may be written as a row or as a column.
            values, units = values.ravel(), units.ravel()
        return any(
            array.shape == values.shape and bool(np.all(agree(array, values, units)))
            for array in arrays
        )


def agree(exact, printed, unit):
    """Whether numbers, rounded up or down at a half, are what is printed."""
    # A half is not a half to the last bit, nor is a sum of fractions that makes a whole.
    slack = 0.5 * unit * (1 + 1e-6) + 1e-13 * np.abs(printed)
    return np.abs(exact - printed) <= slack


def plain(text):
    """Return a text with its numbers written as Python writes them."""
    for pattern, replacement in PLAIN:
        text = re.sub(pattern, replacement, text)
    return text


def numbers(text):
    """Return every number in a plain text, with where it ends."""
    found = []
    for match in NUMBER.finditer(text):
        decimals, power = len(match["decimals"] or ""), int(match["exponent"] or 0)
        sign = -1 if is_signed(text, match.start()) else 1
        scale = 0.01 if match["percent"] else 1.0
        whole = not decimals and match["exponent"] is None
        number = Number(
            text="-" * (sign < 0) + match[0],
            value=sign * float(match["digits"]) * 10.0**power * scale,
            unit=0.0 if whole else 10.0 ** (power - decimals) * scale,
            significant=len(match["digits"].replace(".", "").lstrip("0")),
            decimals=decimals,
        )
        found.append((match.start() - (sign < 0), match.end(), number))
    return found


def is_signed(text, start):
    """Whether the minus before a number is its own, and does not subtract it or join two words."""
    if text[start - 1 : start] != "-":
        return False
    before = text[: start - 1]
    return not re.search(r"\w$|[\])]\s*$|\d\s*$", before)


def matrices(text):
    """Return every matrix in Markdown, and the plain text that is left without them."""
    found = []

    def take(match):
        rows = re.split(r"\\\\(?:\[[^\]]*\])?", match["body"].strip())
        entries = [[entry(cell) for cell in row.split("&")] for row in rows if row.strip()]
        matrix = as_matrix(entries, " ".join(match[0].split()))
        if matrix is None:
            return " ".join(match["body"].split("&")).replace("\\\\", " ")
        found.append(matrix)
        return " "

    rest = plain(MATRIX.sub(take, text))
    for start, end, matrix in reversed(brackets(rest, openings="[")):
        found.append(matrix)
        rest = f"{rest[:start]} {rest[end:]}"
    return found, rest


def entry(cell):
    """Return the number in a TeX cell; None if something else stands there too."""
    if whole := FRACTION.fullmatch(cell.strip()):
        above, below = (int(whole[i] or whole[i + 1]) for i in (2, 4))
        return Number(cell, (-1) ** bool(whole[1]) * above / below)
    return only_number(plain(cell))


def only_number(text):
    """Return the number that a plain text is; None if it is anything else."""
    found = numbers(text.strip())
    if len(found) == 1 and found[0][:2] == (0, len(text.strip())):
        return found[0][2]
    return None


def as_matrix(entries, text):
    """Return a matrix of two numbers or more; None for another thing."""
    cells = [cell for row in entries for cell in (row if isinstance(row, list) else [row])]
    if len(cells) < 2 or not all(isinstance(cell, Number | list) for cell in cells):
        return None
    try:
        values, units = (np.array(pick(entries, name), dtype=float) for name in ("value", "unit"))
    except ValueError:
        # Rows of different lengths.
        return None
    return Matrix(text, values, units) if values.size > 1 else None


def pick(entries, name):
    """Return one attribute of every number in nested lists."""
    if isinstance(entries, list):
        return [pick(part, name) for part in entries]
    return getattr(entries, name)


def brackets(text, openings="[("):
    """Return the outermost lists of numbers in a plain text, each with its start and end."""
    at = {start: (end, number) for start, end, number in numbers(text)}
    place, stack, found = 0, [], []
    while place < len(text):
        if place in at:
            place, number = at[place]
            if stack:
                stack[-1][1].append(number)
            continue
        token = TOKEN.match(text, place)
        if token["open"]:
            stack.append((place, []))
            # After a name it is an index or a call.
            if re.search(r"\w$", text[:place]) and not re.search(r"\d$|array$", text[:place]):
                stack[-1][1].append(None)
        elif token["close"] and stack:
            start, entries = stack.pop()
            if text[start] + token["close"] not in ("[]", "()"):
                # A half-open interval.
                entries.append(None)
            matrix = as_matrix(entries, text[start : token.end()])
            if matrix is not None and text[start] in openings:
                found = [x for x in found if x[0] < start] + [(start, token.end(), matrix)]
            if stack:
                stack[-1][1].append(entries if entries and None not in entries else None)
        elif token["rest"] and stack:
            stack[-1][1].append(None)
        place = token.end()
    return found


def tables(html):
    """Return the tables of a piece of HTML that have a number, alone or bold, in every cell."""
    found = []
    for table in Page(html).tables:
        rows = [zip(*row, strict=True) for row in zip(table.texts, table.numbers, strict=True)]
        entries = [
            [only_number(plain(text)) or only_number(plain(bold)) for text, bold in row]
            for row in rows
        ]
        matrix = as_matrix(entries, table.title)
        found += [] if matrix is None else [matrix]
    return found


def parts(array):
    """Return an array with all matrices, rows and columns in it."""
    if array.ndim < 2:
        return [array]
    if array.ndim == 2:
        return [array, *array, *array.T]
    return [array, *(part for each in array for part in parts(each))]
