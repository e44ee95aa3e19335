"""One batch item of a head as HTML in which every number shows where it comes from."""

from html import escape

import numpy as np

from attnlib.lessons.evidence import objective
from attnlib.views import equations, numbers, style, tables
from attnlib.views.showing import Page
from attnlib.views.steps import SMALL, Scene, accounts, inputs, stages
from attnlib.views.way_back import way_back

MOST = 64
"""Most tokens and features that a page can hold."""

SHEET = (
    f"background:{style.PAPER};color:{style.INK};border:1px solid {style.RULE};border-radius:8px;"
    f"padding:14px 18px;max-width:860px;box-sizing:border-box;font-size:14px;line-height:1.5"
)
PART = f"border-top:1px solid {style.RULE};padding:8px 0 2px 0;margin-top:8px"
HEADING = f"font-size:16px;font-weight:bold;color:{style.INK};padding:2px 0"
LEAD = f"margin:4px 0 12px 0;color:{style.INK}"
TITLE = '<div style="font-size:18px"><b>One attention head, number by number</b></div>'
INPUTS = (
    "Each token asks with its query, is found by its key, and hands on its value. Every query may "
    "read every key: this head has no mask."
)
ACCOUNTS = (
    "Read a column downwards: one key, from its dot product to what its value adds. Read a row "
    "across: the sums over keys stand on the right, and those of the weighted values are the "
    "output. The bar under a weight is its share of the cell."
)
WAY_BACK = (
    "The objective L adds up output × dOutput; a d before a name is the derivative of L for each "
    "entry of it. One entry of each gradient is written out."
)
LEGEND = "display:inline-block;padding:1px 8px;margin:0 8px 6px 0"


def head_trace(head, gradients=None, grad_output=None, item=0, query=None, tokens=()):
    """Trace one batch item from Q, K and V to the output and, if asked, back.

    Parameters
    ----------
    head : SelfAttentionForward
        The head; at most 64 tokens and features are written out.
    gradients : SelfAttentionGradients, optional
        The head's gradients, for the way back.
    grad_output : array_like, optional
        Shape [batch, tokens, d_v]: what they were computed from.
    item : int, default 0
        The batch item.
    query : int, optional
        The one query whose every step is written out. By default all of them, up to 8 tokens;
        beyond, the first.
    tokens : sequence of str, optional
        A name for each token.

    Returns
    -------
    Page
        Where tokens or features are more than 8, folded, with the rows of the one query alone.

    Raises
    ------
    ValueError
        If there is no such item or query, the head is too large to be read, the names are not one
        a token, only one of `gradients` and `grad_output` is given, or they don't fit the head.
    """
    _check(head, item, query, tokens)
    grad_output = _check_way_back(head, gradients, grad_output)
    scene = Scene.of(head, item, query, tuple(tokens))
    parts = [
        ("1. What goes in", INPUTS, inputs(scene)),
        ("2. From scores to output", _stages_lead(head), stages(scene)),
        ("3. Each number, query by query", ACCOUNTS, accounts(scene)),
    ]
    if gradients is not None:
        back = way_back(scene, head, gradients, grad_output, item)
        parts.append(("4. The way back", WAY_BACK, back))
    folds = "".join(_part(*part, unfolded=scene.small) for part in parts)
    one = "" if scene.small else f" Followed: {scene.named('q')[scene.queries[0]]}."
    sizes = f'<div style="color:{style.SOFT_INK}">{escape(_sizes(head, item) + one)}</div>'
    html = f'<div style="{SHEET}">{TITLE}{sizes}{_legend()}{folds}</div>'
    return Page(html, _description(head, scene, gradients, grad_output, item))


