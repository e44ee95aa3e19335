"""The explorers of single chapters: the same head and the same parts, fewer of them in view."""

from attnlib.explorers.head_explorer import HeadExplorer


class _Chapter(HeadExplorer):
    """Sliders in a row, and below them a few of the head's quantities."""

    ARRANGEMENT = "attnlib-above"


class ScoreExplorer(_Chapter):
    """Queries and keys under the hand, and nothing but their scores in view."""

    SLIDERS = ("Q", "K")
    GRIDS = ("raw_scores",)


class ScaleExplorer(_Chapter):
    """What d_k does: raw scores, scaled scores and weights as queries and keys grow wider."""

    SLIDERS = ("Q", "K")
    GRIDS = ("raw_scores", "scaled_scores", "weights")


class MixtureExplorer(_Chapter):
    """Weights mix values: all inputs under the hand, weights and outputs in view."""

    GRIDS = ("weights", "V", "output")


class GradientExplorer(_Chapter):
    """The way back: from the output's gradient to those of Q, K and V."""

    GRIDS = ("doutput", "dweights", "dscaled_scores", "dQ", "dK", "dV")
