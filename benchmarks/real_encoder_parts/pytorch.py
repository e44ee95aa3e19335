"""The same layers with the same weights in PyTorch, written with its own functions."""

import torch
from safetensors.torch import load_file
from torch.nn import functional

from attnlib.lessons import packages
from attnlib.lessons.real_encoder.encoder import FIRST_NORM, PARTS, POSITIONS, TYPES, WORDS

MODEL = "model.safetensors"


class Encoder:
    """The encoder on token ids, in float32.

    Parameters
    ----------
    config : Config
        The sizes.
    fused : bool
        Whether attention is PyTorch's one function, or three that leave the weights to be seen.
    """

    def __init__(self, config, fused):
        self.config = config
        self.tensors = load_file(packages.model_folder() / MODEL)
        self.attend = functional.scaled_dot_product_attention if fused else explicit
        self.layers = [
            {part: f"encoder.layer.{layer}.{name}" for part, name in PARTS.items()}
            for layer in range(config.layers)
        ]

    @torch.inference_mode()
    def embed(self, ids):
        """Compute the unit vector of one sentence's token ids, shape [tokens]."""
        table = self.tensors
        words = functional.embedding(ids, table[f"{WORDS}.weight"])
        places = table[f"{POSITIONS}.weight"][: len(ids)] + table[f"{TYPES}.weight"][0]
        x = self._norm(words + places, FIRST_NORM)
        for names in self.layers:
            heads = self.attend(
                *(self._split(x, names[part]) for part in ("query", "key", "value"))
            )
            joined = heads.transpose(0, 1).reshape(len(x), -1)
            x = self._norm(x + self._linear(joined, names["mix"]), names["attention_norm"])
            wide = functional.gelu(self._linear(x, names["widen"]))
            x = self._norm(x + self._linear(wide, names["narrow"]), names["network_norm"])
        return functional.normalize(x.mean(dim=0), dim=0)

    def _linear(self, x, name):
        return functional.linear(x, self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"])

    def _norm(self, x, name):
        gain, bias = self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"]
        return functional.layer_norm(x, gain.shape, gain, bias, self.config.epsilon)

    def _split(self, x, name):
        projected = self._linear(x, name)
        return projected.view(len(x), self.config.heads, -1).transpose(0, 1)


def explicit(query, key, value):
    """Attend in three steps, as attnlib does."""
    scores = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
    return torch.softmax(scores, dim=2) @ value


def ids(reading_ids):
    """Token ids as PyTorch wants them."""
    return torch.tensor(reading_ids)
