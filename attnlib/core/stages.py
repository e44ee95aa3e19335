"""The stages by name, and what no entry of them exceeds.

Whether a product can overflow follows from the reaches of the inputs: how long each array is, seen
as one long vector. Only where they allow it is a grid searched for overflow.
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


def forward_bounds(reaches):
    """Bound the scores, their spread and the output, from the reaches of Q, K and V."""
    query, key, value = reaches
    return 2 * query * key, 2 * value


def backward_bounds(reaches, grad_reach, tokens):
    """Bound the gradients of every stage, from the reaches of Q, K, V and the output's gradient."""
    query, key, value = reaches
    root = math.sqrt(tokens)
    grad_scores = 4 * grad_reach * value
    return root * grad_reach, grad_scores, root * grad_scores * key, root * grad_scores * query
