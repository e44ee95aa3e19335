"""Tokens and heads that the views of a real encoder are tried on."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
from matplotlib.text import Text

FILE = Path(__file__).parents[1] / "data" / "real_head.npz"

HOSTILE = (
    *("<", "&", "<b>", "$x$", "$", "\\frac", "\N{GRINNING FACE}", "\N{ROCKET}", "שלום", "##ום"),
    *("مرحبا", "##ing", "字", "", "  ", "\u202eabc", "\u0301", "a\nb", "\ud800", "\u200d"),
    *("a\u2069b", '"><script>alert(1)</script>', "it's", "1", "·7", "\N{BLACK SMILING FACE}\ufe0f"),
)
LONG = tuple(f"extraordinarily-long-token-{i}" for i in range(64))


def drawn(heads, tokens, seed):
    """Heads of random weights."""
    scores = 2 * np.random.default_rng(seed).standard_normal((heads, tokens, tokens))
    powers = np.exp(scores)
    return powers / powers.sum(axis=-1, keepdims=True)


def reading(tokens, layers, heads, seed=1):
    """What an encoder of random heads saw in a sentence."""
    records = [
        SimpleNamespace(weights=drawn(heads, len(tokens), seed + layer)) for layer in range(layers)
    ]
    return SimpleNamespace(tokens=tuple(tokens), layers=tuple(records))


def encoder_heads():
    """Tokens and weights of one layer of a published encoder, as another library computed them."""
    with np.load(FILE, allow_pickle=False) as stored:
        return tuple(str(token) for token in stored["tokens"]), stored["weights"]


def cut_words(figure):
    """The texts of a figure that are not wholly inside it."""
    figure.canvas.draw()
    whole, renderer = figure.bbox, figure.canvas.get_renderer()
    texts = [text for text in figure.findobj(Text) if text.get_text()]
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts]
    return [
        words
        for words, box in boxes
        if box.x0 < whole.x0 or box.x1 > whole.x1 or box.y0 < whole.y0 or box.y1 > whole.y1
    ]
