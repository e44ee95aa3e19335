"""What an encoder saw in one sentence: its tokens, every head, every state between the layers."""

from dataclasses import dataclass, replace

import numpy as np

from attnlib.lessons.real_encoder.tokenizing import Tokens


@dataclass(frozen=True, eq=False, repr=False)
class Reading:
    """One sentence as an encoder read it.

    Attributes
    ----------
    layers : tuple of SelfAttentionForward
        The heads of each layer, first layer first: ``layers[l].weights[h]`` has the shape
        [tokens, tokens], a query is a row, a key is a column.
    states : tuple of numpy.ndarray
        Shape [tokens, features], read-only: what goes into each layer, and last what comes out of
        the last.
    embedding : numpy.ndarray
        Shape [features], read-only, of length 1: the mean of the last states, normalized.
    """

    layers: tuple
    states: tuple
    embedding: np.ndarray
    _tokenized: Tokens

    @property
    def sentence(self):
        """The sentence as it was given."""
        return self._tokenized.sentence

    @property
    def tokens(self):
        """The tokens as a tuple of str, [CLS] first, [SEP] last; ``##`` continues a word."""
        return self._tokenized.texts

    @property
    def spans(self):
        """Where each token stands in the sentence: (first character, behind the last)."""
        return self._tokenized.spans

    @property
    def unknown(self):
        """The positions of tokens that the tokenizer couldn't read, as a tuple of int."""
        return self._tokenized.unknown

    @property
    def remark(self):
        """What the tokenizer couldn't read, in a sentence; empty if it read everything."""
        return self._tokenized.remark

    def __repr__(self):
        layers, heads = len(self.layers), len(self.layers[0].query)
        return (
            f"Reading({len(self.tokens)} tokens, {layers} layers of {heads} heads: "
            f"{self.sentence!r})"
        )

    def head(self, layer, head):
        """Take one head out of its layer.

        Parameters
        ----------
        layer, head : int
            Counted from 0.

        Returns
        -------
        SelfAttentionForward
            A batch of one item: the same numbers, not computed again.

        Raises
        ------
        IndexError
            If there is no such layer or head; the message says which there are.
        """
        record = self.layers[_position("layer", layer, len(self.layers))]
        one = _position("head", head, len(record.query))
        arrays = {
            name: array[one : one + 1]
            for name, array in vars(record).items()
            if isinstance(array, np.ndarray)
        }
        return replace(record, **arrays)


def _position(name, number, count):
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise IndexError(f"{name} must be a whole number, got {number!r}: counted from 0")
    if not 0 <= number < count:
        raise IndexError(f"{name} must be 0 to {count - 1}, counted from 0, got {number}")
    return int(number)