def _check(head, item, query, tokens):
    batch, count, _ = head.query.shape
    if item not in range(batch):
        mend = f"choose 0 to {batch - 1}" if batch else "an empty batch holds nothing to trace"
        raise ValueError(f"item must be one of the {batch} batch items, got {item}: {mend}")
    if query is not None and query not in range(count):
        raise ValueError(
            f"query must be one of the {count} tokens, got {query}: choose 0 to {count - 1}"
        )
    if max(count, head.key_width, head.value_width) > MOST:
        raise ValueError(
            f"a trace writes out at most {MOST} tokens and features, got {count} tokens, "
            f"d_k = {head.key_width} and d_v = {head.value_width}: trace a head of fewer tokens, "
            "such as `query[:, :8], key[:, :8], value[:, :8]`"
        )
    if tokens and len(tokens) != count:
        raise ValueError(
            f"tokens must name each of the {count} tokens, got {len(tokens)} names: pass one a "
            "token, or none"
        )


def _check_way_back(head, gradients, grad_output):
    if (gradients is None) != (grad_output is None):
        raise ValueError(
            "gradients and grad_output must come together, got one of them: pass both, as in "
            "`head_trace(head, head.backward(grad_output), grad_output)`"
        )
    if gradients is None:
        return None
    grad_output, output = np.asarray(grad_output), head.output.shape
    got = (gradients.query.shape, gradients.value.shape, grad_output.shape)
    if got != (head.query.shape, head.value.shape, output):
        raise ValueError(
            f"gradients and grad_output must belong to this head, whose output is {output}, got "
            f"dQ, dV and dO of {got[0]}, {got[1]} and {got[2]}: compute them with "
            "`head.backward(grad_output)`"
        )
    return grad_output


def _part(title, lead, body, unfolded):
    """One step of the way; a fold, since those stay when a notebook isn't trusted."""
    state = " open" if unfolded else ""
    return (
        f'<details{state} style="{PART}"><summary style="{HEADING}">{escape(title)}</summary>'
        f'<p style="{LEAD}">{escape(lead)}</p>{body}</details>'
    )


def _legend():
    names = {"query": "query", "key": "key", "value": "value", "score": "score"}
    names |= {"probability": "weight", "plain": "output, gradient or sum"}
    cues = "".join(
        f'<span style="{LEGEND};border:{style.ROLES[role].css}{tables.below(role)}">'
        f"{name}: {style.ROLES[role].cue}</span>"
        for role, name in names.items()
    )
    return f'<div style="margin-top:10px">{cues}</div>'


def _stages_lead(head):
    return (
        f"A query is a row, a key is a column. The scale is 1 ÷ √d_k = 1 ÷ √{head.key_width} = "
        f"{equations.printed(head.scale)}. Softmax runs over the keys: each query's weights sum to "
        "1. The output adds up the values by these weights."
    )


def _sizes(head, item):
    batch, count, _ = head.query.shape
    return (
        f"Batch item {item} of {batch}: T = {count} token{'s' if count > 1 else ''}, "
        f"d_k = {head.key_width}, d_v = {head.value_width}."
    )


def _description(head, scene, gradients, grad_output, item):
    """The main numbers as plain text: weights and output of each followed query, gradients."""
    lines = [f"{_sizes(head, item)} Scale {numbers.fixed(head.scale)}."]
    for query in scene.queries:
        weights, output = _row(scene.weights[query]), _row(scene.output[query])
        lines.append(f"q{query}: weights over keys {weights}, output {output}.")
    if gradients is not None:
        lines.append(f"Objective L = {numbers.fixed(objective(head, grad_output))}.")
        lines += [_gradient(scene, gradients, name, item) for name in ("query", "key", "value")]
    return "\n".join(lines)


def _gradient(scene, gradients, name, item):
    matrix, title = getattr(gradients, name)[item], f"d{name[0].upper()}"
    if scene.small:
        return f"{title}: {' '.join(map(_row, matrix))}."
    return f"{title}: largest size of an entry {numbers.fixed(abs(matrix).max())}."


def _row(entries):
    rest = ", ..." if len(entries) > SMALL else ""
    return "[" + ", ".join(map(numbers.fixed, entries[:SMALL])) + rest + "]"
