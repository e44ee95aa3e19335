"""The sizes of the model, read from its config.json."""

import json
from dataclasses import dataclass

from attnlib.lessons.real_encoder import refusals

NAMES = {
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "width": "hidden_size",
    "inner": "intermediate_size",
    "positions": "max_position_embeddings",
    "types": "type_vocab_size",
    "vocabulary": "vocab_size",
    "epsilon": "layer_norm_eps",
}
REQUIRED = {"hidden_act": "gelu", "position_embedding_type": "absolute"}


@dataclass(frozen=True)
class Config:
    """The sizes of a BERT encoder.

    Attributes
    ----------
    layers, heads : int
        How many layers, and how many heads in each.
    width, inner : int
        Features of a token between layers, and within a feed-forward network.
    positions, types, vocabulary : int
        Rows of the three embedding tables.
    epsilon : float
        Added to the variance in a layer norm.
    """

    layers: int
    heads: int
    width: int
    inner: int
    positions: int
    types: int
    vocabulary: int
    epsilon: float


def read(path):
    """Read a config.json.

    Raises
    ------
    EncoderError
        ``damaged-files`` or ``unknown-model``.
    """
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        config = Config(**{name: stored[key] for name, key in NAMES.items()})
    except OSError as error:
        raise refusals.damaged(path, error.strerror) from None
    except KeyError as error:
        raise refusals.damaged(path, f"it lacks {error}") from None
    except (ValueError, TypeError):
        raise refusals.damaged(path, "it is no configuration in JSON") from None
    for setting, expected in REQUIRED.items():
        got = stored.get(setting, expected)
        if got != expected:
            raise refusals.unknown_model(path, setting, expected, got)
    _check_sizes(path, config)
    return config


def _check_sizes(path, config):
    for name, key in NAMES.items():
        size = getattr(config, name)
        kinds = (int, float) if name == "epsilon" else int
        if isinstance(size, bool) or not isinstance(size, kinds) or size <= 0:
            raise refusals.damaged(path, f"{key} must be a positive number, got {size!r}")
    if config.width % config.heads:
        raise refusals.damaged(
            path, f"{config.width} features can't be shared out to {config.heads} heads"
        )
