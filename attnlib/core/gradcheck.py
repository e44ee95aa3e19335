"""Hold the gradients of a head against central differences, entry by entry."""

import math
from dataclasses import dataclass

import numpy as np

from attnlib.core import inputs
from attnlib.core.head import scaled_dot_product_self_attention

OPERANDS = ("query", "key", "value")


@dataclass(frozen=True, eq=False)
class InputCheck:
    """The two gradients of one input and where they differ most.

    Attributes
    ----------
    analytic, numeric : numpy.ndarray
        The gradient by formula and by central differences, in the input's shape.
    max_difference : float
        The largest absolute difference between the two; 0 where there is no entry.
    index : tuple of int or None
        Where it is.
    passed : bool
        Whether it is at most the tolerance.
    """

    analytic: np.ndarray
    numeric: np.ndarray
    max_difference: float
    index: tuple | None
    passed: bool


@dataclass(frozen=True, eq=False)
class GradientCheck:
    """The outcome for Q, K and V; as text, it says what differs, where, and by how much.

    Attributes
    ----------
    query, key, value : InputCheck
        One outcome an input.
    step, tolerance : float
        The change of an entry to each side, and the largest difference accepted.
    """

    query: InputCheck
    key: InputCheck
    value: InputCheck
    step: float
    tolerance: float

    @property
    def passed(self):
        """Whether all three inputs pass."""
        return all(getattr(self, name).passed for name in OPERANDS)

    @property
    def coordinates(self):
        """How many entries of Q, K and V were checked."""
        return tuple(getattr(self, name).analytic.size for name in OPERANDS)

    def __str__(self):
        counts = "+".join(map(str, self.coordinates))
        head = f"gradient check {'passed' if self.passed else 'failed'} on {counts} entries"
        lines = [f"{head} (step {self.step:g}, tolerance {self.tolerance:g})"]
        lines += [self._line(name) for name in OPERANDS]
        return "\n".join(lines)

    def _line(self, name):
        check = getattr(self, name)
        if check.index is None:
            return f"  {name}: no entry to check"
        where = f"{name}[{', '.join(map(str, check.index))}]"
        if check.passed:
            return f"  {name}: largest difference {check.max_difference:.3g} at {where}"
        return (
            f"  {name}: at {where} the formula gives {check.analytic[check.index]:.9g}, "
            f"central differences give {check.numeric[check.index]:.9g}: "
            f"they differ by {check.max_difference:.3g}"
        )


def gradient_check(
    query, key, value, grad_output, step=1e-6, tolerance=2e-6, backward=None, memory_limit=2**30
):
    """Compare every entry of dQ, dK and dV with a central difference of the objective.

    Parameters
    ----------
    query, key : array_like
        Shape [batch, tokens, d_k].
    value : array_like
        Shape [batch, tokens, d_v].
    grad_output : array_like
        Shape [batch, tokens, d_v].
    step : float, default 1e-6
        How far each entry is moved to each side.
    tolerance : float, default 2e-6
        The largest absolute difference that passes.
    backward : callable, optional
        ``backward(query, key, value, grad_output) -> (dQ, dK, dV)``, checked in place of the
        head's own closed form.
    memory_limit : int, default 2**30
        As in `scaled_dot_product_self_attention`.

    Returns
    -------
    GradientCheck
        Both gradients of each input; ``str()`` of it is readable.

    Raises
    ------
    SelfAttentionError
        If the head refuses an input, or an input moved by a step.
    ValueError
        If `step` or `tolerance` is not a positive number, or `backward` returns other shapes.

    Notes
    -----
    ``dL/dx = (L(x + h) - L(x - h)) / 2h + O(h^2)`` with ``L = sum(output * grad_output)``.
    """
    _check_positive(step=step, tolerance=tolerance)
    head = scaled_dot_product_self_attention(query, key, value, memory_limit=memory_limit)
    grad_output = inputs.accept_gradient(grad_output, head.output.shape, head.output.dtype)
    analytic = _analytic(head, grad_output, backward)
    operands = [head.query, head.key, head.value]
    checks = []
    for position, formula in enumerate(analytic):
        numeric = _central_differences(operands, position, grad_output, step, memory_limit)
        checks.append(_compare(formula, numeric, tolerance))
    return GradientCheck(*checks, step=step, tolerance=tolerance)


def _check_positive(**numbers):
    for name, number in numbers.items():
        if not (isinstance(number, (int, float)) and math.isfinite(number) and number > 0):
            raise ValueError(f"{name} must be a positive number, got {number!r}: try {name}=1e-6")


def _analytic(head, grad_output, backward):
    if backward is None:
        grads = head.backward(grad_output)
        return grads.query, grads.key, grads.value
    operands = [head.query, head.key, head.value]
    # A hand-in may write to what it gets; the head's own arrays are not for that.
    grads = tuple(np.asarray(g) for g in backward(*(x.copy() for x in (*operands, grad_output))))
    got, expected = [g.shape for g in grads], [x.shape for x in operands]
    if got != expected:
        raise ValueError(
            f"backward must return dQ, dK and dV in the shapes {expected} of the inputs, "
            f"got {got}: return exactly three arrays, in this order"
        )
    return grads


def _central_differences(operands, position, grad_output, step, memory_limit):
    numeric = np.zeros_like(operands[position])
    for index in np.ndindex(numeric.shape):
        sides = []
        for change in (step, -step):
            moved = operands[position].copy()
            moved[index] += change
            changed = [*operands[:position], moved, *operands[position + 1 :]]
            head = scaled_dot_product_self_attention(*changed, memory_limit=memory_limit)
            sides.append(np.sum(head.output * grad_output))
        numeric[index] = (sides[0] - sides[1]) / (2 * step)
    return numeric


def _compare(analytic, numeric, tolerance):
    if analytic.size == 0:
        return InputCheck(analytic, numeric, 0.0, None, True)
    difference = np.abs(analytic - numeric)
    # A NaN from a hand-in must count as the largest difference, and must not pass.
    found = np.argmax(np.where(np.isnan(difference), np.inf, difference))
    index = tuple(int(i) for i in np.unravel_index(found, difference.shape))
    largest = float(difference[index])
    return InputCheck(analytic, numeric, largest, index, largest <= tolerance)
