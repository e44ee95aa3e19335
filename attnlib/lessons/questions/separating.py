"""Tokens, batch items and widths: what each axis is for, and what must not depend on what."""

import numpy as np

from attnlib.core.errors import SelfAttentionError
from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.lessons import examples
from attnlib.lessons.questions.kinds import Words, listed, only
from attnlib.lessons.questions.mixing import softmax

OUTPUT_SHAPE = Words(
    "Q and K have the shape [4, 7, 3] and V has [4, 7, 5]. What is the output's shape?",
    "There is one output for each batch item and query, and it is as wide as a value.",
    {
        "the shape of the queries": "that is the shape of the queries: an output is made of "
        "values.",
        "the shape of the weights": "that is the shape of the weights: they still have to mix the "
        "values.",
        "widths put side by side": "queries and keys only decide on the weights: none of their "
        "features is handed on.",
    },
)


def output_shape():
    """Ask for the shape of an output whose width is not that of the queries."""
    query = key = np.zeros((4, 7, 3))
    head = scaled_dot_product_self_attention(query, key, np.zeros((4, 7, 5)))
    wrong = {
        "the shape of the queries": head.query.shape,
        "the shape of the weights": head.weights.shape,
        "widths put side by side": np.concatenate([head.query, head.value], axis=2).shape,
    }
    columns = ("batch", "tokens", "width")
    return OUTPUT_SHAPE.numbers(head.output.shape, wrong, columns=columns, whole=True)


ONE_TOKEN = Words(
    "There is one token only, and its value is {value}. Write its weight, then its output.",
    "Softmax over a single key gives it the weight 1 whatever the score is, so the output is the "
    "value itself.",
    {
        "a token that skips itself": "a query may read its own token's key. Which weights sum to 1 "
        "if there is one key?",
        "half of the weight kept back": "there is nobody to share with: the weights over all keys "
        "sum to 1.",
    },
)


def one_token():
    """Ask for the weight and the output where there is nothing to choose from."""
    head = examples.load("one-token").head()
    value, half = head.value[0, 0], softmax(np.zeros(2))[0]
    right = [head.weights[0, 0, 0], *head.output[0, 0]]
    wrong = {
        "a token that skips itself": [0, *(0 * value)],
        "half of the weight kept back": [half, *(half * value)],
    }
    columns = ("weight", "output, feature 0", "output, feature 1")
    return ONE_TOKEN.numbers(right, wrong, columns=columns, value=listed(value, 0))


SWAPPED_TOKENS = Words(
    "The two tokens change places in Q, in K and in V. What happens to the outputs?",
    "A score knows which query and which key it is made of, and not where they stand: each query "
    "finds the same keys and values at other places. The head itself has no sense of order; a "
    "mask, or positions added to the inputs, would bring one in.",
    {
        "stay": (
            "outputs tied to places",
            "an output belongs to its query, and the queries have changed places.",
        ),
        "new": (
            "a head that knows the order",
            "where does the position of a token enter QKᵀ, the softmax or AV?",
        ),
    },
    {
        "follow": "they change places too, and their numbers stay the same",
        "stay": "nothing: they stay where they are",
        "new": "their numbers change: another order is another sentence to the head",
    },
)


def swapped_tokens():
    """Ask what happens to the outputs when two tokens change places."""
    before = examples.load("worked-example").head().output
    after = examples.load("swapped-tokens").head().output
    follow, stay = np.allclose(after, before[:, ::-1]), np.allclose(after, before)
    return SWAPPED_TOKENS.choice(only(follow=follow, stay=stay, new=not (follow or stay)))


EQUAL_KEYS = Words(
    "Both tokens have the same key. Which two weights does a query give them?",
    "Equal keys get equal scores from any query, and equal scores get equal shares of 1, however "
    "high the scores are.",
    {
        "a hard choice": "softmax picks no winner: what would put one key ahead of the other?",
        "not normalized": "they are equal, but the weights of a query sum to 1.",
        "keys that cancel each other": "each query has to share out 1, even if no key stands out.",
    },
)


def equal_keys():
    """Ask for the weights of two keys that cannot be told apart."""
    head = examples.load("equal-keys").head()
    scores = head.scaled_scores[0, 1]
    wrong = {
        "a hard choice": np.eye(len(scores))[np.argmax(scores)],
        "not normalized": np.exp(scores - scores.max()),
        "keys that cancel each other": 0 * scores,
    }
    return EQUAL_KEYS.numbers(head.weights[0, 1], wrong, columns=("key 0", "key 1"))


BATCH_BROADCAST = Words(
    "Queries and values come as a batch of 2, the keys as a batch of 1. What does the head do?",
    "Batch items are separate sequences: each has keys of its own. NumPy would stretch the keys "
    "without a word, and queries of one sequence would then search the keys of another; so the "
    "head refuses, and names the three batch sizes.",
    {
        "broadcast": (
            "batch axes stretched to fit",
            "NumPy alone would do that. Whose keys would the queries of item 1 then read?",
        ),
        "first": (
            "batch cut to the shorter",
            "half of an answer could go unnoticed: what should the head say to such a batch?",
        ),
    },
    {
        "broadcast": "it uses the one set of keys for both batch items, as NumPy would",
        "refused": "it refuses: the batch sizes differ",
        "first": "it computes the first batch item and leaves out the second",
    },
)


def batch_broadcast():
    """Ask whether one batch item of keys serves two of queries."""
    query, key = np.zeros((2, 2, 2)), np.zeros((1, 2, 2))
    refusal = items = None
    try:
        items = len(scaled_dot_product_self_attention(query, key, query).output)
    except SelfAttentionError as error:
        refusal = error.kind
    right = only(broadcast=items == 2, refused=refusal == "batch-mismatch", first=items == 1)
    return BATCH_BROADCAST.choice(right)


QUESTIONS = {
    "output-shape": output_shape,
    "one-token": one_token,
    "swapped-tokens": swapped_tokens,
    "equal-keys": equal_keys,
    "batch-broadcast": batch_broadcast,
}
