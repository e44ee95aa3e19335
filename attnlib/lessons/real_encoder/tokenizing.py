"""From a sentence to tokens: the published tokenizer, which here never cuts and never pads."""

from dataclasses import dataclass

from attnlib.lessons import packages
from attnlib.lessons.real_encoder import refusals

UNKNOWN = "[UNK]"


@dataclass(frozen=True)
class Tokens:
    """A sentence cut into tokens.

    Attributes
    ----------
    sentence : str
        What was cut.
    texts : tuple of str
        The tokens; ``##`` begins one that continues a word.
    ids : tuple of int
        Their rows in the table of word embeddings.
    spans : tuple of tuple of int
        From which character of the sentence to which each was cut: (0, 0) for [CLS] and [SEP].
    """

    sentence: str
    texts: tuple
    ids: tuple
    spans: tuple

    @property
    def unknown(self):
        """The positions whose characters the tokenizer can't read."""
        return tuple(t for t, text in enumerate(self.texts) if text == UNKNOWN)

    @property
    def remark(self):
        """What the tokenizer couldn't read, in a sentence; empty if it read everything."""
        if not self.unknown:
            return ""
        parts = [(t, self.sentence[slice(*self.spans[t])]) for t in self.unknown]
        listed = ", ".join(f"{refusals.shown(part)} (token {t})" for t, part in parts)
        return (
            f"The tokenizer can't read {listed}: the model sees {UNKNOWN} there, "
            "whatever stood in its place."
        )


class Tokenizer:
    """The tokenizer of a tokenizer.json, without the length that was set when it was published.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    limit : int
        The most tokens that the model has positions for.
    vocabulary : int
        The rows of the model's table of word embeddings.

    Raises
    ------
    EncoderError
        ``damaged-files``.
    ImportError
        If tokenizers isn't installed.
    """

    def __init__(self, path, limit, vocabulary):
        kind = packages.tokenizer()
        try:
            self._tokenizer = kind.from_file(str(path))
        except Exception as error:
            # The library raises Exception itself, whatever is wrong with the file.
            raise refusals.damaged(path, str(error)) from None
        if self._tokenizer.get_vocab_size() > vocabulary:
            found = f"it knows {self._tokenizer.get_vocab_size()} tokens, the model {vocabulary}"
            raise refusals.damaged(path, found)
        # The file says: cut and pad to 128 tokens. A cut sentence would be another sentence.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.limit = limit

    def tokenize(self, sentence):
        """Cut a sentence into tokens.

        Returns
        -------
        Tokens
            With [CLS] first and [SEP] last.

        Raises
        ------
        EncoderError
            ``not-text``, ``unreadable-text``, ``empty-text`` or ``too-many-tokens``.
        """
        if not isinstance(sentence, str):
            raise refusals.not_text(sentence)
        try:
            sentence.encode()
        except UnicodeEncodeError as error:
            raise refusals.unreadable_text(sentence, error) from None
        found = self._tokenizer.encode(sentence)
        if not any(end for _, end in found.offsets):
            raise refusals.empty_text(sentence)
        if len(found.ids) > self.limit:
            raise refusals.too_many_tokens(len(found.ids), self.limit)
        return Tokens(sentence, tuple(found.tokens), tuple(found.ids), tuple(found.offsets))
