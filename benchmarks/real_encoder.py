"""Print what the published encoder costs: to load, to embed a sentence, in memory, beside PyTorch.

PyTorch, where it is installed, runs the same layers on the same weights in the same process, the
two in turn.
"""

import os
import time

# A kernel chosen for this shell is not what a reader's machine runs; NumPy reads it as it loads.
os.environ.pop("OPENBLAS_CORETYPE", None)
os.environ.pop("OPENBLAS_L2_SIZE", None)

import numpy as np
from common import machine
from real_encoder_parts import fresh
from redraw_parts import spread

from attnlib.lessons import real_encoder

try:
    from real_encoder_parts import pytorch
except ImportError:
    pytorch = None

SENTENCES = (
    "The animal didn't cross the street because it was too tired.",
    "Every question reads from all the keys, its own among them too.",
)
"""Of 16 tokens each."""
LONG = {128: 40, 512: 10}
"""Tokens of longer texts -> how often they are timed."""


def main():
    """Measure in fresh interpreters, then side by side, and print tables and bars."""
    print(machine.told())
    bars = _fresh()
    encoder = real_encoder.load(np.float32)
    if pytorch is None:
        print("\nPyTorch is not installed here and is left out: `pip install -e .[bench]`")
    embedding, ratios = _compare("Two sentences of 16 tokens", encoder, SENTENCES, 200)
    # Two sentences a time.
    bars += [(embedding / 2, 150, "ms for one embedding of 16 tokens"), *ratios]
    for tokens, rounds in LONG.items():
        _compare(f"One text of {tokens} tokens", encoder, ["dog " * (tokens - 2)], rounds)
    print()
    for got, bar, told in bars:
        print(f"{'met    ' if got <= bar else 'NOT MET'} {got:.4g}, at most {bar}: {told}")


def _fresh():
    print("\nFresh interpreters, median of 5; memory is the peak of the whole process")
    print(f"{'':<36} {'import ms':>10} {'load ms':>10} {'first ms':>10} {'MiB':>6}")
    cases = {
        "float32, embed two sentences": ("float32", "embed", list(SENTENCES)),
        "float64, embed two sentences": ("float64", "embed", list(SENTENCES)),
        "float32, embed 512 tokens": ("float32", "embed", ["dog " * 510]),
        "float32, read 512 tokens": ("float32", "read", ["dog " * 510]),
        "float64, read 512 tokens": ("float64", "read", ["dog " * 510]),
    }
    found = {name: fresh.measure(*case, rounds=5) for name, case in cases.items()}
    for name, one in found.items():
        print(
            f"{name:<36} {one['import']:10.0f} {one['load']:10.0f} {one['read']:10.0f} "
            f"{one['memory']:6.0f}"
        )
    first = found["float32, embed two sentences"]
    return [
        (first["import"] + first["load"], 2000, "ms to import and load in float32"),
        (first["memory"], 400, "MiB at the peak, after two sentences in float32"),
    ]


def _sides(encoder, sentences):
    """Name -> what is timed. Ours begins with text, PyTorch with token ids."""
    sides = {
        "attnlib embed": lambda: [encoder.embed(sentence) for sentence in sentences],
        "attnlib read, every head kept": lambda: [encoder.read(text) for text in sentences],
    }
    if pytorch is not None:
        ids = [pytorch.ids(encoder.tokenize(sentence).ids) for sentence in sentences]
        for name, fused in (("PyTorch, explicit attention", False), ("PyTorch, fused", True)):
            other = pytorch.Encoder(encoder.config, fused)
            _check_same(encoder, other, sentences, ids)
            sides[name] = lambda other=other: [other.embed(each) for each in ids]
    return sides


def _check_same(encoder, other, sentences, ids):
    for sentence, each in zip(sentences, ids, strict=True):
        apart = np.abs(encoder.embed(sentence) - other.embed(each).numpy()).max()
        if apart > 1e-6:
            raise SystemExit(f"The two embeddings of {sentence!r} differ by {apart}")


def _compare(title, encoder, sentences, rounds):
    """Time all sides in turn, then each by itself, where no other library's threads spin."""
    sides = _sides(encoder, sentences)
    shuffled = np.random.default_rng(0)
    orders = {
        "in turn": [name for _ in range(rounds) for name in shuffled.permutation(list(sides))],
        "each by itself": [name for name in sides for _ in range(rounds)],
    }
    ratios, medians = [], []
    for how, order in orders.items():
        print(f"\n{title}, float32, {how}\n{spread.HEADER}")
        series = _timed(sides, order)
        ours = series["attnlib embed"]["median"]
        medians.append(ours)
        for name, one in series.items():
            ratio = ours / one["median"]
            beside = f"  attnlib embed / this {ratio:.2f}" if name.startswith("PyTorch") else ""
            print(spread.line(name, one) + beside)
            if beside:
                ratios.append((ratio, 1.5, f"attnlib embed / {name}, {how}"))
    return max(medians), ratios


def _timed(sides, order):
    times = {name: [] for name in sides}
    for name in order:
        start = time.perf_counter()
        sides[name]()
        times[name].append((time.perf_counter() - start) * 1000)
    # The first find cold caches and sleeping threads.
    return {name: spread.of(each[2:]) for name, each in times.items()}


if __name__ == "__main__":
    main()
