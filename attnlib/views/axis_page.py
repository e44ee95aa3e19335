"""Softmax over the right axis beside softmax over the wrong one, and what each gives out."""

from attnlib.lessons.axes import softmax_over_queries
from attnlib.views import numbers, style, tables
from attnlib.views.showing import Page
from attnlib.views.steps import features

SHEET = (
    f"background:{style.PAPER};color:{style.INK};padding:8px 12px;max-width:860px;"
    "box-sizing:border-box;font-size:14px;line-height:1.5"
)
LINE = f"border-top:1px solid {style.RULE};padding-top:8px"


def axis_page(head):
    """Show weights and outputs of one head, normalized over keys and, mistaken, over queries.

    Parameters
    ----------
    head : SelfAttentionForward
        Its first batch item is shown.

    Returns
    -------
    Page
        The values, then a row of tables for each way; a query's weights are added up over the
        keys.
    """
    mistaken = softmax_over_queries(head)
    rows = [
        ("Over the keys", head.weights[0], head.output[0]),
        ("Over the queries, a mistake", mistaken[0], (mistaken @ head.value)[0]),
    ]
    html = _values(head.value[0]) + "".join(_row(*row) for row in rows)
    return Page(f'<div style="{SHEET}">{html}</div>', "\n".join(_words(*row) for row in rows))


def _values(value):
    rows = numbers.labels("v", len(value))
    return tables.matrix("V", value, "value", rows, features(value), "the same for both")


def _row(title, weights, output):
    tokens = len(output)
    weighed = tables.matrix(
        title,
        weights,
        "probability",
        numbers.labels("q", tokens),
        numbers.labels("k", tokens),
        "weights",
        totals=weights.sum(axis=1),
        total="sum over keys",
    )
    rows = numbers.labels("o", tokens)
    mixed = tables.matrix("Output", output, "plain", rows, features(output), "O = A V")
    return f'<div style="{LINE}">{weighed}{mixed}</div>'


def _words(title, weights, output):
    parts = [
        f"q{query} has {_list(line)}, in sum {numbers.fixed(line.sum())}, output {_list(mixed)}"
        for query, (line, mixed) in enumerate(zip(weights, output, strict=True))
    ]
    return f"{title}: {'; '.join(parts)}."


def _list(entries):
    return "[" + ", ".join(map(numbers.fixed, entries)) + "]"
