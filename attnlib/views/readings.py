"""One cell of a head read as an equation with its own numbers, and where those come from."""

from dataclasses import dataclass

from attnlib.views import numbers
from attnlib.views.equations import dot, exponentials, factor, printed, through_softmax

TITLES = {
    "Q": ("Q", "q", ""),
    "K": ("K", "k", ""),
    "V": ("V", "v", ""),
    "raw_scores": ("Score", "q", "k"),
    "scaled_scores": ("Scaled", "q", "k"),
    "weights": ("Weight", "q", "k"),
    "output": ("Output", "o", ""),
}
"""quantity -> its title and the letters of its rows and columns; a gradient's title is d + this."""


@dataclass(frozen=True)
class Reading:
    """One cell told as an equation.

    Attributes
    ----------
    cell : tuple
        Name of the quantity, row, column.
    equation : str
        Its name, the equation with the numbers filled in, and its value.
    sources : tuple of tuple
        The cells whose numbers stand in the equation, each as `cell` is.
    """

    cell: tuple
    equation: str
    sources: tuple


def read(shown, name, row, column):
    """Read one cell of a head.

    Parameters
    ----------
    shown : dict of str to numpy.ndarray
        From `layout.quantities`.
    name : str
        The quantity.
    row, column : int
        The cell.

    Returns
    -------
    Reading
        Given inputs have no equation but their value, and no sources.
    """
    rule = RULES.get(name)
    filled, sources = rule(shown, row, column) if rule else ("", ())
    parts = [title(name, row, column), *([filled] if filled else [])]
    equation = " = ".join([*parts, printed(shown[name][row, column])])
    return Reading((name, row, column), equation, tuple(sources))


def title(name, row, column):
    """Name one cell: ``Scaled[q₀, k₁]``, ``dQ[q₀, 1]``."""
    words, row_letter, column_letter = TITLES[name.removeprefix("d") if is_gradient(name) else name]
    places = f"{numbers.label(row_letter, row)}, {numbers.label(column_letter, column)}"
    return f"{'d' if is_gradient(name) else ''}{words}[{places}]"


def is_gradient(name):
    """Whether a quantity is the derivative of another."""
    return name.startswith("d") and name.removeprefix("d") in TITLES


def gradient_of(name):
    """The name of a quantity's gradient."""
    return f"d{name}"


def effect_of_step(shown, name, row, column, step):
    """Say what one step of a slider would do to the objective, to first order.

    Returns
    -------
    str
        One sentence.
    """
    change = step * shown[gradient_of(name)][row, column]
    direction = "raise" if change > 0 else "lower"
    size = numbers.fixed(abs(change))
    where = title(name, row, column)
    return f"Raising {where} by {numbers.fixed(step, 2)} would {direction} L by about {size}."


def _row(name, row, count):
    return [(name, row, column) for column in range(count)]


def _column(name, column, count):
    return [(name, row, column) for row in range(count)]


def _raw_score(shown, i, j):
    query, key = shown["Q"][i], shown["K"][j]
    return dot(query, key), _row("Q", i, len(query)) + _row("K", j, len(key))


def _scaled_score(shown, i, j):
    width = shown["Q"].shape[1]
    return f"{factor(shown['raw_scores'][i, j])} ÷ √{width}", [("raw_scores", i, j)]


def _weight(shown, i, j):
    scores = shown["scaled_scores"][i]
    filled = f"exp({printed(scores[j])}) ÷ ({exponentials(scores)})"
    return filled, _row("scaled_scores", i, len(scores))


def _output(shown, i, f):
    weights, values = shown["weights"][i], shown["V"][:, f]
    sources = _row("weights", i, len(weights)) + _column("V", f, len(values))
    return dot(weights, values), sources


def _grad_value(shown, j, f):
    weights, seed = shown["weights"][:, j], shown["doutput"][:, f]
    sources = _column("weights", j, len(weights)) + _column("doutput", f, len(seed))
    return dot(weights, seed), sources


def _grad_weight(shown, i, j):
    seed, value = shown["doutput"][i], shown["V"][j]
    return dot(seed, value), _row("doutput", i, len(seed)) + _row("V", j, len(value))


def _grad_scaled_score(shown, i, j):
    weights, grads = shown["weights"][i], shown["dweights"][i]
    sources = _row("weights", i, len(weights)) + _row("dweights", i, len(grads))
    return through_softmax(weights, grads, j), sources


def _grad_raw_score(shown, i, j):
    width = shown["Q"].shape[1]
    return f"{factor(shown['dscaled_scores'][i, j])} ÷ √{width}", [("dscaled_scores", i, j)]


def _grad_query(shown, i, f):
    grads, keys = shown["draw_scores"][i], shown["K"][:, f]
    return dot(grads, keys), _row("draw_scores", i, len(grads)) + _column("K", f, len(keys))


def _grad_key(shown, j, f):
    grads, queries = shown["draw_scores"][:, j], shown["Q"][:, f]
    return dot(grads, queries), _column("draw_scores", j, len(grads)) + _column(
        "Q", f, len(queries)
    )


RULES = {
    "raw_scores": _raw_score,
    "scaled_scores": _scaled_score,
    "weights": _weight,
    "output": _output,
    "dV": _grad_value,
    "dweights": _grad_weight,
    "dscaled_scores": _grad_scaled_score,
    "draw_scores": _grad_raw_score,
    "dQ": _grad_query,
    "dK": _grad_key,
}
"""quantity -> (shown, row, column) -> the filled-in equation and its sources."""
