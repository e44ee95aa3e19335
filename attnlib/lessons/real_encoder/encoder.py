"""The encoder: from a sentence through every layer to one vector of length 1."""

import numpy as np

from attnlib.lessons.real_encoder.layers import Layer, LayerNorm, Linear
from attnlib.lessons.real_encoder.reading import Reading

WORDS = "embeddings.word_embeddings"
POSITIONS = "embeddings.position_embeddings"
TYPES = "embeddings.token_type_embeddings"
FIRST_NORM = "embeddings.LayerNorm"
PARTS = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "mix": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "widen": "intermediate.dense",
    "narrow": "output.dense",
    "network_norm": "output.LayerNorm",
}
"""A layer's parts, and their names in the published file."""


def shapes(config):
    """The tensors that the model's file must hold.

    Returns
    -------
    dict of str to tuple of int
        Name and shape.
    """
    width, inner = config.width, config.inner
    tables = {WORDS: config.vocabulary, POSITIONS: config.positions, TYPES: config.types}
    ends = dict.fromkeys(PARTS, (width, width)) | {
        "attention_norm": (width,),
        "widen": (inner, width),
        "narrow": (width, inner),
        "network_norm": (width,),
    }
    parts = {
        f"encoder.layer.{layer}.{PARTS[part]}": end
        for layer in range(config.layers)
        for part, end in ends.items()
    } | {FIRST_NORM: (width,)}
    return (
        {f"{name}.weight": (rows, width) for name, rows in tables.items()}
        | {f"{name}.weight": end for name, end in parts.items()}
        | {f"{name}.bias": end[:1] for name, end in parts.items()}
    )


class Encoder:
    """A BERT encoder with mean pooling, run on attnlib's own head.

    Parameters
    ----------
    config : Config
        The sizes.
    weights : Weights
        The open file of tensors, checked against `shapes`.
    tokenizer : Tokenizer
        The tokenizer.

    Attributes
    ----------
    layers : tuple of Layer
        The layers with their projections, for a look at the weights.
    """

    def __init__(self, config, weights, tokenizer):
        self.config = config
        self.layers = tuple(_layer(config, weights, number) for number in range(config.layers))
        self._weights = weights
        self._tokenizer = tokenizer
        # Row 0 of the token types: a single sentence has no second segment.
        self._places = weights.tensor(f"{POSITIONS}.weight") + weights.rows(f"{TYPES}.weight", [0])
        self._first_norm = _norm(config, weights, FIRST_NORM)

    def __repr__(self):
        sizes = self.config
        return (
            f"Encoder({sizes.layers} layers of {sizes.heads} heads, {sizes.width} features, "
            f"at most {sizes.positions} tokens, {self._weights.dtype})"
        )

    def tokenize(self, sentence):
        """Cut a sentence into tokens, and compute nothing.

        Parameters
        ----------
        sentence : str
            At most as many tokens as the model has positions: 512.

        Returns
        -------
        Tokens
            Their texts, their ids and where they stand in the sentence.

        Raises
        ------
        EncoderError
            ``not-text``, ``unreadable-text``, ``empty-text`` or ``too-many-tokens``. A character
            that the tokenizer can't read is no error: the record's `remark` says so.
        """
        return self._tokenizer.tokenize(sentence)

    def read(self, sentence):
        """Read a sentence and keep what every head did.

        Parameters
        ----------
        sentence : str
            As for `tokenize`. The 72 heads of 512 tokens take 490 MB in float64, those of 64 tokens
            12 MB.

        Returns
        -------
        Reading
            Tokens, heads, states and the embedding.

        Raises
        ------
        EncoderError
            As for `tokenize`.
        """
        tokenized = self.tokenize(sentence)
        states = [self._embedded(tokenized.ids)]
        heads = []
        for layer in self.layers:
            head, state = layer(states[-1])
            heads.append(head)
            states.append(state)
        for state in states:
            state.setflags(write=False)
        return Reading(tuple(heads), tuple(states), pooled(states[-1]), tokenized)

    def embed(self, sentence):
        """Compute a sentence's vector and keep nothing else.

        Parameters
        ----------
        sentence : str
            As for `tokenize`.

        Returns
        -------
        numpy.ndarray
            Shape [features], read-only, of length 1: the dot product of two such vectors is
            their cosine similarity.

        Raises
        ------
        EncoderError
            As for `tokenize`.
        """
        state = self._embedded(self.tokenize(sentence).ids)
        for layer in self.layers:
            _, state = layer(state)
        return pooled(state)

    def _embedded(self, ids):
        words = self._weights.rows(f"{WORDS}.weight", ids)  # [tokens, features]
        return self._first_norm(words + self._places[: len(ids)])


def pooled(state):
    """Average the tokens, and bring the mean to length 1 (Reimers and Gurevych 2019, section 3).

    Parameters
    ----------
    state : numpy.ndarray
        Shape [tokens, features].

    Returns
    -------
    numpy.ndarray
        Shape [features], read-only.
    """
    mean = state.mean(axis=0)
    vector = mean / np.sqrt(mean @ mean)
    vector.setflags(write=False)
    return vector


def _layer(config, weights, number):
    parts = {}
    for part, name in PARTS.items():
        make = _norm if part.endswith("norm") else _linear
        parts[part] = make(config, weights, f"encoder.layer.{number}.{name}")
    return Layer(config.heads, **parts)


def _linear(config, weights, name):
    return Linear(weights.tensor(f"{name}.weight"), weights.tensor(f"{name}.bias"))


def _norm(config, weights, name):
    gain, bias = weights.tensor(f"{name}.weight"), weights.tensor(f"{name}.bias")
    return LayerNorm(gain, bias, config.epsilon)
