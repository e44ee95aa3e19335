"""What the evidence must show: each claim of the lesson as a sentence and the test of it."""

import math

import numpy as np

from attnlib.lessons import refusals

ROW_SUM_TOLERANCE = 1e-12
PROBE_TOLERANCE = 1e-15


def _value_range_holds(worked):
    least, most = worked["value"].min(axis=0), worked["value"].max(axis=0)
    return bool(np.all((least <= worked["output"]) & (worked["output"] <= most)))


def _shape_holds(case):
    batch, tokens, _ = case["query"]
    return case["weights"] == (batch, tokens, tokens) and case["output"] == case["value"]


def _probe_holds(probe):
    """Hold the probe to the logistic function, which a softmax over two scores comes to."""
    gap = float(probe["scores"][0] - probe["scores"][1])
    logistic = {"unscaled": 1 / (1 + math.exp(-gap)), "scaled": 1 / (1 + math.exp(-gap / 2**0.5))}
    return all(abs(probe[name] - exact) <= PROBE_TOLERANCE for name, exact in logistic.items())


def _every_pair_once(history):
    pairs = [tuple(pair) for pair in history["pairs"][history["transformer"]]]
    positions = {query for query, _ in pairs}
    expected = {(query, key) for query in positions for key in positions}
    return len(pairs) > 0 and len(pairs) == len(expected) and set(pairs) == expected


CLAIMS = {
    "each query's weights sum to 1": (
        lambda evidence: evidence.checks["row_sum_max_error"] <= ROW_SUM_TOLERANCE
    ),
    "the gradients agree with central differences": (
        lambda evidence: evidence.checks["gradient_check"]
    ),
    "a second run gives the same bits": lambda evidence: evidence.checks["replay"] == "bitwise",
    "outputs stay within the range of the values": (
        lambda evidence: _value_range_holds(evidence.worked_example)
    ),
    "the scale softens the favoured weight as it must": (
        lambda evidence: _probe_holds(evidence.scale_probe)
    ),
    "a single token gets the weight 1": (
        lambda evidence: np.all(evidence.single_token["weights"] == 1)
    ),
    "a single token's output is its value": (
        lambda evidence: np.array_equal(
            evidence.single_token["output"], evidence.single_token["value"]
        )
    ),
    "a single token sends no gradient to its query and key": (
        lambda evidence: (
            not (
                np.any(evidence.single_token["grad_query"])
                or np.any(evidence.single_token["grad_key"])
            )
        )
    ),
    "equal keys get equal weights": (lambda evidence: np.ptp(evidence.equal_keys["weights"]) == 0),
    "reordered tokens reorder the output": lambda evidence: evidence.permutation["output_follows"],
    "reordered tokens reorder the gradients": (
        lambda evidence: evidence.permutation["gradients_follow"]
    ),
    "batch items do not touch each other": lambda evidence: evidence.batch_independence["verified"],
    "every output has one row for each query, as wide as a value": (
        lambda evidence: all(map(_shape_holds, evidence.shapes))
    ),
    "every bad input gets the refusal meant for it": (
        lambda evidence: [case["kind"] for case in evidence.rejected] == list(refusals.KINDS)
    ),
    "self-attention pairs every position with every position": (
        lambda evidence: _every_pair_once(evidence.history)
    ),
}
"""sentence -> whether it holds for an evidence record."""


def broken(evidence):
    """Name the claims that an evidence record does not bear out.

    Parameters
    ----------
    evidence : Evidence
        From `evidence.learner_evidence`.

    Returns
    -------
    tuple of str
        A sentence each; empty when all hold.
    """
    return tuple(claim for claim, holds in CLAIMS.items() if not holds(evidence))
