"""Wrong ways to match queries with keys: products, transposes and exchanges."""

import math

import numpy as np

from attnlib.lessons.mistakes.kinds import Mistake
from attnlib.lessons.mistakes.steps import head_with, softmax


def scoring(score):
    """Return the head whose raw scores are another function of the queries and keys."""
    return head_with(raw_scores=lambda made: score(made.query, made.key))


def reshaped(key):
    """Give the keys the shape of their transpose, with the numbers in their old order."""
    batch, tokens, width = key.shape
    return key.reshape(batch, width, tokens)


def unit_length(vectors):
    """Divide each vector by its length."""
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


@np.errstate(all="ignore")
def with_dot(query, key, value):
    """Write np.dot for every product: with three axes, it pairs every item with every other."""
    scores = np.dot(query, key.swapaxes(1, 2)) / math.sqrt(query.shape[2])
    return {"output": np.dot(softmax(scores), value)}


MISTAKES = (
    Mistake(
        id="key-not-transposed",
        title="The keys are not transposed",
        paragraph=(
            "Q is multiplied with K itself. The widths only fit when there are as many tokens as "
            "features, so most inputs raise an error, but a square example runs and is wrong. "
            "Exchange the last two axes of K, so that each score is a query times a key."
        ),
        question="Which two vectors meet in the score of query 0 and key 1?",
        signature="It raises unless T = d_k, and then the scores are no dot products of tokens.",
        stage="raw_scores",
        head=scoring(lambda query, key: query @ key),
    ),
    Mistake(
        id="key-reshaped",
        title="The keys are reshaped instead of transposed",
        paragraph=(
            "A reshape gives K the shape of its transpose but keeps the numbers in their old "
            "order, so each column holds pieces of several keys. The shapes fit everywhere, and "
            "nothing complains. Exchange the axes with `swapaxes(1, 2)`; a reshape never moves a "
            "number past another."
        ),
        question="After your step, where is the second feature of the first key?",
        signature="Scores are right for one token or one feature, and wrong for all else.",
        stage="raw_scores",
        head=scoring(lambda query, key: query @ reshaped(key)),
    ),
    Mistake(
        id="all-axes-reversed",
        title="The transpose reversed all three axes",
        paragraph=(
            "`K.T` on an array with three axes reverses them all, so the batch ends up last. It is "
            "the habit of two axes, where `.T` is right. Most shapes raise an error; where batch, "
            "tokens and width are equal it runs, with wrong numbers. Exchange only the last two "
            "axes."
        ),
        question="What is the shape of your transposed keys, axis by axis?",
        signature="It raises unless batch, tokens and d_k are equal, and there items are mixed.",
        stage="raw_scores",
        head=scoring(lambda query, key: query @ key.T),
    ),
    Mistake(
        id="query-key-exchanged",
        title="Queries and keys are exchanged",
        paragraph=(
            "K Qᵀ is computed instead of Q Kᵀ: the scores are transposed, and the softmax then "
            "runs over the queries of each key. Shapes are right and rows sum to 1. The order of "
            "arguments, or of two projections, is all it takes. Queries are the rows, keys the "
            "columns."
        ),
        question="Along which axis of your scores do the queries follow each other?",
        signature="The raw scores are the transpose of the right ones.",
        stage="raw_scores",
        head=scoring(lambda query, key: key @ query.swapaxes(1, 2)),
    ),
    Mistake(
        id="key-is-query",
        title="Queries are matched with queries",
        paragraph=(
            "Q Qᵀ is computed and the keys are never read. The raw scores come out symmetric, "
            "and each token mostly finds itself. One wrong letter does it, and where Q and K are "
            "equal nothing shows. Match the queries with the keys."
        ),
        question="Does anything in your result change when the keys do?",
        signature="The raw scores are symmetric, and K has no influence.",
        stage="raw_scores",
        head=scoring(lambda query, key: query @ query.swapaxes(1, 2)),
    ),
    Mistake(
        id="query-is-key",
        title="Keys are matched with keys",
        paragraph=(
            "K Kᵀ is computed and the queries are never read. The raw scores come out symmetric, "
            "as if no token asked for anything but itself. One wrong letter does it, and where Q "
            "and K are equal nothing shows. Match the queries with the keys."
        ),
        question="Does anything in your result change when the queries do?",
        signature="The raw scores are symmetric, and Q has no influence.",
        stage="raw_scores",
        head=scoring(lambda query, key: key @ key.swapaxes(1, 2)),
    ),
    Mistake(
        id="key-is-value",
        title="Queries are matched with values",
        paragraph=(
            "Q Vᵀ is computed and the keys are never read. It raises an error where d_v differs "
            "from d_k, and in many examples it does not. Keys say where to look, values say what "
            "is found there, and one wrong letter exchanges them. Match the queries with the keys."
        ),
        question="Does anything in your scores change when the values do?",
        signature="It raises unless d_v = d_k, and there K has no influence.",
        stage="raw_scores",
        head=head_with(raw_scores=lambda made: made.query @ made.value.swapaxes(1, 2)),
    ),
    Mistake(
        id="cosine-instead-of-dot",
        title="Queries and keys are brought to length 1",
        paragraph=(
            "Each vector is divided by its length, so a score is the cosine of an angle and lies "
            "between -1 and 1. Long keys lose their advantage and the weights come out nearly "
            "even. Similarity search does this, attention does not. Use the dot product as it is."
        ),
        question="What happens to a score when its key is made twice as long?",
        signature="No raw score is above 1 or below -1.",
        stage="raw_scores",
        head=scoring(lambda query, key: unit_length(query) @ unit_length(key).swapaxes(1, 2)),
    ),
    Mistake(
        id="elementwise-product",
        title="Queries and keys are multiplied entry by entry",
        paragraph=(
            "`Q * K` multiplies each query with the key of its own token, feature by feature, and "
            "no query ever meets another token's key. The result has as many columns as features, "
            "so it only fits the values where T = d_k. `*` is the matrix product in some other "
            "languages. Use `@` with the keys transposed."
        ),
        question="Where does query 0 meet key 1 in your product?",
        signature="It raises unless T = d_k; the scores go by feature where they should go by key.",
        stage="raw_scores",
        head=scoring(lambda query, key: query * key),
    ),
    Mistake(
        id="dot-instead-of-matmul",
        title="np.dot pairs every item with every other",
        paragraph=(
            "On arrays with three axes `np.dot` does not go item by item: it multiplies each item "
            "of Q with each item of K, and the result has four axes. On matrices it is the same "
            "as `@`, which is why the habit lasts. Use `@` or `np.matmul`."
        ),
        question="How many axes do your scores have?",
        signature="The scores have four axes, and the output more than three.",
        stage="output",
        head=with_dot,
    ),
)
