"""An explorer's state as files: the picture to show, the numbers to take up again."""

import io
import json

import numpy as np

from attnlib.views import figures

KINDS = {
    "png": "image/png",
    "svg": "image/svg+xml",
    "json": "application/json",
    "npz": "application/octet-stream",
}
"""kind, which is also the file's ending -> media type."""


def content(kind, inputs, head, gradients):
    """Write one kind of file.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    inputs : Inputs
        The state.
    head, gradients : SelfAttentionForward, SelfAttentionGradients
        What follows from it, for the pictures.

    Returns
    -------
    bytes
        PNG or SVG: the whole head, drawn. JSON or NPZ: query, key, value and grad_output with their
        batch axis, to the last bit, and labels and note where there are any; neither needs pickle.

    Raises
    ------
    ValueError
        For any other kind; the message lists those there are.
    """
    if kind not in KINDS:
        raise ValueError(f"there is no kind of file {kind!r}: choose one of {', '.join(KINDS)}")
    if kind == "json":
        numbers = {name: array.tolist() for name, array in inputs.arrays.items()}
        return json.dumps({**numbers, **inputs.words}, indent=1).encode()
    file = io.BytesIO()
    if kind == "npz":
        np.savez(file, **inputs.arrays, **inputs.words)
    else:
        figure = figures.head_figure(head, gradients, inputs.grad_output, inputs.labels).figure
        # No date, so that the same state gives the same file.
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        figure.savefig(file, format=kind, metadata=metadata)
    return file.getvalue()
