"""All heads of an encoder on one sentence as small maps: a layer a row, a head a column.

Below each map stand its entropy and its habit in words; a head with a habit has a heavier frame.
"""

from dataclasses import dataclass

from attnlib.lessons.head_habits import HABITS, THRESHOLD, strongest, survey
from attnlib.views import numbers, style
from attnlib.views.frame import POINT, draw_label, pixel_axes
from attnlib.views.numbers import counted
from attnlib.views.real.head_words import percent
from attnlib.views.showing import Picture

MOST = 64
"""The most tokens: with more, a key would be thinner than a pixel of a small map."""
SIDE, ACROSS, DOWN = 64, 76, 112
"""A map's side, and the way to the next one across and down, in pixels."""
LEFT, TOP, FOOT = 62, 74, 38
"""Room for the layers' names, for the titles and the heads' names, and for the notes below."""
NARROWEST = 640
"""The least width of the picture, so that its notes have room."""


@dataclass(frozen=True)
class SheetLayout:
    """Where the maps stand, in pixels."""

    layers: int
    heads: int

    @property
    def width(self):
        """Of the whole picture."""
        return max(LEFT + self.heads * ACROSS, NARROWEST)

    @property
    def height(self):
        """Of the whole picture."""
        return TOP + self.layers * DOWN + FOOT

    def corner(self, layer, head):
        """Left and upper edge of one map."""
        return LEFT + head * ACROSS, TOP + layer * DOWN


def head_sheet(reading):
    """Draw the weights of every head.

    Parameters
    ----------
    reading : object
        With `tokens`, 64 at most, and `layers`, each with `weights` [heads, tokens, tokens].

    Returns
    -------
    Picture
        A map for each head, and which heads have which habit in words.

    Raises
    ------
    ValueError
        If there are too many tokens, or weights and tokens don't belong together.
    """
    if len(reading.tokens) > MOST:
        raise ValueError(
            f"the sheet of heads has room for {MOST} tokens, got {len(reading.tokens)}: read a "
            f"shorter sentence, or draw one head's map with `positions=range({MOST})`"
        )
    surveyed = survey(reading)
    layout = SheetLayout(len(surveyed), max(map(len, surveyed)))
    axes = pixel_axes(layout, scale=2)
    _write_names(axes, layout, len(reading.tokens))
    for layer, record in enumerate(reading.layers):
        for head, weights in enumerate(record.weights):
            draw_small_map(axes, layout.corner(layer, head), weights, surveyed[layer][head])
    return Picture(axes.figure, sheet_sentence(surveyed))


def draw_small_map(axes, corner, weights, habits):
    """Draw one head's weights, its frame, its entropy and its habit.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `frame.pixel_axes`.
    corner : tuple of int
        Left and upper edge in pixels.
    weights : numpy.ndarray
        Shape [tokens (query), tokens (key)].
    habits : HeadHabits
        Of the same head.

    Returns
    -------
    tuple
        The image, the line of the frame, and the two texts below.
    """
    left, top = corner
    right, bottom = left + SIDE, top + SIDE
    image = axes.imshow(
        weights,
        cmap=style.PROBABILITY_MAP,
        vmin=0,
        vmax=1,
        extent=(left, right, bottom, top),
        interpolation="nearest",
        aspect="auto",
    )
    found = habits.habits
    outline = {"color": style.INK, "linewidth": (3 if found else 1) * POINT}
    x, y = (left, right, right, left, left), (top, top, bottom, bottom, top)
    (frame,) = axes.plot(x, y, solid_joinstyle="miter", **outline)
    entropy = draw_label(
        axes, left, bottom + 12, f"{numbers.fixed(habits.entropy, 2)} nats", "left"
    )
    habit = draw_label(axes, left, bottom + 26, found[0] if found else "\N{EN DASH}", "left")
    if found:
        habit.set_weight("bold")
    return image, frame, entropy, habit


def sheet_sentence(surveyed):
    """Say how many heads have which habit, and which head has it most.

    Parameters
    ----------
    surveyed : sequence of sequence of HeadHabits
        From `head_habits.survey`.

    Returns
    -------
    str
        A sentence for each habit.
    """
    heads = [habits for layer in surveyed for habits in layer]
    parts = [
        f"{counted(len(surveyed), 'layer')}, {counted(len(heads), 'head')} in all; a query is a "
        "row and a key a column in each map."
    ]
    for name, goal in HABITS.items():
        count = sum(name in habits.habits for habits in heads)
        most = strongest(surveyed, name)
        if most:
            layer, head, share = most[0]
            parts.append(
                f"{goal[0].upper()}{goal[1:]}: {counted(count, 'head')}; the most, "
                f"{percent(share)}, in layer {layer}, head {head}."
            )
    entropies = [habits.entropy for habits in heads]
    parts.append(
        f"Entropy from {numbers.fixed(min(entropies), 3)} to {numbers.fixed(max(entropies), 3)} "
        f"of at most {numbers.fixed(heads[0].largest_entropy, 3)} nats."
    )
    return " ".join(parts)


def _write_names(axes, layout, tokens):
    axes.text(
        14,
        16,
        "Every head of every layer",
        size=13 * POINT,
        weight="bold",
        color=style.INK,
        va="center_baseline",
    )
    note = f"{counted(tokens, 'token')}; in each map a query is a row, a key a column"
    draw_label(axes, 14, 35, note, "left", style.SOFT_INK)
    for head in range(layout.heads):
        left, _ = layout.corner(0, head)
        draw_label(axes, left + SIDE / 2, TOP - 12, f"head {head}")
    for layer in range(layout.layers):
        _, top = layout.corner(layer, 0)
        draw_label(axes, 14, top + SIDE / 2, f"layer {layer}", "left")
    notes = (
        "Dark is a weight of 0, light of 1. Below a map: the mean entropy of its queries.",
        f"A word and a heavy frame: more than {100 * THRESHOLD:.0f} % of the weight goes there; "
        "a dash: none of the five habits.",
    )
    for line, words in enumerate(notes):
        y = layout.height - FOOT + 4 + 16 * line
        draw_label(axes, 14, y, words, "left", style.SOFT_INK)
