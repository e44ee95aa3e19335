"""What a view hands to a notebook: a picture or a piece of HTML, each told in words as well."""

import io
from dataclasses import dataclass

from matplotlib.figure import Figure

from attnlib.views import style


@dataclass(frozen=True, eq=False, repr=False)
class Picture:
    """A matplotlib figure and its description.

    Attributes
    ----------
    figure : matplotlib.figure.Figure
        The drawing; it belongs to nobody but this object.
    description : str
        What it shows, in words and numbers.
    """

    figure: Figure
    description: str

    def __repr__(self):
        return self.description

    def png(self):
        """The figure as PNG bytes; the same figure gives the same bytes."""
        file = io.BytesIO()
        self.figure.savefig(file, format="png", dpi=self.figure.dpi, metadata={"Software": None})
        return file.getvalue()

    def _repr_mimebundle_(self, include=None, exclude=None):
        # A figure may be drawn finer than it is shown, to stay crisp where the page is enlarged.
        width, height = (round(inches * style.DPI) for inches in self.figure.get_size_inches())
        shown = {"alt": self.description, "width": width, "height": height}
        return {"image/png": self.png(), "text/plain": self.description}, {"image/png": shown}


@dataclass(frozen=True, eq=False, repr=False)
class Page:
    """A piece of HTML and its description.

    Attributes
    ----------
    html : str
        Markup with inline styles only.
    description : str
        What it shows, in words, where HTML can't be shown.
    """

    html: str
    description: str

    def __repr__(self):
        return self.description

    def _repr_html_(self):
        return self.html
