"""What a picture of matches shows of a head: the chosen features, the scores' parts, the words."""

from dataclasses import dataclass

import numpy as np

from attnlib.lessons.matching import Match, match
from attnlib.views import numbers, sentences
from attnlib.views.vectors.plane import Plane, reach


@dataclass(frozen=True, eq=False)
class Scene:
    """What a picture of matches shows of a head.

    Attributes
    ----------
    tips : dict of str to numpy.ndarray
        ``"q"`` and ``"k"``, each of shape [tokens, 2]: the chosen features.
    parts : Match
        Lengths, cosines and scores, of all features.
    features : tuple of int
        Those chosen; one only where a query has no more.
    width : int
        d_k.
    """

    tips: dict
    parts: Match
    features: tuple
    width: int

    @classmethod
    def of(cls, head, item=0, features=None):
        """Choose from a head; parameters and errors are those of `match_figure`."""
        width = head.key_width
        features = tuple(range(min(2, width))) if features is None else tuple(features)
        _check(head, item, features)
        tips = {"q": head.query[item], "k": head.key[item]}
        tips = {letter: matrix[:, list(features)] for letter, matrix in tips.items()}
        if len(features) == 1:
            tips = {letter: np.insert(x, 1, 0.0, axis=1) for letter, x in tips.items()}
        return cls(tips, match(head, item), features, width)

    @property
    def plane(self):
        """The plane that holds it."""
        names = [f"feature {feature}" for feature in self.features]
        names += ["nothing"] * (2 - len(names))
        return Plane(reach(np.concatenate(list(self.tips.values()))), *names)

    @property
    def frame(self):
        """All that the picture's background depends on."""
        return self.plane, self.width


def _check(head, item, features):
    batch, _, width = head.query.shape
    if item not in range(batch):
        raise ValueError(f"item must be one of the {batch} batch items, got {item}")
    if len(features) != min(2, width) or not set(features) <= set(range(width)):
        raise ValueError(
            f"features must be two of the {width} features of a query, got {features}: choose two "
            "that there are, such as (0, 1)"
        )


def written(parts, query, key, whole=False):
    """Write one score with its parts.

    Parameters
    ----------
    parts : Match
        All scores.
    query, key : int
        Which.
    whole : bool, default False
        Six decimals instead of six characters a number.

    Returns
    -------
    str
        Such as ``"q₀ · k₁ = 3.000 × 2.236 × 0.894 = 6.000"``.
    """
    factors = (
        parts.query_lengths[query],
        parts.key_lengths[key],
        parts.cosines[query, key],
        parts.scores[query, key],
    )
    write = numbers.fixed if whole else numbers.short
    first, second, cosine, score = (numbers.signed(write(x, 6)) for x in factors)
    cosine = f"({cosine})" if cosine.startswith(numbers.MINUS) else cosine
    names = f"{numbers.label('q', query)} · {numbers.label('k', key)}"
    return f"{names} = {first} × {second} × {cosine} = {score}"


def describe(scene):
    """Tell a scene in words and numbers.

    Parameters
    ----------
    scene : Scene
        What is shown.

    Returns
    -------
    str
        Two sentences.
    """
    shown = "" if scene.width <= 2 else f", of the {scene.width} features"
    told = [
        f"{numbers.label(letter, position)} {_point(point[: len(scene.features)])}"
        for letter, points in scene.tips.items()
        for position, point in enumerate(points[: sentences.SPOKEN])
    ]
    cells = list(np.ndindex(scene.parts.scores.shape))
    scores = [written(scene.parts, *cell, whole=True) for cell in cells[: sentences.SPOKEN]]
    rest = f"; {len(cells) - len(scores)} more" if len(cells) > len(scores) else ""
    return (
        f"Arrows in the plane of {scene.plane.note}{shown}: {', '.join(told)}. Scores as "
        f"length × length × cosine: {'; '.join(scores)}{rest}."
    )


def _point(coordinates):
    return numbers.signed(f"({', '.join(numbers.fixed(x) for x in coordinates)})")
