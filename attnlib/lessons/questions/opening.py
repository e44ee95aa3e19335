"""A published encoder's heads: where they look, whom they hear, and what a weight says.

The answers are read off the encoder itself, which needs the extra ``[real]``.
"""

from functools import lru_cache

import numpy as np

from attnlib.lessons import real_encoder
from attnlib.lessons.head_habits import HABITS, survey
from attnlib.lessons.questions.kinds import Words, only

TIRED = "The animal didn't cross the street because it was too tired."
WIDE = "The animal didn't cross the street because it was too wide."
SMALL = "The trophy doesn't fit in the suitcase because it is too small."
LAYER, HEAD = 3, 1
"""Of all heads, the one in which "it" gives "animal" the most."""

COMMONEST_HABIT = Words(
    "An encoder has 72 heads. Say that a head has a habit if more than half of its weight goes to "
    "one kind of place. Five habits are looked for. Which one do the most heads have, as they read "
    "one sentence?",
    "{most} of the 72 heads give more than half of their weight to [CLS], a token without meaning "
    "of its own that every sentence begins with. The previous token has {previous} such head, the "
    "next one {next}, the separator and the token itself none; most heads have no habit of the "
    "five.",
    {
        "next": (
            "reading as people read",
            "every query sees all keys at once. Does anything send it along the line?",
        ),
        "previous": (
            "the past preferred",
            "there is no mask and no order of reading: nothing favours what came before.",
        ),
        "separator": (
            "one encoder taken for all",
            "that was found of another encoder, BERT. Heads are trained, so each has its own.",
        ),
        "itself": (
            "like finds like",
            "query and key of one token are two projections. Must they point the same way?",
        ),
    },
    {
        "next": "the next token",
        "previous": "the previous token",
        "separator": "the separator at the end, [SEP]",
        "first": "the first token, [CLS]",
        "itself": "the token itself",
    },
)


def commonest_habit():
    """Ask which habit the most heads have."""
    surveyed = survey(_readings()[TIRED])
    counts = {
        habit: sum(habit in head.habits for layer in surveyed for head in layer) for habit in HABITS
    }
    most = max(counts.values())
    right = only(**{habit: count == most for habit, count in counts.items()})
    numbers = {name: counts[name] for name in ("previous", "next")}
    return COMMONEST_HABIT.choice(right, most=most, **numbers)


CHANGED_WORD = Words(
    "Near its end, one word of the sentence is exchanged for another. In layer 0, the first one, "
    "which queries get other weights?",
    "Without a mask every query scores every key, the new word's too, and its weights must still "
    "sum to 1. So each row changes, those of earlier words as well; and what a row mixes is where "
    "layer 1 begins.",
    {
        "own": (
            "a token read by itself alone",
            "the new word has a key as well as a query. Who scores that key?",
        ),
        "later": (
            "a mask that isn't there",
            "nothing hides a key that stands further on.",
        ),
        "none": (
            "meaning expected first",
            "a key is a projection of the word's embedding. Is it the same for another word?",
        ),
    },
    {
        "own": "the query of the exchanged word alone",
        "later": "that one and those after it",
        "all": "all of them, also those of the words before it",
        "none": "none yet: layer 0 does not know what words mean",
    },
)


def changed_word():
    """Ask how far one exchanged word is heard."""
    before, after = _readings()[TIRED], _readings()[WIDE]
    place = [a != b for a, b in zip(before.tokens, after.tokens, strict=True)].index(True)
    moved = np.abs(before.layers[0].weights - after.layers[0].weights).max(axis=(0, 2)) > 1e-6
    queries = np.arange(len(moved))
    right = only(
        own=np.array_equal(moved, queries == place),
        later=np.array_equal(moved, queries >= place),
        all=bool(moved.all()),
        none=not moved.any(),
    )
    return CHANGED_WORD.choice(right)


