"""Heads that confuse the batch with the tokens, or one item with another."""

import numpy as np

from attnlib.lessons.mistakes.kinds import Mistake
from attnlib.lessons.mistakes.steps import head_with

right = head_with()


def across_the_batch(query, key, value):
    """Read [batch, tokens, features] as [tokens, batch, features], there and back."""
    stages = right(*(x.swapaxes(0, 1) for x in (query, key, value)))
    return stages | {"output": stages["output"].swapaxes(0, 1)}


def as_one_sequence(query, key, value):
    """Put the tokens of all items into one long sequence."""
    stages = right(*(x.reshape(1, -1, x.shape[2]) for x in (query, key, value)))
    return stages | {"output": stages["output"].reshape(value.shape)}


def first_items(query, key, value):
    """Let every item attend to the keys and values of the first."""
    return right(query, key[:1], value[:1])


def neighbours(query, key, value):
    """Let every item attend to the keys and values of the next one."""
    return right(query, np.roll(key, -1, axis=0), np.roll(value, -1, axis=0))


def summed_over_items(made):
    """Sum the scores over the items of the keys, as an einsum with two batch letters does."""
    return np.einsum("bqd,ckd->bqk", made.query, made.key)


MISTAKES = (
    Mistake(
        id="batch-and-tokens-swapped",
        title="The batch is taken for the tokens",
        paragraph=(
            "The head reads its input as [tokens, batch, features], so the first tokens of all "
            "items attend to each other, and the tokens of one item never meet. Output shapes are "
            "right and training even converges. Libraries disagree on the order of these axes. "
            "Here batch comes first: products and softmax must leave axis 0 alone."
        ),
        question="Which two axes should the scores of one item have: tokens by tokens, or what?",
        signature="The output of one item changes when another item changes; scores are B by B.",
        stage="raw_scores",
        head=across_the_batch,
    ),
    Mistake(
        id="batch-items-mixed",
        title="Items of the batch attend to each other",
        paragraph=(
            "Tokens of one item get weight from the keys of another: the batch was flattened into "
            "one sequence, an index into it was wrong, or an einsum sums over two batch letters. "
            "A single item works, so it waits for the first real batch. Keep axis 0 through every "
            "product."
        ),
        question="Does the output of item 0 stay as it is when item 1 changes?",
        signature="A batch of one is right; with two items each changes the other.",
        stage="raw_scores",
        head=as_one_sequence,
        variants=(
            ("all tokens in one sequence", as_one_sequence),
            ("every item reads the first", first_items),
            ("every item reads the next", neighbours),
            ("scores summed over the items", head_with(raw_scores=summed_over_items)),
        ),
    ),
)
