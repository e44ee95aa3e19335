"""One number's way through a head: from its query to the outputs, and the gradient's way back."""

from html import escape

from attnlib.views import readings, style, tables
from attnlib.views.layout import quantities
from attnlib.views.showing import Page

MOST = 8
"""Most keys and features of a head whose every step is written out."""

SHEET = (
    f"background:{style.PAPER};color:{style.INK};border:1px solid {style.RULE};border-radius:8px;"
    "padding:10px 16px;max-width:860px;box-sizing:border-box;font-size:14px;line-height:1.5"
)
TEXT = f"{tables.HEADER};text-align:left;color:{style.INK}"
EQUATION = f"{TEXT};font-family:monospace;font-size:12px"

STEPS = (
    ("Q", "query", "one number of a query"),
    ("raw_scores", "score", "it is multiplied into the query's score against each key"),
    ("scaled_scores", "score", "each score is divided by √d_k"),
    ("weights", "probability", "softmax over the keys: the weights of this query sum to 1"),
    ("output", "plain", "the values, mixed by these weights"),
    ("doutput", "plain", "turn round: what L gains for each output, handed in"),
    ("dweights", "plain", "what L gains for each weight"),
    ("dscaled_scores", "plain", "through softmax: a key compared with the query's average"),
    ("draw_scores", "plain", "through the scale"),
    ("dQ", "plain", "back at the number: what L gains when it grows"),
)
"""(quantity, role, what happens there), in the order of the walk."""
OVER = {"Q": "one", "dQ": "one", "output": "features", "doutput": "features"}
"""What the cells of a step run over: the one number, the features of a value; else the keys."""


def journey(head, gradients, grad_output, query, feature):
    """Follow one number of Q through every cell that depends on it, and back to its gradient.

    Parameters
    ----------
    head : SelfAttentionForward
        Its first batch item is followed; at most 8 tokens and features are written out.
    gradients : SelfAttentionGradients
        Of the same head.
    grad_output : numpy.ndarray
        Shape [batch, tokens, d_v]: what they were computed from.
    query, feature : int
        Which number of Q.

    Returns
    -------
    Page
        One table: a step a row, each cell's equation filled in.

    Raises
    ------
    ValueError
        If there is no such number, or the head is too large to be followed by eye.
    """
    shown = quantities(head, gradients, grad_output)
    _check(shown, query, feature)
    steps = [(words, role, _cells(shown, name, query, feature)) for name, role, words in STEPS]
    rows = "".join(
        _row(position, words, role, cells)
        for position, (words, role, cells) in enumerate(steps, start=1)
    )
    title = f"The way of {readings.title('Q', query, feature)}"
    heads = "".join(
        f'<th scope="col" style="{TEXT};color:{style.SOFT_INK}">{head}</th>'
        for head in ("step", "what happens", "with these numbers")
    )
    html = (
        f'<div style="{SHEET}"><table style="{tables.TABLE};margin:0"><caption '
        f'style="{tables.CAPTION}"><b>{escape(title)}</b></caption><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
    lines = [f"{place}. {words}: {'; '.join(c)}." for place, (words, _, c) in enumerate(steps, 1)]
    return Page(html, "\n".join([f"{title}.", *lines]).replace("\N{NO-BREAK SPACE}", " "))


def _check(shown, query, feature):
    rows, columns = shown["Q"].shape
    if query not in range(rows) or feature not in range(columns):
        raise ValueError(
            f"there is no number Q[{query}, {feature}] in this head: choose a query from 0 to "
            f"{rows - 1} and a feature from 0 to {columns - 1}"
        )
    if max(*shown["Q"].shape, *shown["V"].shape) > MOST:
        raise ValueError(
            f"a number is followed through at most {MOST} tokens and features, got Q of "
            f"{shown['Q'].shape} and V of {shown['V'].shape}: take a smaller head"
        )


def _cells(shown, name, query, feature):
    """The equations of every cell that the number reaches at one step."""
    over = OVER.get(name, "keys")
    columns = [feature] if over == "one" else range(shown[name].shape[1])
    return [readings.read(shown, name, query, column).equation for column in columns]


def _row(position, words, role, cells):
    lines = "".join(
        f'<div style="border:{style.ROLES[role].css}{tables.below(role)};padding:2px 8px;'
        f'margin:2px 0">{escape(cell)}</div>'
        for cell in cells
    )
    cue = "" if role == "plain" else f" ({style.ROLES[role].cue})"
    return (
        f'<tr><th scope="row" style="{TEXT}">{position}</th>'
        f'<td style="{TEXT};max-width:210px">{escape(words + cue)}</td>'
        f'<td style="{EQUATION}">{lines}</td></tr>'
    )
