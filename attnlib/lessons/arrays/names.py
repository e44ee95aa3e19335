"""Which array of a file is Q, which K, which V, and what labels the tokens."""

import numpy as np

from attnlib.lessons.arrays import refusals
from attnlib.lessons.arrays.refusals import ArraysError

OPERANDS = ("query", "key", "value")
NAMES = {
    "query": ("query", "queries", "q"),
    "key": ("key", "keys", "k"),
    "value": ("value", "values", "v"),
    "labels": ("labels", "tokens"),
}
"""What each is called in files, in small letters or capitals."""


def operand(file, wanted, chosen):
    """Find the name of one operand in a file.

    Parameters
    ----------
    file : Npz or Safetensors
        The open file.
    wanted : str
        One of `OPERANDS`.
    chosen : str or None
        The name that the reader gave.

    Returns
    -------
    str
        The array's name.

    Raises
    ------
    ArraysError
        If the file has no such array, or several.
    """
    if chosen is not None:
        if chosen not in file.names:
            raise refusals.absent(file, f"no array {chosen!r}", wanted)
        return chosen
    found = _called(file, wanted)
    if found is None:
        usual = " or ".join((*NAMES[wanted], NAMES[wanted][-1].upper()))
        raise refusals.absent(file, f"no array called {usual}", wanted)
    return found


def labels(file, chosen, tokens):
    """Find a label for each token.

    Parameters
    ----------
    file : Npz or Safetensors
        The open file.
    chosen : str, sequence or None
        A name in the file, or the labels themselves.
    tokens : int
        How many are needed.

    Returns
    -------
    tuple of str
        "token 0", "token 1", ... where nothing was given or found.

    Raises
    ------
    ArraysError
        If the labels named are missing, or are not one for each token.
    """
    if chosen is None or isinstance(chosen, str):
        name, found = _stored_labels(file, chosen)
    else:
        name, found = "labels", tuple(chosen)
    if found is None:
        return tuple(f"token {t}" for t in range(tokens))
    shape = found.shape if isinstance(found, np.ndarray) else (len(found),)
    if shape != (tokens,):
        raise ArraysError(
            f"{name} must hold {tokens} labels, one for each place on the axis tokens, got shape "
            f"{shape}: give them yourself with `labels=[...]`"
        )
    return tuple(_text(label) for label in found)


def _stored_labels(file, chosen):
    name = chosen if chosen is not None else _called(file, "labels")
    if name in file.names:
        return name, file.array(name)
    for name in NAMES["labels"] if chosen is None else (chosen,):
        texts = file.texts(name)
        if texts is not None:
            return name, texts
    if chosen is not None:
        raise refusals.absent(file, f"no labels {chosen!r}", "labels")
    return None, None


def _called(file, wanted):
    found = [name for name in file.names if name.lower() in NAMES[wanted]]
    if len(found) > 1:
        raise refusals.ambiguous(file, wanted, found)
    return found[0] if found else None


def _text(label):
    return label.decode(errors="replace") if isinstance(label, bytes) else str(label)
