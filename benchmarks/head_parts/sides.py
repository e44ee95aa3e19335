"""One head forward and backward, by several hands: each takes Q, K, V and dO."""

import math

import numpy as np

from attnlib import scaled_dot_product_self_attention, streaming_self_attention

try:
    import torch
except ImportError:
    torch = None


def attnlib(query, key, value, grad_output):
    """The inspectable head: every refusal checked, every stage kept."""
    return scaled_dot_product_self_attention(query, key, value).backward(grad_output)


def streaming(query, key, value, grad_output):
    """The head without grids."""
    return streaming_self_attention(query, key, value).backward(grad_output)


def plain(Q, K, V, dO):
    """NumPy, written as the equations stand."""
    root = math.sqrt(Q.shape[2])
    scores = Q @ K.swapaxes(1, 2) / root
    exps = np.exp(scores - scores.max(axis=2, keepdims=True))
    A = exps / exps.sum(axis=2, keepdims=True)
    output = A @ V
    dV = A.swapaxes(1, 2) @ dO
    dA = dO @ V.swapaxes(1, 2)
    dS = A * (dA - np.sum(A * dA, axis=2, keepdims=True)) / root
    return output, dS @ K, dS.swapaxes(1, 2) @ Q, dV


def products(Q, K, V, dO):
    """The six products alone, on grids of the same shapes: no softmax, no checks."""
    scores = Q @ K.swapaxes(1, 2)
    output = scores @ V
    dV = scores.swapaxes(1, 2) @ dO
    dA = dO @ V.swapaxes(1, 2)
    return output, dA @ K, dA.swapaxes(1, 2) @ Q, dV


def explicit(query, key, value, grad_output):
    """PyTorch: softmax written out, the way back by autograd."""
    query, key, value = (x.detach().requires_grad_(True) for x in (query, key, value))
    scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
    (torch.softmax(scores, dim=2) @ value).backward(grad_output)
    return query.grad, key.grad, value.grad


def fused(query, key, value, grad_output):
    """PyTorch's own scaled_dot_product_attention, the way back by autograd."""
    query, key, value = (x.detach().requires_grad_(True) for x in (query, key, value))
    output = torch.nn.functional.scaled_dot_product_attention(query, key, value)
    output.backward(grad_output)
    return query.grad, key.grad, value.grad


SIDES = {
    "attnlib": attnlib,
    "streaming": streaming,
    "NumPy": plain,
    "six products": products,
}
PYTORCH = {"PyTorch explicit": explicit, "PyTorch fused": fused} if torch else {}


def calls(shape, dtype):
    """Name -> a call of each side on the same seeded inputs."""
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape).astype(dtype) for _ in range(4)]
    made = {name: (side, arrays) for name, side in SIDES.items()}
    if torch:
        tensors = [torch.from_numpy(array) for array in arrays]
        made |= {name: (side, tensors) for name, side in PYTORCH.items()}
    return {
        name: lambda side=side, given=given: side(*given) for name, (side, given) in made.items()
    }


def threads():
    """Say how many threads each side has."""
    ours = "attnlib's threads are as many as BLAS's, and BLAS then has one"
    return f"{ours}; PyTorch has {torch.get_num_threads()}" if torch else ours