MOVED_OPERAND = Words(
    "“tired” becomes “wide”, and in layer {layer}, head {head} the raw score of “it” against "
    "“animal” falls from {before:.2f} to {after:.2f}. A score is a query times a key. Which of the "
    "two has moved?",
    "The query of “it” in the new sentence, against the key of “animal” in the old one, scores "
    "{query:.2f}; the old query against the new key scores {key:.2f}. So the fall is the query's: "
    "“it” has read the last word in the layers before, and now asks for something else.",
    {
        "key": (
            "what is read taken for what moved",
            "“animal” is read less. Does its key have to be another one for that?",
        ),
        "both": (
            "halves by habit",
            "put one new operand at a time into the product, and look at each score.",
        ),
        "softmax": (
            "the share taken for the score",
            "softmax comes after the scores. Could it change one of them?",
        ),
    },
    {
        "query": "the query of “it”",
        "key": "the key of “animal”",
        "both": "both, about one half each",
        "softmax": "neither: softmax shared the weights out anew",
    },
)


def moved_operand():
    """Ask whether the query or the key lowered a score."""
    before, after = (_readings()[sentence] for sentence in (TIRED, WIDE))
    it, animal = before.tokens.index("it"), before.tokens.index("animal")
    old, new = (reading.head(LAYER, HEAD) for reading in (before, after))
    queries, keys = (old.query[0, it], new.query[0, it]), (old.key[0, animal], new.key[0, animal])
    scores = np.array([[query @ key for key in keys] for query in queries])  # [query, key]
    by_query, by_key = scores[1, 0] - scores[0, 0], scores[0, 1] - scores[0, 0]
    fall = scores[1, 1] - scores[0, 0]
    right = only(
        query=by_query / fall > 0.75,
        key=by_key / fall > 0.75,
        both=0.25 <= by_query / fall <= 0.75,
        softmax=bool(np.isclose(fall, 0)),
    )
    figures = {"before": scores[0, 0], "after": scores[1, 1]}
    figures |= {"query": scores[1, 0], "key": scores[0, 1]}
    return MOVED_OPERAND.choice(right, layer=LAYER, head=HEAD, **figures)


WEIGHT_MEANING = Words(
    "In layer {layer}, head {head}, the query of “it” gives the key of “animal” {share:.1f} % of "
    "its weight. What does this number say?",
    "The output of this head for “it” is the sum of all values times their weights, and the value "
    "of “animal” counts {share:.1f} % in it. That is all: {other:.1f} % goes to “trophy” in a "
    "sentence in which “it” is the suitcase, and no other head of this layer gives “animal” even a "
    "half.",
    {
        "sure": (
            "a weight taken for a belief",
            "nothing trained this head to say what “it” means, nor to be right so often.",
        ),
        "layer": (
            "one head taken for the layer",
            "eleven more heads stand beside it, each with weights of its own.",
        ),
        "alone": (
            "the largest weight taken for the only one",
            "what do the other keys' weights sum to?",
        ),
    },
    {
        "sure": "the model is that sure that “it” means the animal",
        "mixture": "how much the value of “animal” counts in what this head mixes for “it”",
        "layer": "how much of the layer's attention to “animal” all its heads agree on",
        "alone": "nothing but “animal” reaches “it” here",
    },
)


def weight_meaning():
    """Ask what a weight of a trained head says."""
    reading, other = _readings()[TIRED], _readings()[SMALL]
    it, animal = reading.tokens.index("it"), reading.tokens.index("animal")
    head, heads = reading.head(LAYER, HEAD), reading.layers[LAYER].weights[:, it, animal]
    trophy, suitcase = (
        other.layers[LAYER].weights[HEAD, other.tokens.index("it"), other.tokens.index(word)]
        for word in ("trophy", "suitcase")
    )
    weights, values = head.weights[0, it], head.value[0]
    right = only(
        sure=bool(suitcase > trophy),
        mixture=np.allclose(weights @ values, head.output[0, it]),
        layer=bool(np.delete(heads, HEAD).min() > 0.5),
        alone=bool(weights[animal] > 0.99),
    )
    share = {"share": 100 * weights[animal], "other": 100 * trophy}
    return WEIGHT_MEANING.choice(right, layer=LAYER, head=HEAD, **share)


@lru_cache(maxsize=1)
def _readings():
    """The sentences as the encoder read them; it is let go, its readings are small."""
    encoder = real_encoder.load()
    return {sentence: encoder.read(sentence) for sentence in (TIRED, WIDE, SMALL)}


QUESTIONS = {
    "commonest-habit": commonest_habit,
    "changed-word": changed_word,
    "moved-operand": moved_operand,
    "weight-meaning": weight_meaning,
}
