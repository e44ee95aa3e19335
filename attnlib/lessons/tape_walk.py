"""The tape of one head, node by node: what each operation made, and what came back through it."""

from dataclasses import dataclass

import numpy as np

from attnlib.core.head import compose, scaled_dot_product_self_attention
from attnlib.core.tape import Tensor

SYMBOLS = {
    "key transpose": "Kᵀ",
    "raw query-key scores": "R",
    "scaled query-key scores": "S",
    "row log-softmax": "log A",
    "attention probabilities": "A",
    "weighted value mixture": "O",
}
"""stage -> the symbol of what it computes."""

RULES = {
    "Kᵀ": ("transpose K", "dK = (dKᵀ)ᵀ"),
    "R": ("Q Kᵀ", "dQ = dR K, dKᵀ = Qᵀ dR"),
    "S": ("R × scale", "dR = dS × scale"),
    "log A": ("log-softmax over keys", "dS = dlogA − A × Σ dlogA"),
    "A": ("exp(log A)", "dlogA = dA × A"),
    "O": ("A V", "dA = dO Vᵀ, dV = Aᵀ dO"),
}
"""symbol -> the operation, and its derivative in one line."""


@dataclass(frozen=True, eq=False, repr=False)
class Node:
    """One tensor of the tape.

    Attributes
    ----------
    symbol : str
        ``"Q"``, ``"S"``, ``"log A"``, ...
    operation : str or None
        The name of the tape's operation; None for an input.
    arguments : dict of str to tuple of int
        symbol -> shape of each tensor that it was made of.
    value, gradient : numpy.ndarray
        Its entries, and the derivative of the objective for each as the tape gives it.
    closed_form : numpy.ndarray
        The same derivative by the closed form.
    """

    symbol: str
    operation: str | None
    arguments: dict
    value: np.ndarray
    gradient: np.ndarray
    closed_form: np.ndarray

    def __repr__(self):
        return f"Node({self.symbol}, shape={self.shape}, from {self.operation or 'input'})"

    @property
    def shape(self):
        """The shape of its entries."""
        return self.value.shape

    @property
    def difference(self):
        """The largest difference between tape and closed form."""
        return float(np.max(np.abs(self.gradient - self.closed_form), initial=0.0))


def tape_walk(query, key, value, grad_output):
    """Compute one head on the tape, send a gradient back, and tell every node.

    Parameters
    ----------
    query, key : array_like
        Shape [batch, tokens, d_k].
    value, grad_output : array_like
        Shape [batch, tokens, d_v].

    Returns
    -------
    tuple of Node
        Q, K and V, then each operation in the order in which it ran.

    Raises
    ------
    SelfAttentionError
        If the head refuses an input.
    """
    head = scaled_dot_product_self_attention(query, key, value)
    expected = _closed_form(head, head.backward(grad_output), grad_output)
    tensors = {"Q": Tensor(head.query), "K": Tensor(head.key), "V": Tensor(head.value)}
    for stage, tensor in compose(*tensors.values(), head.scale):
        tensors[SYMBOLS[stage]] = tensor
    tensors["O"].backward(grad_output)
    names = {id(tensor): symbol for symbol, tensor in tensors.items()}
    return tuple(
        _node(symbol, tensor, names, expected[symbol]) for symbol, tensor in tensors.items()
    )


def _closed_form(head, gradients, grad_output):
    return {
        "Q": gradients.query,
        "K": gradients.key,
        "V": gradients.value,
        "Kᵀ": gradients.key.swapaxes(1, 2),
        "R": gradients.raw_scores,
        "S": gradients.scaled_scores,
        "log A": gradients.weights * head.weights,
        "A": gradients.weights,
        "O": np.asarray(grad_output, dtype=head.output.dtype),
    }


def _node(symbol, tensor, names, closed_form):
    arguments = {
        names[id(argument)]: argument.data.shape
        for argument in tensor.arguments
        if isinstance(argument, Tensor)
    }
    operation = tensor.operation.__name__ if tensor.operation else None
    return Node(symbol, operation, arguments, tensor.data, tensor.grad, closed_form)
