"""Wrong ways to mix the values with the weights."""

from attnlib.lessons.mistakes.kinds import Mistake
from attnlib.lessons.mistakes.steps import head_with, softmax


def mixing(mix):
    """Return the head whose output is another function of the weights and the inputs."""
    return head_with(output=mix)


def merged(made, *axes):
    """Exchange two axes of the output, then reshape it back: same shape, another order."""
    output = made.weights @ made.value
    return output.swapaxes(*axes).reshape(output.shape)


RESIDUALS = (
    ("the values are added", mixing(lambda made: made.weights @ made.value + made.value)),
    ("the queries are added", mixing(lambda made: made.weights @ made.value + made.query)),
)
MERGED = (
    ("batch and tokens are exchanged", mixing(lambda made: merged(made, 0, 1))),
    ("tokens and features are exchanged", mixing(lambda made: merged(made, 1, 2))),
)

MISTAKES = (
    Mistake(
        id="weights-transposed",
        title="The weights are transposed before they mix",
        paragraph=(
            "Each output adds up what a key gives to all queries, instead of what a query takes "
            "from all keys. The weights of one output then sum to anything. It slips in with an "
            "einsum whose two letters are exchanged, or with a transpose left over. Let row i of "
            "the weights make row i of the output."
        ),
        question="Which weights go into the output of token 0: those it gives, or those it gets?",
        signature="The output is Aᵀ V; each key's weights sum to 1, and each query's do not.",
        stage="weights",
        head=head_with(weights=lambda made: softmax(made.scaled_scores).swapaxes(1, 2)),
        variants=(
            ("only in the mixture", mixing(lambda made: made.weights.swapaxes(1, 2) @ made.value)),
        ),
    ),
    Mistake(
        id="value-is-query",
        title="The weights mix the queries",
        paragraph=(
            "The weights are right, and then they mix Q instead of V. The output's shape gives it "
            "away only where d_v differs from d_k, and in many examples it does not. One wrong "
            "letter does it. Mix the values."
        ),
        question="Does your output change when the values do?",
        signature="The output is A Q: it has the width of the queries.",
        stage="output",
        head=mixing(lambda made: made.weights @ made.query),
    ),
    Mistake(
        id="value-is-key",
        title="The weights mix the keys",
        paragraph=(
            "The weights are right, and then they mix K instead of V. The output's shape gives it "
            "away only where d_v differs from d_k, and in many examples it does not. Keys say "
            "where to look, values say what is found there. Mix the values."
        ),
        question="Does your output change when the values do?",
        signature="The output is A K: it has the width of the keys.",
        stage="output",
        head=mixing(lambda made: made.weights @ made.key),
    ),
    Mistake(
        id="value-transposed",
        title="The values are transposed before they are mixed",
        paragraph=(
            "The keys needed a transpose, and the values got one as well. The product only exists "
            "where d_v equals the number of tokens, and there features are mixed as if they were "
            "tokens. Leave the values as they are: a row of weights meets a column of V, one "
            "number a token."
        ),
        question="Over which axis of V does the mixture add up: tokens or features?",
        signature="It raises unless T = d_v, and then the output is A Vᵀ.",
        stage="output",
        head=mixing(lambda made: made.weights @ made.value.swapaxes(1, 2)),
    ),
    Mistake(
        id="elementwise-mixture",
        title="Weights and values are multiplied entry by entry",
        paragraph=(
            "`A * V` multiplies each weight with one entry of V and adds nothing up. The shapes "
            "only fit where d_v equals the number of tokens, or where one of them is 1. `*` is "
            "the matrix product in some other languages. Use `@`."
        ),
        question="How many values go into one number of your output?",
        signature="It raises unless T = d_v or one of them is 1, and then nothing is added up.",
        stage="output",
        head=mixing(lambda made: made.weights * made.value),
    ),
    Mistake(
        id="value-inside-softmax",
        title="The values stand inside the softmax",
        paragraph=(
            "The scaled scores mix the values first, and the softmax is taken of the result, so "
            "it runs over features. Every output is positive and sums to 1, whatever the values "
            "are. One bracket at the wrong place in the formula does it. Take the softmax of the "
            "scores, then mix."
        ),
        question="Can your output be negative, as the values can?",
        signature="The features of each output are positive and sum to 1.",
        stage="output",
        head=head_with(weights=None, output=lambda made: softmax(made.scaled_scores @ made.value)),
        variants=(
            (
                "without the scale",
                head_with(
                    scaled_scores=None,
                    weights=None,
                    output=lambda made: softmax(made.raw_scores @ made.value),
                ),
            ),
        ),
    ),
    Mistake(
        id="residual-added",
        title="The input is added to the output",
        paragraph=(
            "The output is the mixture plus the values, or plus the queries. A whole transformer "
            "block does add its input back, one step after the head, and code copied from a block "
            "brings that step along. A head returns the mixture alone: leave the sum to the block."
        ),
        question="If all values but one were 0, could an output be larger than that value?",
        signature="The output minus the mixture is the values, or the queries.",
        stage="output",
        head=RESIDUALS[0][1],
        variants=RESIDUALS,
    ),
    Mistake(
        id="heads-merged-by-reshape",
        title="Heads are merged by a reshape of exchanged axes",
        paragraph=(
            "Before heads can be merged, tokens and heads change places; then a reshape brings "
            "back the shape, but not the order. The numbers are all there, at the wrong tokens. "
            "Several heads need such a step, and copied into one head it only does harm. Exchange "
            "the axes back before the reshape, or leave both out."
        ),
        question="Does the output of token 0 stand at token 0 of its own item?",
        signature="The output holds the right numbers in another order.",
        stage="output",
        head=MERGED[0][1],
        variants=MERGED,
    ),
)
