"""A real head told in words: how spread out it reads, its habit, and each token's strongest key."""

import math

import numpy as np

from attnlib.lessons.head_habits import HABITS
from attnlib.views import numbers
from attnlib.views.token_words import spoken

SPOKEN = 16
"""Queries that are told one by one; of a longer sentence the rest is counted."""


def entropy_words(habits):
    """Say the mean entropy, and the most that it could be.

    Parameters
    ----------
    habits : HeadHabits
        Of one head.

    Returns
    -------
    str
        Such as ``"entropy 1.040 of at most 2.773 nats"``.
    """
    entropy = numbers.fixed(habits.entropy, 3)
    return f"entropy {entropy} of at most {numbers.fixed(habits.largest_entropy, 3)} nats"


def habit_words(habits):
    """Say where most of the weight goes, if it goes to one kind of place.

    Parameters
    ----------
    habits : HeadHabits
        Of one head.

    Returns
    -------
    str
        Such as ``"habit: the previous token, 99.9 % of the weight"``.
    """
    found = [f"{HABITS[name]}, {percent(habits.shares[name])}" for name in habits.habits]
    if found:
        return f"habit: {'; '.join(found)} of the weight"
    shares = {name: share for name, share in habits.shares.items() if not math.isnan(share)}
    most = max(shares, key=shares.get)
    return f"none of the five habits: the most, {percent(shares[most])}, goes to {HABITS[most]}"


def strongest_words(tokens, weights, shown=None):
    """Say which key each query reads most.

    Parameters
    ----------
    tokens : sequence of str
        T tokens.
    weights : numpy.ndarray
        Shape [T (query), T (key)].
    shown : sequence of int, optional
        Positions of the queries and keys that count; all of them unless given.

    Returns
    -------
    str
        One sentence.
    """
    shown = np.arange(len(tokens)) if shown is None else np.asarray(shown)
    parts = []
    for query in shown[:SPOKEN]:
        row = weights[query, shown]
        key = shown[np.argmax(row)]
        names = spoken(tokens[query], query), spoken(tokens[key], key)
        parts.append(f"{names[0]} reads {percent(row.max())} of {names[1]}")
    rest = len(shown) - SPOKEN
    if rest > 0:
        parts.append(f"{rest} more queries follow")
    return "; ".join(parts) + "."


def percent(share):
    """A share as text, with one decimal."""
    return f"{100 * share:.1f} %"
