"""The same head three ways: attnlib, plain NumPy and PyTorch. Each gives every stage, back too."""

import math

import numpy as np

from attnlib import scaled_dot_product_self_attention

try:
    import torch
except ImportError:
    torch = None

FORWARD = ("raw_scores", "scaled_scores", "weights", "output")
BACKWARD = ("value", "weights", "scaled_scores", "raw_scores", "query", "key")
STAGES = (*FORWARD, *(f"grad {name}" for name in BACKWARD))


def attnlib(query, key, value, grad_output):
    """By this library."""
    head = scaled_dot_product_self_attention(query[None], key[None], value[None])
    gradients = head.backward(grad_output[None])
    forward = {name: getattr(head, name)[0] for name in FORWARD}
    return forward | {f"grad {name}": getattr(gradients, name)[0] for name in BACKWARD}


def textbook(Q, K, V, dO):
    """By the formulas as they are printed, line by line."""
    scale = 1 / math.sqrt(Q.shape[1])
    raw = Q @ K.T
    S = raw * scale
    powers = np.exp(S - S.max(axis=1, keepdims=True))
    A = powers / powers.sum(axis=1, keepdims=True)
    O = A @ V  # noqa: E741
    dV = A.T @ dO
    dA = dO @ V.T
    dS = A * (dA - (dA * A).sum(axis=1, keepdims=True))
    d_raw = dS * scale
    return dict(zip(STAGES, (raw, S, A, O, dV, dA, dS, d_raw, d_raw @ K, d_raw.T @ Q), strict=True))


def pytorch(query, key, value, grad_output):
    """By PyTorch's explicit form; autograd keeps the gradient of every stage."""
    q, k, v = (torch.tensor(array[None], requires_grad=True) for array in (query, key, value))
    raw = q @ k.transpose(1, 2)
    scaled = raw / math.sqrt(q.shape[2])
    weights = torch.softmax(scaled, dim=2)
    output = weights @ v
    for stage in (weights, scaled, raw):
        stage.retain_grad()
    output.backward(torch.tensor(grad_output[None]))
    forward = (each.detach() for each in (raw, scaled, weights, output))
    backward = (each.grad for each in (v, weights, scaled, raw, q, k))
    return {
        stage: each[0].numpy() for stage, each in zip(STAGES, (*forward, *backward), strict=True)
    }


SIDES = {"attnlib": attnlib, "NumPy": textbook}
if torch is not None:
    SIDES["PyTorch"] = pytorch
