"""One layer of the encoder: attnlib's head with the heads on the batch axis, then a small network.

Devlin et al. 2019 (BERT), after Vaswani et al. 2017, section 3: every part's result is added to
what went in, and the sum is normalized.
"""

import math
from dataclasses import dataclass

import numpy as np

from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.lessons.real_encoder.erf import erf

BLOCK = 2**13
"""Entries worked on at a time, so that what stands between two steps stays in the cache."""


@dataclass(frozen=True, eq=False, repr=False)
class Linear:
    """A projection of every token: ``x W^T + b``.

    Attributes
    ----------
    weight : numpy.ndarray
        Shape [features out, features in].
    bias : numpy.ndarray
        Shape [features out].
    """

    weight: np.ndarray
    bias: np.ndarray

    def __call__(self, x):
        """Project x of shape [tokens, features in] to [tokens, features out]."""
        # (W x^T)^T is x W^T: with few tokens this order of the product takes half the time.
        projected = (self.weight @ x.T).T
        projected += self.bias
        return projected


@dataclass(frozen=True, eq=False, repr=False)
class LayerNorm:
    """Each token's features brought to mean 0 and variance 1, then scaled and shifted.

    Attributes
    ----------
    gain, bias : numpy.ndarray
        Shape [features].
    epsilon : float
        Added to the variance.
    """

    gain: np.ndarray
    bias: np.ndarray
    epsilon: float

    def __call__(self, x):
        """Normalize x of shape [tokens, features] (Ba et al. 2016, eq. 4)."""
        centred = x - x.mean(axis=1, keepdims=True)
        variance = np.square(centred).mean(axis=1, keepdims=True)
        return centred / np.sqrt(variance + self.epsilon) * self.gain + self.bias


@dataclass(frozen=True, eq=False, repr=False)
class Layer:
    """The parts of one encoder layer, in the order in which they are used.

    Attributes
    ----------
    heads : int
        How many heads share the features.
    query, key, value : Linear
        A token's features to its queries, keys and values: the heads' one beside the other.
    mix : Linear
        The heads' outputs, one beside the other, to features: Vaswani's W^O.
    attention_norm : LayerNorm
        Behind the heads.
    widen, narrow : Linear
        The two projections of the feed-forward network, with a GELU between them.
    network_norm : LayerNorm
        Behind the network.
    """

    heads: int
    query: Linear
    key: Linear
    value: Linear
    mix: Linear
    attention_norm: LayerNorm
    widen: Linear
    narrow: Linear
    network_norm: LayerNorm

    def __call__(self, x):
        """Send tokens through the layer.

        Parameters
        ----------
        x : numpy.ndarray
            Shape [tokens, features].

        Returns
        -------
        SelfAttentionForward
            The layer's heads, one a batch item.
        numpy.ndarray
            Shape [tokens, features]: what the layer makes of `x`.
        """
        head = scaled_dot_product_self_attention(
            split(self.query(x), self.heads),
            split(self.key(x), self.heads),
            split(self.value(x), self.heads),
        )
        return head, self.after(x, head.output)

    def after(self, x, output):
        """Make of tokens and of what the heads mixed for them what the layer hands on.

        Parameters
        ----------
        x : numpy.ndarray
            Shape [tokens, features]: what went into the layer.
        output : numpy.ndarray
            Shape [heads, tokens, d_v]: the heads' outputs, or others in their place.

        Returns
        -------
        numpy.ndarray
            Shape [tokens, features].
        """
        x = self.attention_norm(x + self.mix(join(output)))
        return self.network_norm(x + self.narrow(gelu(self.widen(x))))


def split(x, heads):
    """Share features out to heads: [tokens, heads * d] to [heads, tokens, d]."""
    return x.reshape(len(x), heads, -1).swapaxes(0, 1)


def join(x):
    """Lay the heads' features side by side: [heads, tokens, d] to [tokens, heads * d]."""
    return x.swapaxes(0, 1).reshape(x.shape[1], -1)


def gelu(x):
    """Weigh each entry by the normal distribution below it (Hendrycks and Gimpel 2016).

    Parameters
    ----------
    x : numpy.ndarray
        Shape [tokens, features].

    Returns
    -------
    numpy.ndarray
        Of the same shape.

    Notes
    -----
    ``x Phi(x) = x (1 + erf(x / sqrt 2)) / 2``, exactly: no tanh stands in for erf.
    """
    # What Linear returns lies in memory feature by feature, and so do the blocks.
    features = x.T
    result = np.empty_like(features)
    step = max(1, BLOCK // len(x))
    for start in range(0, len(features), step):
        part = features[start : start + step]
        result[start : start + step] = 0.5 * part * (1 + erf(part * math.sqrt(0.5)))
    return result.T
