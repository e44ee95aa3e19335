"""Give queries and keys more features, or fewer: what d_k alone does to a head."""

import numpy as np

NEW_FEATURES = ("zeros", "random")
"""What an added feature holds: zeros leave every raw score as it was, so that only the scale moves;
seeded standard normals make the scores' spread grow with sqrt(d_k)."""


def widen(matrix, width, new_features, seed):
    """Change the feature width of Q or K.

    Parameters
    ----------
    matrix : numpy.ndarray
        Shape [batch, tokens, features].
    width : int
        The new count of features, 1 or more: the last are dropped, or new ones follow.
    new_features : str
        One of `NEW_FEATURES`.
    seed : int
        Draws the random features; feature f is the same whatever the width.

    Returns
    -------
    numpy.ndarray
        Shape [batch, tokens, width].

    Raises
    ------
    ValueError
        For a width below 1 or another word.
    """
    if width < 1:
        raise ValueError(f"width must be at least 1, got {width}: a score needs a feature")
    if new_features not in NEW_FEATURES:
        raise ValueError(f"new_features must be 'zeros' or 'random', got {new_features!r}")
    batch, tokens, features = matrix.shape
    added = np.zeros((batch, tokens, max(0, width - features)))
    if new_features == "random":
        for column in range(added.shape[2]):
            draw = np.random.default_rng([seed, features + column])
            added[..., column] = np.round(draw.standard_normal((batch, tokens)), 2)
    return np.concatenate([matrix[..., :width], added], axis=2)
