"""What a picture of mixtures shows of a head: the chosen features and queries, and their words."""

from dataclasses import dataclass

import numpy as np

from attnlib.lessons import mixture
from attnlib.views import numbers, sentences, style
from attnlib.views.vectors.plane import Plane, reach

MOST_TERMS = 3
"""Most terms of a sum that are written out."""


@dataclass(frozen=True, eq=False)
class Scene:
    """What a picture of mixtures shows of a head.

    Attributes
    ----------
    values : numpy.ndarray
        Shape [tokens, 2]: the chosen features, zeros where there is only one.
    corners : numpy.ndarray
        Shape [corners, 2]: the hull of `values`.
    steps : numpy.ndarray
        Shape [queries, tokens + 1, 2], of the queries that are drawn.
    weights : numpy.ndarray
        Shape [queries, tokens].
    features, queries : tuple of int
        Those chosen.
    """

    values: np.ndarray
    corners: np.ndarray
    steps: np.ndarray
    weights: np.ndarray
    features: tuple
    queries: tuple

    @classmethod
    def of(cls, head, item=0, features=None, queries=None):
        """Choose from a head; parameters and errors are those of `mixture_figure`."""
        _, tokens, width = head.output.shape
        features = tuple(range(min(2, width))) if features is None else tuple(features)
        count = min(tokens, len(style.TRAILS))
        queries = tuple(range(count)) if queries is None else tuple(queries)
        _check(head, item, features, queries)
        chosen = list(features)
        values, steps = head.value[item][:, chosen], mixture.steps(head, item)[..., chosen]
        if len(chosen) == 1:
            values, steps = (np.insert(x, 1, 0.0, axis=-1) for x in (values, steps))
        order = list(queries)
        weights = head.weights[item][order]
        return cls(values, mixture.hull(values), steps[order], weights, features, queries)

    @property
    def plane(self):
        """The plane that holds it."""
        names = [f"feature {feature}" for feature in self.features]
        return Plane(reach(self.values), *names, *[""] * (2 - len(names)))

    @property
    def frame(self):
        """All that the picture's background depends on."""
        return self.plane, self.queries


def _check(head, item, features, queries):
    batch, tokens, width = head.output.shape
    if item not in range(batch):
        raise ValueError(f"item must be one of the {batch} batch items, got {item}")
    if not (1 <= len(features) <= 2 and set(features) <= set(range(width))):
        raise ValueError(
            f"features must be one or two of the {width} features of a value, got {features}: "
            "choose two to be drawn across and up, such as (0, 1)"
        )
    if not (0 < len(queries) <= len(style.TRAILS) and set(queries) <= set(range(tokens))):
        raise ValueError(
            f"queries must be one to {len(style.TRAILS)} of the {tokens} tokens, got {queries}: "
            "choose those to be drawn, such as (0, 1)"
        )


def describe(scene, width):
    """Tell a scene in words and numbers.

    Parameters
    ----------
    scene : Scene
        What is shown.
    width : int
        d_v: how many features a value has, whether shown or not.

    Returns
    -------
    str
        Sentences.
    """
    count = len(scene.values)
    told = [
        f"{name} at {_point(value, scene)}"
        for name, value in zip(numbers.labels("v", count), scene.values, strict=True)
    ][: sentences.SPOKEN]
    rest = f" and {count - len(told)} more" if count > len(told) else ""
    parts = [_axes_words(scene, width), f"Values {', '.join(told)}{rest}."]
    for position, query in enumerate(scene.queries):
        output = _point(scene.steps[position, -1], scene)
        sum_of = f" = {terms(scene.weights[position], 6)}" if count <= MOST_TERMS else ""
        cue = style.TRAILS[position].cue
        parts.append(f"{numbers.label('o', query)}{sum_of} ends at {output} ({cue}).")
    corners = len(scene.corners)
    parts.append(_hull_words(corners))
    return " ".join(parts) + (f" It has {corners} corners." if corners > 2 else "")


def outputs_sentence(scene):
    """Say where the outputs lie, in two sentences short enough to follow a slider.

    Parameters
    ----------
    scene : Scene
        What is shown.

    Returns
    -------
    str
        Such as ``"o₀ = (1.028, 2.915). Every output lies on the segment between the values."``
    """
    ends = [
        f"{numbers.label('o', query)} = {point(scene, position)}"
        for position, query in enumerate(scene.queries)
    ]
    return f"{'; '.join(ends)}. {_hull_words(len(scene.corners))}"


def point(scene, position):
    """Write one output shortly.

    Parameters
    ----------
    scene : Scene
        What is shown.
    position : int
        Its place among the drawn queries.

    Returns
    -------
    str
        Such as ``"(1.028, 2.915)"``; without brackets where there is one feature.
    """
    output = scene.steps[position, -1, : len(scene.features)]
    text = numbers.signed(", ".join(numbers.short(entry) for entry in output))
    return f"({text})" if len(output) > 1 else text


def _hull_words(corners):
    if corners == 1:
        return "All values are one point, and so is every output."
    where = "on the segment between the values"
    if corners > 2:
        where = "in the hull of the values"
    return f"Every output lies {where}."


def _axes_words(scene, width):
    names = [f"feature {feature}" for feature in scene.features]
    words = " across, ".join(names) + (" up" if len(names) == 2 else " across, a lane a query")
    shown = "" if len(names) == width else f", of the {width} features of a value"
    return f"Plane of values: {words}{shown}."


def terms(weights, digits=3):
    """Write a sum of weighted values in symbols.

    Parameters
    ----------
    weights : numpy.ndarray
        Shape [tokens].
    digits : int, default 3
        Decimals of each weight.

    Returns
    -------
    str
        Such as ``"0.014 v₀ + 0.986 v₁"``.
    """
    names = numbers.labels("v", len(weights))
    pairs = zip(weights, names, strict=True)
    return " + ".join(f"{numbers.fixed(weight, digits)} {name}" for weight, name in pairs)


def _point(coordinates, scene):
    shown = coordinates[: len(scene.features)]
    text = numbers.signed(", ".join(numbers.fixed(entry) for entry in shown))
    return f"({text})" if len(shown) > 1 else text
