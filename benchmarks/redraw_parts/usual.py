"""The usual way to follow a slider: a new pyplot figure on every change, everything in it."""

import matplotlib.pyplot as plt
import numpy as np
from IPython.core.pylabtools import print_figure

from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.views.layout import head_layout, quantities


def draw(query, key, value, grad_output):
    """Compute one head and draw what the explorer's picture shows: grids, digits, weight bars."""
    head = scaled_dot_product_self_attention(query, key, value)
    shown = quantities(head, head.backward(grad_output), grad_output)
    places = head_layout(query.shape[1], head.key_width, head.value_width).places
    figure, axes = plt.subplots(3, 5, figsize=(12, 8))
    for ax, place in zip(axes.flat, places, strict=False):
        _grid(ax, place.title, shown[place.name])
    _bars(axes.flat[len(places)], shown["weights"])
    for ax in axes.flat[len(places) + 1 :]:
        ax.set_axis_off()
    return figure


def png(*inputs, crop="tight"):
    """Draw, save as the inline backend saves, and close; cropping costs a second drawing."""
    figure = draw(*inputs)
    try:
        return print_figure(figure, fmt="png", bbox_inches=crop)
    finally:
        plt.close(figure)


def _grid(ax, title, entries):
    limit = np.abs(entries).max() or 1.0
    ax.imshow(entries, cmap="PuOr_r", vmin=-limit, vmax=limit)
    ax.set_title(title)
    ax.set_xticks(range(entries.shape[1]))
    ax.set_yticks(range(entries.shape[0]))
    for (row, column), entry in np.ndenumerate(entries):
        ax.text(column, row, f"{entry:.3f}", ha="center", va="center", fontsize=7)


def _bars(ax, weights):
    left = np.zeros(len(weights))
    for key, share in enumerate(weights.T):
        ax.barh(range(len(weights)), share, left=left, label=f"k{key}")
        left += share
    ax.set_title("Each query's weights")
