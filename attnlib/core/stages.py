"""The stages by name, and for each a bound that no entry of it exceeds.

A bound follows from the reaches of the inputs alone, so that a grid is searched for overflow only
where the inputs' own size allows any.
"""

import math

KEY_TRANSPOSED = "key transpose"
RAW_SCORES = "raw query-key scores"
SCALED_SCORES = "scaled query-key scores"
LOG_WEIGHTS = "row log-softmax"
WEIGHTS = "attention probabilities"
OUTPUT = "weighted value mixture"

GRAD_VALUE = "value gradient"
GRAD_WEIGHTS = "attention probability gradient"
GRAD_SCALED_SCORES = "scaled query-key score gradient"
GRAD_QUERY = "query gradient"
GRAD_KEY = "key gradient"


def forward(reaches):
    """Bound the stages from Q, K and V to the output.

    Parameters
    ----------
    reaches : tuple of float
        Of Q, K and V: the length of each array, seen as one long vector.

    Returns
    -------
    dict of str to float
        Each stage that can overflow and its bound, in the order in which overflow is told. A
        scaled score is no larger than its raw score.
    """
    query, key, value = reaches
    scores = query * key
    return {RAW_SCORES: scores, LOG_WEIGHTS: 2 * scores, OUTPUT: 2 * value}


def backward(reaches, grad_reach, tokens):
    """Bound the stages from the gradient of the output back to Q and K.

    Parameters
    ----------
    reaches : tuple of float
        Of Q, K and V.
    grad_reach : float
        Of the gradient of the output.
    tokens : int
        How many there are.

    Returns
    -------
    dict of str to float
        Each stage that can overflow and its bound, in the order in which overflow is told. The
        gradient of a raw score is no larger than that of its scaled score.
    """
    query, key, value = reaches
    root = math.sqrt(tokens)
    grad_weights = grad_reach * value
    grad_scores = 4 * grad_weights
    return {
        GRAD_VALUE: root * grad_reach,
        GRAD_WEIGHTS: grad_weights,
        GRAD_SCALED_SCORES: grad_scores,
        GRAD_QUERY: root * grad_scores * key,
        GRAD_KEY: root * grad_scores * query,
    }
