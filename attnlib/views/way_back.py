"""The way back of one batch item: every gradient, each with one entry's equation filled in."""

from html import escape

from attnlib.lessons.evidence import objective
from attnlib.views import equations, numbers, style
from attnlib.views.steps import features, grid

CARD = "display:flex;flex-wrap:wrap;align-items:center;margin-bottom:10px"
RULE = f"flex:1 1 320px;max-width:560px;color:{style.INK}"
FILLED = f"font-family:monospace;font-size:13px;color:{style.INK}"


def way_back(scene, head, gradients, grad_output, item):
    """Show the gradient of every quantity, last operation first.

    Parameters
    ----------
    scene : Scene
        The item that is shown.
    head, gradients : SelfAttentionForward, SelfAttentionGradients
        The whole batch.
    grad_output : numpy.ndarray
        Shape [batch, tokens, d_v].
    item : int
        Which of the batch.

    Returns
    -------
    str
        HTML.
    """
    back = {name: array[item] for name, array in vars(gradients).items()}
    back["output"] = grad_output[item]
    equation = _objective(scene, head, grad_output, back["output"])
    return (
        _card(scene, "dOutput", "dO, handed in", back["output"], "o", *equation)
        + _to_scores(scene, back)
        + _to_inputs(scene, back)
    )


def _objective(scene, head, grad_output, seed):
    batch, total = len(head.output), objective(head, grad_output)
    if batch > 1 or not scene.small:
        where = f"all {batch} batch items" if batch > 1 else "all entries"
        return f"L, the sum of O × dO over {where}", "", total
    return "L, the sum of O × dO", equations.dot(scene.output.ravel(), seed.ravel()), total


def _to_scores(scene, back):
    """The gradients of weights and scores; written out for the first followed query and key 0."""
    i = scene.queries[0]
    query = numbers.label("q", i)
    names = ("weights", "scaled_scores", "raw_scores")
    d_weights, d_scaled, d_raw = (back[name] for name in names)
    rules = (
        f"dWeights[{query}, k₀]: dO of {query} times v₀, added over features",
        f"dScaled[{query}, k₀]: A × (dA − the sum over keys of A × dA)",
        f"dRaw[{query}, k₀]: dS × scale",
    )
    dot = equations.dot(back["output"][i], scene.value[0])
    through = equations.through_softmax(scene.weights[i], d_weights[i], 0)
    scaled = equations.product(d_scaled[i, 0], scene.scale)
    return (
        _card(scene, "dWeights", "dA = dO Vᵀ", d_weights, "q", rules[0], dot, d_weights[i, 0])
        + _card(scene, "dScaled", "dS", d_scaled, "q", rules[1], through, d_scaled[i, 0])
        + _card(scene, "dRaw", "dR = dS × scale", d_raw, "q", rules[2], scaled, d_raw[i, 0])
    )


def _to_inputs(scene, back):
    """The gradients of Q, K and V; a key or a value collects what every query sends to it."""
    i = scene.queries[0]
    query = numbers.label("q", i)
    d_raw, d_query, d_key, d_value = (back[x] for x in ("raw_scores", "query", "key", "value"))
    rules = (
        f"dQ[{query}, feature 0]: dR of {query} times K, added over keys",
        "dK[k₀, feature 0]: dR to k₀ times Q, added over queries",
        "dV[v₀, feature 0]: weights on v₀ times dO, added over queries",
    )
    to_query = equations.dot(d_raw[i], scene.key[:, 0])
    to_key = equations.dot(d_raw[:, 0], scene.query[:, 0])
    to_value = equations.dot(scene.weights[:, 0], back["output"][:, 0])
    return (
        _card(scene, "dQ", "dR K", d_query, "q", rules[0], to_query, d_query[i, 0])
        + _card(scene, "dK", "dRᵀ Q", d_key, "k", rules[1], to_key, d_key[0, 0])
        + _card(scene, "dV", "Aᵀ dO", d_value, "v", rules[2], to_value, d_value[0, 0])
    )


def _card(scene, title, note, matrix, letter, rule, written, number):
    """One gradient and, beside it, the equation of one entry."""
    of_scores = title in ("dWeights", "dScaled", "dRaw")
    columns = scene.named("k") if of_scores else features(matrix)
    rows, shown = scene.shown(letter, matrix)
    table = grid(title, shown, "plain", rows, columns, note)
    lines = [f"= {escape(written)}"] if written else []
    lines.append(f"= <b>{equations.printed(number)}</b>")
    filled = "".join(f'<div style="{FILLED}">{line}</div>' for line in lines)
    equation = f'<div style="{RULE}">{escape(rule)}{filled}</div>'
    return f'<div style="{CARD}"><div>{table}</div>{equation}</div>'
