"""The way back: gradients of values and scores, and the check that holds them to account."""

import numpy as np

from attnlib.core.gradcheck import OPERANDS, gradient_check
from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.lessons import examples
from attnlib.lessons.questions.kinds import Words, listed, only

VALUE_GRADIENT = Words(
    "L = O₀₀ + O₁₁, so dO is the identity, and A has the rows {weights[0]} and {weights[1]}. Write "
    "dV: a row for each value, a column for each feature.",
    "dV = Aᵀ dO: a value gets back from every output its weight there times that output's "
    "gradient. With dO the identity, dV is Aᵀ.",
    {
        "A without its transpose": "value j was used with the weights of column j of A, one for "
        "each query.",
        "the output's gradient handed on": "that is dO: each output was mixed from both values, by "
        "weight.",
    },
)


def value_gradient():
    """Ask for dV when dO is the identity."""
    example = examples.load("worked-example")
    head, grad_output = example.head(), example.grad_output
    wrong = {
        "A without its transpose": head.weights[0] @ grad_output[0],
        "the output's gradient handed on": grad_output[0],
    }
    return VALUE_GRADIENT.numbers(
        head.backward(grad_output).value[0],
        wrong,
        rows=("value 0", "value 1"),
        columns=("feature 0", "feature 1"),
        weights=[listed(row) for row in head.weights[0]],
    )


SCORE_GRADIENT_SUM = Words(
    "dS holds the gradients of the scaled scores. What is its sum over the keys of one query?",
    "Adding the same number to all scores of a query changes none of its weights, so it changes no "
    "loss: what the scores gain and lose cancels. In the formula, the weighted mean of dA is taken "
    "off each of its entries.",
    {
        "the sum of the weights": "the weights sum to 1; these are gradients. What does the loss "
        "do if all scores of a query grow alike?",
        "the sum of dA": "that is the sum over dA, before it went back through softmax.",
        "mean of dA not taken off": "that is the sum of A times dA: the rule takes the weighted "
        "mean off first.",
    },
)


def score_gradient_sum():
    """Ask for the sum of one query's score gradients."""
    example = examples.load("worked-example")
    head = example.head()
    grads = head.backward(example.grad_output)
    weights, grad_weights = head.weights[0, 0], grads.weights[0, 0]
    wrong = {
        "the sum of the weights": weights.sum(),
        "the sum of dA": grad_weights.sum(),
        "mean of dA not taken off": weights @ grad_weights,
    }
    return SCORE_GRADIENT_SUM.numbers(grads.scaled_scores[0, 0].sum(), wrong)


SATURATED_CHOICE = Words(
    "A query's scores lie so far apart that one weight is almost 1. What is the gradient of that "
    "query like?",
    "The way back through softmax multiplies by the weights, and takes off their mean: with one "
    "weight almost 1, the mean of dA is almost that key's entry of dA, and every other key's "
    "weight is almost 0. Whether the choice is right or wrong, hardly any signal is left to change "
    "it.",
    {
        "large": (
            "a sure choice learns most",
            "move the scores a little where one weight is almost 1: by how much does it change?",
        ),
        "steady": (
            "softmax passes gradients on unchanged",
            "dS is A times (dA minus its weighted mean): what remains where A is almost 1, and "
            "where it is almost 0?",
        ),
    },
    {
        "vanishes": "almost 0: a small move of the query changes hardly anything",
        "large": "very large: the choice matters most there",
        "steady": "as large as elsewhere: the weight is handed back as it is",
    },
)


def saturated_choice():
    """Ask what a weight close to 1 does to its query's gradient."""
    example = examples.load("worked-example")
    sizes = []
    for factor in (0.25, 4.0):
        inputs = factor * example.query, example.key, example.value
        head = scaled_dot_product_self_attention(*inputs)
        sizes.append(np.linalg.norm(head.backward(example.grad_output).query[0, 1]))
    mild, saturated = sizes
    right = only(
        vanishes=saturated < 1e-3 * mild,
        large=saturated > 2 * mild,
        steady=np.isclose(saturated, mild, rtol=0.5),
    )
    return SATURATED_CHOICE.choice(right)


CHECKED_ENTRIES = Words(
    "Q, K and V have the shape [1, 2, 2] each. How many entries must central differences move to "
    "check all three gradients?",
    "Every entry has a derivative of its own: {sum}. A mistake may sit in a single one.",
    {
        "one input only": "those are the entries of one input: there are three.",
        "one entry for each input": "one entry of each would leave the others unchecked.",
        "V left out": "the values have a gradient too.",
        "losses counted": "that many losses are computed, two for each entry: one to each side.",
    },
)


def checked_entries():
    """Ask how many entries a complete check moves."""
    counts = _check(1e-6).coordinates
    wrong = {
        "one input only": counts[0],
        "one entry for each input": len(counts),
        "V left out": sum(counts[:2]),
        "losses counted": 2 * sum(counts),
    }
    addition = " + ".join(map(str, counts))
    return CHECKED_ENTRIES.numbers(sum(counts), wrong, whole=True, sum=addition)


BEST_STEP = Words(
    "Central differences in float64 move an entry by a step to each side. Which step comes closest "
    "to the true derivative?",
    "Two errors work against each other. A wide step follows the curve away from its tangent, with "
    "an error that grows with the step's square; a tiny one divides the rounding of two nearly "
    "equal losses by almost nothing. Between them lies a best step.",
    {
        "coarse": ("curvature overlooked", "over so wide a step the loss is no straight line."),
        "tiny": (
            "the smaller the better",
            "float64 keeps about 16 digits: how many are left of the difference of two losses that "
            "agree in the first 11?",
        ),
    },
    {"coarse": "1e-1", "middle": "1e-6", "tiny": "1e-12"},
)


def best_step():
    """Ask which step makes central differences most exact."""
    errors = {key: _error(float(step)) for key, step in BEST_STEP.options.items()}
    return BEST_STEP.choice(min(errors, key=errors.get))


def _check(step):
    example = examples.load("worked-example")
    inputs = example.query, example.key, example.value, example.grad_output
    return gradient_check(*inputs, step=step)


def _error(step):
    check = _check(step)
    return max(getattr(check, operand).max_difference for operand in OPERANDS)


QUESTIONS = {
    "value-gradient": value_gradient,
    "score-gradient-sum": score_gradient_sum,
    "saturated-choice": saturated_choice,
    "checked-entries": checked_entries,
    "best-step": best_step,
}
