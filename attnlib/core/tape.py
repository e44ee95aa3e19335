"""A small reverse-mode tape with exactly the operations that one attention head is made of.

Each operation below runs on plain arrays and on `Tensor` alike. On arrays it only computes; on
tensors it also remembers its arguments, so that `Tensor.backward` can walk the way back. There is
no broadcasting, no in-place change and no second derivative here.
"""

import numpy as np

DERIVATIVES = {}
"""operation -> one function an argument: (grad, out, *arguments) -> gradient of that argument."""


class Tensor:
    """An array that remembers the operation it came from.

    Parameters
    ----------
    data : array_like
        The entries, of any shape.

    Attributes
    ----------
    data : numpy.ndarray
        The entries.
    grad : numpy.ndarray or None
        After `backward`: the derivative of the objective for each entry, in the shape of `data`.
    """

    def __init__(self, data, operation=None, arguments=()):
        self.data = np.asarray(data)
        self.grad = None
        self.operation = operation
        self.arguments = arguments

    def __repr__(self):
        made_by = self.operation.__name__ if self.operation else "input"
        return f"Tensor(shape={self.data.shape}, from {made_by})"

    def backward(self, grad_output):
        """Send a gradient from here to every tensor this one was made of.

        Parameters
        ----------
        grad_output : array_like
            The derivative of the objective for each entry of `data`, in its shape.

        Raises
        ------
        ValueError
            If `grad_output` has another shape.

        Notes
        -----
        Gradients of an earlier walk are forgotten; a tensor used twice gets the sum of both.
        """
        grad_output = np.array(grad_output, dtype=self.data.dtype)
        if grad_output.shape != self.data.shape:
            raise ValueError(
                f"grad_output must have the shape {self.data.shape} of the tensor it is sent "
                f"back from, got {grad_output.shape}: pass one derivative for each entry"
            )
        order = _in_order(self)
        for tensor in order:
            tensor.grad = np.zeros_like(tensor.data)
        self.grad = grad_output
        for tensor in reversed(order):
            tensor._send_back()

    def _send_back(self):
        if self.operation is None:
            return
        entries = [_data(argument) for argument in self.arguments]
        for argument, derivative in zip(self.arguments, DERIVATIVES[self.operation], strict=True):
            if isinstance(argument, Tensor):
                argument.grad = argument.grad + derivative(self.grad, self.data, *entries)


def _data(argument):
    return argument.data if isinstance(argument, Tensor) else argument


def _in_order(last):
    """Every tensor behind `last`, each after those it was made of."""
    order, seen = [], set()

    def visit(tensor):
        if id(tensor) in seen:
            return
        seen.add(id(tensor))
        for argument in tensor.arguments:
            if isinstance(argument, Tensor):
                visit(argument)
        order.append(tensor)

    visit(last)
    return order


def _operation(*derivatives):
    def register(compute):
        def apply(*arguments):
            result = compute(*map(_data, arguments))
            if any(isinstance(argument, Tensor) for argument in arguments):
                return Tensor(result, apply, arguments)
            return result

        apply.__name__ = compute.__name__
        apply.__doc__ = compute.__doc__
        DERIVATIVES[apply] = derivatives
        return apply

    return register


def _swap(x):
    return np.swapaxes(x, -1, -2)


@_operation(lambda grad, out, x: _swap(grad))
def transpose(x):
    """Exchange the last two axes: [..., m, n] to [..., n, m]."""
    return _swap(x)


@_operation(
    lambda grad, out, x, y: grad @ _swap(y),
    lambda grad, out, x, y: _swap(x) @ grad,
)
def matmul(x, y):
    """Multiply matrices: [..., m, n] with [..., n, p] to [..., m, p]."""
    return x @ y


@_operation(
    lambda grad, out, x, factor: grad * factor,
    lambda grad, out, x, factor: np.sum(grad * x),
)
def multiply(x, factor):
    """Multiply every entry by one scalar."""
    return x * factor


@_operation(
    lambda grad, out, x: grad - np.exp(out) * np.sum(grad, axis=-1, keepdims=True),
)
def log_softmax(x):
    """Take the logarithm of the softmax over the last axis, safe for entries of any size.

    Notes
    -----
    ``log softmax(x)_j = (x_j - m) - log(sum_r exp(x_r - m))`` with ``m`` the largest entry of the
    same row: every exponent is then 0 or less, and one of them is 0.
    """
    shifted = x - np.max(x, axis=-1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))


@_operation(lambda grad, out, x: grad * out)
def exp(x):
    """Raise e to every entry."""
    return np.exp(x)
