"""The explorers of single chapters: the same head and the same parts, fewer of them in view."""

from attnlib.explorers.arrows import ArrowPicture
from attnlib.explorers.head_explorer import HeadExplorer
from attnlib.views import sentences
from attnlib.views.vectors import match, mixture
from attnlib.views.vectors.mixture_scene import outputs_sentence


class _Chapter(HeadExplorer):
    """Sliders in a row, and below them a few of the head's quantities."""

    ARRANGEMENT = "attnlib-above"


class _WithArrows(_Chapter):
    """Below the quantities, a picture of arrows that follows the sliders."""

    ARROWS = None
    """The picture's name, and the view that draws it."""

    def _pictures(self):
        name, view = self.ARROWS
        self._arrows = ArrowPicture(view, self.head)
        self.pictures[name] = self._arrows.image
        return super()._pictures()

    def _redraw(self):
        super()._redraw()
        self._arrows.follow(self.head, self._canvas.scale, bool(self._outlets.words.refusal))


class ScoreExplorer(_WithArrows):
    """Queries and keys under the hand, and nothing but their scores in view, and as arrows."""

    SLIDERS = ("Q", "K")
    GRIDS = ("raw_scores",)
    ARROWS = ("match", match)

    @property
    def summary(self):
        """Which key each query favours, in a sentence."""
        return sentences.favourite_sentence(self.head.raw_scores[0], self.labels)


class ScaleExplorer(_Chapter):
    """What d_k does: raw scores, scaled scores and weights as queries and keys grow wider."""

    SLIDERS = ("Q", "K")
    GRIDS = ("raw_scores", "scaled_scores", "weights")


class MixtureExplorer(_WithArrows):
    """Weights mix values: all inputs under the hand, weights, outputs and their arrows in view."""

    GRIDS = ("weights", "V", "output")
    ARROWS = ("mixture", mixture)

    @property
    def summary(self):
        """Where the outputs lie, in two sentences."""
        return outputs_sentence(mixture.Scene.of(self.head))


class GradientExplorer(_Chapter):
    """The way back: from the output's gradient to those of Q, K and V."""

    GRIDS = ("doutput", "dweights", "dscaled_scores", "dQ", "dK", "dV")
