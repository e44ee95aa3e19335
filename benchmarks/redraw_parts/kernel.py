"""Kernel time of one slider event, ours and the usual way in turn, and what 2,000 events leave."""

import gc
import time
from contextlib import ExitStack, contextmanager
from unittest import mock

import matplotlib

matplotlib.use("Agg")

import ipywidgets.widgets.widget as registry
import matplotlib.pyplot as plt
import numpy as np
import psutil

from attnlib.core.head import SelfAttentionForward
from attnlib.explorers import HeadExplorer, canvas, head_explorer
from attnlib.views import readings, sentences, tables
from redraw_parts import spread, usual

PIECES = {
    "forward": (head_explorer, "scaled_dot_product_self_attention"),
    "backward": (SelfAttentionForward, "backward"),
    "paint and encode": (canvas.HeadCanvas, "repaint"),
    "encode as PNG": (canvas.png, "encode"),
    "tables": (tables, "of_layout"),
    "equation": (readings, "read"),
    "summary": (sentences, "head_sentence"),
}
"""name -> where the function stands that is timed under it."""
NESTED = {"paint and encode": "encode as PNG"}


def heads():
    """The two heads that are moved: no arguments for the worked example."""
    random = np.random.default_rng(0)
    return {"worked example": (), "8 tokens, d_k = 8": tuple(random.normal(size=(3, 1, 8, 8)))}


def measure(inputs, events, usual_events):
    """Move one slider of one head; every few events the usual way draws the same once.

    Returns
    -------
    dict
        `spread.of` for ``"ours"``, ``"usual"`` as the inline backend saves it, and ``"uncropped"``,
        which takes the usual way half as long; two ratios; and the pieces of our event.
    """
    explorer = HeadExplorer(*inputs)
    explorer.choose("Q", 0, 1)
    ours, theirs, uncropped = [], [], []
    pieces = {name: [] for name in (*PIECES, "whole")}
    every = max(1, events // usual_events)
    for step, number in enumerate(_numbers(events)):
        if step % every == 0 and len(theirs) < usual_events:
            theirs.append(_time(lambda: usual.png(*_inputs(explorer))))
            uncropped.append(_time(lambda: usual.png(*_inputs(explorer), crop=None)))
            # What the usual way leaves behind is not to be collected in our time.
            gc.collect()
        ours.append(_move(explorer, number))
    with _watched(pieces):
        for number in _numbers(events):
            pieces["whole"].append(_move(explorer, number))
    ours, theirs, uncropped = spread.of(ours), spread.of(theirs), spread.of(uncropped)
    return {
        "ours": ours,
        "usual": theirs,
        "uncropped": uncropped,
        "uncropped / ours": uncropped["median"] / ours["median"],
        "p95 / median": ours["p95"] / ours["median"],
        "pieces": _breakdown({name: float(np.median(x)) for name, x in pieces.items() if x}),
    }


def leaks(events):
    """What is left behind by many events: memory, figures of pyplot, widgets."""
    explorer = HeadExplorer()
    for number in _numbers(200):
        _move(explorer, number)
    before = _left()
    for number in _numbers(events):
        _move(explorer, number)
    after = _left()
    return {"events": events, **{name: after[name] - before[name] for name in after}}


def _numbers(count):
    """Values within a slider's reach, each unlike the one before."""
    return (-3 + 0.03 * (37 * step % 200) for step in range(1, count + 1))


def _move(explorer, number):
    slider = explorer.controls["Q"][0][1]
    return _time(lambda: setattr(slider, "value", number))


def _inputs(explorer):
    head = explorer.head
    return head.query, head.key, head.value, np.eye(*head.output.shape[1:])[None]


def _time(action):
    start = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - start)


@contextmanager
def _watched(pieces):
    """Time each piece: one entry per event, zero where the event did without it."""
    with ExitStack() as stack:
        for name, (owner, function) in PIECES.items():
            timed = _timed(getattr(owner, function), pieces, name)
            stack.enter_context(mock.patch.object(owner, function, timed))
        yield


def _timed(function, pieces, name):
    def timed(*args, **kwargs):
        start = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            took = 1000 * (time.perf_counter() - start)
            # `whole` grows when an event ends, so its length is the event that is under way.
            times = pieces[name]
            times.extend([0.0] * (len(pieces["whole"]) + 1 - len(times)))
            times[-1] += took

    return timed


def _breakdown(medians):
    """Take nested pieces apart, and name what no piece accounts for."""
    whole = medians.pop("whole")
    for outer, inner in NESTED.items():
        medians[outer.split(" and ")[0]] = medians.pop(outer) - medians[inner]
    return {**medians, "traits and the rest": whole - sum(medians.values())}


def _left():
    gc.collect()
    return {
        "RSS, MB": psutil.Process().memory_info().rss / 1e6,
        "pyplot figures": len(plt.get_fignums()),
        "live widgets": len(registry._instances),
    }
