"""The explorers of single chapters: the same head and the same parts, fewer of them in view."""

from attnlib.explorers.head_explorer import HeadExplorer
from attnlib.explorers.mixture import MixturePicture
from attnlib.views.mixture_scene import Scene, outputs_sentence


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
    """Weights mix values: all inputs under the hand, weights, outputs and their arrows in view."""

    GRIDS = ("weights", "V", "output")

    @property
    def summary(self):
        """The state of the head in a few sentences."""
        return f"{super().summary} {outputs_sentence(Scene.of(self.head))}"

    def _parts(self):
        self._mixture = MixturePicture(self.head)
        self.pictures["mixture"] = self._mixture.image
        parts = super()._parts()
        below = parts.index(self._outlets.stage) + 1
        return [*parts[:below], self._mixture.image, *parts[below:]]

    def _redraw(self):
        super()._redraw()
        self._mixture.follow(self.head, self._canvas.scale, bool(self._outlets.words.refusal))


class GradientExplorer(_Chapter):
    """The way back: from the output's gradient to those of Q, K and V."""

    GRIDS = ("doutput", "dweights", "dscaled_scores", "dQ", "dK", "dV")
