"""Who reaches whom: the pairs of three models, what waits for what, and what must stay hidden."""

import numpy as np

from attnlib.lessons import examples
from attnlib.lessons.history import model_history
from attnlib.lessons.questions.kinds import Words, only

TOKENS, STEPS = 6, 4

PAIRS_COUNTED = Words(
    "A source of {tokens} tokens is read, and a decoder takes {steps} steps. How many pairs are "
    "scored by the fixed context, by additive alignment, and by self-attention over the {tokens} "
    "tokens?",
    "The fixed context scores none: it is read whole. Alignment scores every token anew at each "
    "step, {steps} · {tokens}. Self-attention scores every token against every token, itself "
    "included, {tokens} · {tokens}.",
    {
        "reading taken for scoring": "the encoder reads each token once, but it compares none with "
        "anything.",
        "a fixed context that chooses": "every step gets the same context: no token is scored for "
        "a step.",
        "a token that skips itself": "a query is scored against its own token's key too.",
        "each pair counted once": "query 0 with key 1 and query 1 with key 0 are two scores.",
        "decoder steps for queries": "in self-attention the queries come from the same tokens as "
        "the keys.",
    },
)


def pairs_counted():
    """Ask how many pairs each of the three models scores."""
    ran = _history(TOKENS)
    none, aligned, grid = (len(run.pairs) for run in (ran.earlier, ran.bridge, ran.transformer))
    others = [pair for pair in np.ndindex(TOKENS, TOKENS) if pair[0] != pair[1]]
    unordered = {frozenset(pair) for pair in np.ndindex(TOKENS, TOKENS)}
    wrong = {
        "reading taken for scoring": [len(ran.earlier.encoder_states), aligned, grid],
        "a fixed context that chooses": [aligned, aligned, grid],
        "a token that skips itself": [none, aligned, len(others)],
        "each pair counted once": [none, aligned, len(unordered)],
        "decoder steps for queries": [none, aligned, aligned],
    }
    columns = ("fixed context", "additive alignment", "self-attention")
    right = [none, aligned, grid]
    return PAIRS_COUNTED.numbers(
        right, wrong, columns=columns, whole=True, tokens=TOKENS, steps=STEPS
    )


FIXED_CONTEXT_SIZE = Words(
    "The source grows from {short} tokens to {long}. What does the fixed context do?",
    "The fixed context is the encoder's last state, and a state has one width. Ten times as many "
    "tokens have to go through the same few numbers: the bottleneck that alignment was made to "
    "avoid.",
    {
        "tenfold": (
            "one state kept for each token",
            "the states of all tokens are what alignment keeps. The fixed context is the last of "
            "them.",
        ),
        "slowly": (
            "a state that makes room",
            "can h = tanh(W h + U x) have another width after the next token?",
        ),
    },
    {
        "tenfold": "it grows tenfold, with the tokens",
        "slowly": "it grows, but more slowly than the tokens",
        "stays": "it keeps its size",
    },
)


def fixed_context_size():
    """Ask how the fixed context grows with its source."""
    counts = TOKENS, 10 * TOKENS
    short, long = (_history(count).earlier.contexts.shape[1] for count in counts)
    right = only(tenfold=long == 10 * short, slowly=short < long < 10 * short, stays=long == short)
    return FIXED_CONTEXT_SIZE.choice(right, short=counts[0], long=counts[1])


RECURRENT_OR_GRID = Words(
    "All source tokens are there. Which model must wait for its own previous step before it can "
    "compute its next row of scores?",
    "Alignment scores the annotations against the previous decoder state, so a row has to wait for "
    "the one before. The grid of self-attention is one matrix product of queries and keys that are "
    "all there. Its work is not constant, it grows with the square of the tokens; and a model that "
    "writes one token after another still waits for each of them.",
    {
        "grid": ("a grid filled row by row", "what does row 1 of QKᵀ need from row 0?"),
        "both": ("every row waits", "does row 1 of QKᵀ need anything from row 0?"),
        "neither": (
            "the decoder's state overlooked",
            "alignment scores against the previous decoder state: when is that known?",
        ),
    },
    {
        "alignment": "additive alignment, step by step of its decoder",
        "grid": "self-attention, row by row of its grid",
        "both": "both",
        "neither": "neither",
    },
)


def recurrent_or_grid():
    """Ask which model cannot score before its previous step is done."""
    few, many = _history(TOKENS, steps=2), _history(TOKENS, steps=STEPS)
    alignment = many.bridge.sequential_steps > few.bridge.sequential_steps
    grid = max(few.transformer.sequential_steps, many.transformer.sequential_steps) > 1
    right = only(
        alignment=alignment and not grid,
        grid=grid and not alignment,
        both=alignment and grid,
        neither=not alignment and not grid,
    )
    return RECURRENT_OR_GRID.choice(right)


FUTURE_ACCESS = Words(
    "This head has no mask. A model with it is trained to predict each next token from the tokens "
    "so far. Which reading would give the target away?",
    "At position 0 the target is token 1. Query 0 can read it here, so the model would copy what "
    "it should predict, and fail where the next token does not exist yet. A causal mask shuts out "
    "later keys before softmax.",
    {
        "earlier": (
            "the past taken for a leak",
            "the tokens so far are what a prediction is made from.",
        ),
        "own": (
            "a token's own position taken for its target",
            "at position 1 token 1 has been seen; the target is the token after it.",
        ),
        "none": (
            "targets at hand in training",
            "they are there, so that the loss can be computed. May the prediction read them?",
        ),
    },
    {
        "earlier": "query 1 reads token 0, an earlier one",
        "own": "query 1 reads token 1, its own",
        "later": "query 0 reads token 1, a later one",
        "none": "none: in training all tokens are there anyway",
    },
)


def future_access():
    """Ask which reading leaks the target."""
    earlier, own, later = _leaks(1, 0), _leaks(1, 1), _leaks(0, 1)
    none = not (earlier or own or later)
    return FUTURE_ACCESS.choice(only(earlier=earlier, own=own, later=later, none=none))


def _leaks(position, token):
    """Whether a token that is still to be predicted at a position moves the output there."""
    example = examples.load("worked-example")
    before = example.head().output[0, position]
    example.value[0, token] += 1
    after = example.head().output[0, position]
    return token > position and not np.allclose(before, after)


def _history(tokens, steps=STEPS):
    return model_history([f"word {t}" for t in range(tokens)], steps=steps)


QUESTIONS = {
    "pairs-counted": pairs_counted,
    "fixed-context-size": fixed_context_size,
    "recurrent-or-grid": recurrent_or_grid,
    "future-access": future_access,
}
