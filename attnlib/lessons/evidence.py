"""Every claim of the lesson, computed: nothing here is typed in but the inputs."""

from dataclasses import dataclass

import numpy as np

from attnlib.core import tape
from attnlib.core.gradcheck import gradient_check
from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.lessons import claims, examples, refusals
from attnlib.lessons.history import model_history

STEP = 1e-6
TOLERANCE = 2e-6


@dataclass(frozen=True, eq=False)
class Evidence:
    """The claims, a dict each; arrays have no batch axis unless a claim is about batches.

    Attributes
    ----------
    worked_example : dict
        Every stage of the worked example forward and back.
    scale_probe : dict
        The favoured weight of the scores [1, 0] without and with the scale of d_k = 2.
    single_token, equal_keys, permutation, batch_independence : dict
        One boundary case each.
    shapes : list of dict
        The shapes that go in and come out.
    rejected : list of dict
        Each refusal's kind and evidence.
    history : dict
        Three models and the pairs that each forms.
    checks : dict
        Row sums, gradient check and replay.
    """

    worked_example: dict
    scale_probe: dict
    single_token: dict
    equal_keys: dict
    permutation: dict
    batch_independence: dict
    shapes: list
    rejected: list
    history: dict
    checks: dict

    @property
    def failures(self):
        """The claims that do not hold, each as a sentence; empty when all hold."""
        return claims.broken(self)

    def as_plain(self):
        """The same claims as dicts, lists, numbers and text, for JSON."""
        return {name: _plain(claim) for name, claim in vars(self).items()}


def learner_evidence():
    """Compute every claim of the lesson.

    Returns
    -------
    Evidence
        One record; `failures` is empty when everything holds.
    """
    example = examples.load("worked-example")
    return Evidence(
        worked_example=_worked_example(example),
        scale_probe=_scale_probe(),
        single_token=_single_token(),
        equal_keys=_equal_keys(),
        permutation=_permutation(example),
        batch_independence=_batch_independence(example),
        shapes=_shapes(),
        rejected=[_rejection(kind) for kind in refusals.KINDS],
        history=model_history().as_evidence(),
        checks=_checks(example),
    )


def weighted_values(head):
    """The term that each value adds to each output, before the sum over keys.

    Returns
    -------
    numpy.ndarray
        Shape [batch, tokens (query), tokens (key), d_v].
    """
    return head.weights[..., None] * head.value[:, None]


def objective(head, grad_output):
    """The scalar whose gradient is sent back: the sum of output times grad_output."""
    return float(np.sum(head.output * grad_output))


def _worked_example(example):
    head = example.head()
    grads = head.backward(example.grad_output)
    return {
        "query": head.query[0],
        "key": head.key[0],
        "value": head.value[0],
        "raw_scores": head.raw_scores[0],
        "scaled_scores": head.scaled_scores[0],
        "weights": head.weights[0],
        "output": head.output[0],
        "scale": head.scale,
        "key_width": head.key_width,
        "value_width": head.value_width,
        "weighted_values": weighted_values(head)[0],
        "grad_output": example.grad_output[0],
        "objective": objective(head, example.grad_output),
        "grad_query": grads.query[0],
        "grad_key": grads.key[0],
        "grad_value": grads.value[0],
    }


def _scale_probe():
    scores = np.array([1.0, 0.0])
    scaled = scores / np.sqrt(2)
    return {
        "scores": scores,
        "unscaled": float(np.exp(tape.log_softmax(scores))[0]),
        "scaled": float(np.exp(tape.log_softmax(scaled))[0]),
    }


def _single_token():
    example = examples.load("one-token")
    head = example.head()
    grads = head.backward(example.grad_output)
    return {
        "value": head.value[0],
        "weights": head.weights[0],
        "output": head.output[0],
        "grad_query": grads.query[0],
        "grad_key": grads.key[0],
    }


def _equal_keys():
    head = examples.load("equal-keys").head()
    return {"key": head.key[0], "weights": head.weights[0], "output": head.output[0]}


def _permutation(example):
    order = np.arange(len(example.tokens))[::-1]
    inputs = [example.query, example.key, example.value]
    head = example.head()
    moved = scaled_dot_product_self_attention(*(x[:, order] for x in inputs))
    grads = head.backward(example.grad_output)
    grads_moved = moved.backward(example.grad_output[:, order])
    return {
        "order": order,
        "output": moved.output[0],
        "output_follows": bool(np.allclose(moved.output, head.output[:, order], 1e-13, 0)),
        "gradients_follow": all(
            np.allclose(getattr(grads_moved, name), getattr(grads, name)[:, order], 1e-12, 0)
            for name in ("query", "key", "value")
        ),
    }


def _batch_independence(example):
    inputs = [example.query, example.key, example.value]
    alone = example.head()
    # The second item is another head altogether, so that any leak between the two would show.
    together = scaled_dot_product_self_attention(*(np.concatenate([x, -2 * x]) for x in inputs))
    return {
        "query": together.query.shape,
        "weights": together.weights.shape,
        "output": together.output.shape,
        "verified": together.output[0].tobytes() == alone.output[0].tobytes(),
    }


def _shapes():
    cases = [
        ((1, 2, 2), (1, 2, 2)),
        ((2, 2, 2), (2, 2, 2)),
        ((1, 2, 2), (1, 2, 1)),
        ((4, 7, 3), (4, 7, 5)),
        ((0, 2, 2), (0, 2, 3)),
    ]
    heads = [
        scaled_dot_product_self_attention(np.zeros(qk), np.zeros(qk), np.zeros(v))
        for qk, v in cases
    ]
    names = ("query", "key", "value", "weights", "output")
    return [{name: getattr(head, name).shape for name in names} for head in heads]


def _rejection(kind):
    refusal = refusals.provoke(kind)
    if refusal is None:
        return {"kind": "accepted", "evidence": f"expected={kind}"}
    return {"kind": refusal.kind, "evidence": refusal.evidence_text}


def _checks(example):
    head, again = example.head(), example.head()
    inputs = (example.query, example.key, example.value, example.grad_output)
    check = gradient_check(*inputs, step=STEP, tolerance=TOLERANCE)
    first, second = head.backward(example.grad_output), again.backward(example.grad_output)
    same = all(
        getattr(one, name).tobytes() == getattr(other, name).tobytes()
        for one, other, names in (
            (head, again, ("raw_scores", "scaled_scores", "weights", "output")),
            (first, second, ("query", "key", "value")),
        )
        for name in names
    )
    return {
        "row_sum_max_error": float(np.max(np.abs(head.weights.sum(axis=2) - 1))),
        "gradient_check": check.passed,
        "coordinates": check.coordinates,
        "step": check.step,
        "tolerance": check.tolerance,
        "replay": "bitwise" if same else "differs",
    }


def _plain(claim):
    if isinstance(claim, dict):
        return {name: _plain(part) for name, part in claim.items()}
    if isinstance(claim, (list, tuple)):
        return [_plain(part) for part in claim]
    if isinstance(claim, np.generic | np.ndarray):
        return claim.tolist()
    return claim
