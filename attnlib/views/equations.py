"""Equations with the numbers filled in, as text that breaks only where a reader would.

Each function writes what the record already holds; none works a result out. A factor that needs
fewer than six decimals has fewer: ``0 × 3 + 3 × 0``.
"""

import math

import numpy as np

from attnlib.views import numbers

TIMES = "\N{NO-BREAK SPACE}\N{MULTIPLICATION SIGN}\N{NO-BREAK SPACE}"
PLUS = "\N{NO-BREAK SPACE}+ "
LESS = f"\N{NO-BREAK SPACE}{numbers.MINUS} "


def printed(number):
    """Print a number with six decimals and a true minus sign."""
    return numbers.signed(numbers.fixed(number))


def factor(number):
    """Print a number that is multiplied: no needless decimals, brackets if negative."""
    text = numbers.fixed(number)
    # Rounding in the last bits of a product must not bring the zeros back.
    slack = 64 * float(np.finfo(np.result_type(number, np.float32)).eps)
    exact = math.isclose(float(text), number, rel_tol=slack, abs_tol=slack)
    if exact and "." in text and "e" not in text:
        text = text.rstrip("0").rstrip(".")
    return f"({numbers.signed(text)})" if text.startswith("-") else text


def product(left, right):
    """Write ``left × right``; it may break after the sign."""
    return f"{factor(left)}{TIMES[:-1]} {factor(right)}"


def dot(left, right):
    """Write the dot product of two vectors of one length, term by term."""
    pairs = zip(left, right, strict=True)
    return PLUS.join(f"{factor(a)}{TIMES}{factor(b)}" for a, b in pairs)


def added(terms):
    """Write a sum; a negative term is taken off."""
    first, *rest = (printed(term) for term in terms)
    signed = (
        f"{LESS}{text[1:]}" if text.startswith(numbers.MINUS) else f"{PLUS}{text}" for text in rest
    )
    return first + "".join(signed)


def exponentials(scores):
    """Write the sum of exp over a query's scaled scores."""
    return PLUS.join(f"exp({printed(score)})" for score in scores)


def through_softmax(weights, grad_weights, position):
    """Write the derivative of one softmax row for the score at `position`."""
    return (
        f"{factor(weights[position])}{TIMES}({factor(grad_weights[position])}{LESS}"
        f"({dot(weights, grad_weights)}))"
    )
