"""From scores to outputs: softmax over the keys, and the values it mixes."""

import numpy as np

from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.core.tape import exp, log_softmax
from attnlib.lessons import examples
from attnlib.lessons.evidence import weighted_values
from attnlib.lessons.questions.kinds import Words, listed, only


def softmax(scores):
    """Return the weights of scores, over their last axis."""
    return exp(log_softmax(scores))


NORMALIZED_AXIS = Words(
    "Each row of A sums to 1; the columns need not. Over what does softmax run?",
    "A row of A belongs to one query, and along it the keys change. Each query chooses among the "
    "keys, so its weights over the keys sum to 1. A key may be wanted by many queries or by none: "
    "here the columns sum to {columns}.",
    {
        "queries": (
            "softmax over the queries",
            "then each column would sum to 1. Within one row the query stays the same: what "
            "changes along it?",
        ),
        "grid": (
            "one softmax for the whole grid",
            "then all entries together would sum to 1. How much does each row have to share out?",
        ),
    },
    {
        "queries": "over the queries: the queries compete for each key",
        "keys": "over the keys: each query shares out one whole among the keys",
        "grid": "over all scores at once: the whole grid shares out one whole",
    },
)


def normalized_axis():
    """Ask over what softmax runs."""
    head = examples.load("worked-example").head()
    scores, weights = head.scaled_scores[0], head.weights[0]
    right = only(
        queries=np.allclose(weights, softmax(scores.T).T),
        keys=np.allclose(weights, softmax(scores)),
        grid=np.allclose(weights, softmax(scores.ravel()).reshape(scores.shape)),
    )
    return NORMALIZED_AXIS.choice(right, columns=listed(weights.sum(axis=0)))


SHIFTED_SCORES = Words(
    "Add 5 to all scores of query 0, right before softmax. What do its weights do?",
    "Every exp grows by the same factor e⁵, and so does their sum: the factor cancels. Only "
    "differences between the scores of one query count.",
    {
        "grow": (
            "weights that all grow",
            "the weights of a query sum to 1 before and after: can all of them grow?",
        ),
        "sharper": (
            "addition taken for multiplication",
            "that is what multiplying the scores would do. What happens to their difference?",
        ),
        "flatter": (
            "ratio of the scores",
            "softmax looks at differences of scores, not at their ratio. What happens to their "
            "difference?",
        ),
    },
    {
        "grow": "they all grow",
        "sharper": "the favoured key gains, the other loses",
        "flatter": "the favoured key loses, the other gains",
        "same": "they stay as they are",
    },
)


def shifted_scores():
    """Ask what a number added to all scores of a query does to its weights."""
    scores = examples.load("worked-example").head().scaled_scores[0, 0]
    before, rounding = softmax(scores), 1e-9
    gain = softmax(scores + 5) - before
    favoured = np.argmax(before)
    right = only(
        grow=np.all(gain > rounding),
        sharper=gain[favoured] > rounding,
        flatter=gain[favoured] < -rounding,
        same=np.all(np.abs(gain) <= rounding),
    )
    return SHIFTED_SCORES.choice(right)


WEIGHTED_TERM = Words(
    "Query 0 has the weights {weights}; value 0 is {values[0]} and value 1 is {values[1]}. Which "
    "term does value 1 add to output 0?",
    "Every feature of value 1 is multiplied by the weight of key 1. The term of value 0, {first}, "
    "is added to it, and their sum is output 0.",
    {
        "the whole mixture": "that is output 0, both terms added up. Which part of it comes from "
        "value 1?",
        "the term of value 0": "that is what value 0 adds: its weight times its features.",
        "the other key's weight": "value 1 takes the weight of key 1, for a token's key and value "
        "go together.",
        "value without its weight": "that is value 1 whole: multiply it by its weight.",
    },
)


def weighted_term():
    """Ask for the term that value 1 adds to output 0."""
    head = examples.load("worked-example").head()
    weights, value, terms = head.weights[0, 0], head.value[0], weighted_values(head)[0, 0]
    wrong = {
        "the whole mixture": head.output[0, 0],
        "the term of value 0": terms[0],
        "the other key's weight": weights[0] * value[1],
        "value without its weight": value[1],
    }
    return WEIGHTED_TERM.numbers(
        terms[1],
        wrong,
        columns=("feature 0", "feature 1"),
        weights=listed(weights),
        values=[listed(row, 0) for row in value],
        first=listed(terms[0]),
    )


OUTPUT_RANGE = Words(
    "Can a feature of an output be larger than that feature is in every value?",
    "The weights of a query are not negative and sum to 1, so an output is an average of the "
    "values: it lies between the smallest and the largest of them, feature by feature.",
    {
        "scores": (
            "scores that enlarge values",
            "a score decides how the whole is shared out; the whole stays 1.",
        ),
        "tokens": (
            "sum instead of average",
            "with more tokens each gets a smaller share. What do the shares sum to?",
        ),
    },
    {
        "never": "no, never",
        "scores": "yes, if a score is large enough",
        "tokens": "yes, if there are enough tokens to add up",
    },
)


def output_range():
    """Ask whether an output can leave the range of the values."""
    larger, more, rounding = _excess(tokens=4, factor=30), _excess(tokens=64, factor=1), 1e-12
    right = only(
        never=max(larger, more) <= rounding,
        scores=larger > rounding,
        tokens=more > rounding,
    )
    return OUTPUT_RANGE.choice(right)


def _excess(tokens, factor):
    query, key, value = np.random.default_rng(2017).standard_normal((3, 1, tokens, 3))
    head = scaled_dot_product_self_attention(factor * query, key, value)
    return np.max(head.output - value.max(axis=1, keepdims=True))


QUESTIONS = {
    "normalized-axis": normalized_axis,
    "shifted-scores": shifted_scores,
    "weighted-term": weighted_term,
    "output-range": output_range,
}
