"""Hold the gradients of a head against central differences, entry by entry."""

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np

from attnlib.core import errors, inputs
from attnlib.core.head import scaled_dot_product_self_attention

OPERANDS = ("query", "key", "value")
ROUNDING = 1e-6
"""The share by which two differences may differ through the rounding of a slope."""


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
        if check.passed:
            # Only the power of ten: the digits are rounding errors, which differ by machine.
            return f"  {name}: no difference above {_power_above(check.max_difference):g}"
        formula, slope = _told_apart(check.analytic[check.index], check.numeric[check.index])
        largest = np.max(np.abs(check.numeric))
        share = f", {check.max_difference / largest:.1g} of the largest entry" if largest else ""
        return (
            f"  {name}: at index {check.index} the formula gives {formula}, central differences "
            f"give {slope}: they differ by {check.max_difference:.3g}{share}"
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
    ``dL/dx = (L(x + h) - L(x - h)) / 2h + O(h^2)`` with ``L = sum(output * grad_output)``, computed
    in float64 whatever the inputs' type.
    """
    _check_positive(step=step, tolerance=tolerance)
    kept, _ = inputs.accept(query, key, value, memory_limit)
    # A step of 1e-6 drowns in the rounding of single precision.
    head = scaled_dot_product_self_attention(
        *(x.astype(np.float64) for x in kept), memory_limit=memory_limit
    )
    grad_output, _ = inputs.accept_gradient(grad_output, head.output.shape, head.output.dtype)
    analytic = _analytic(head, grad_output, backward)
    operands = [head.query, head.key, head.value]
    checks = []
    for position, formula in enumerate(analytic):
        numeric = _central_differences(operands, position, grad_output, step, memory_limit)
        checks.append(_compare(formula, numeric, tolerance))
    return GradientCheck(*checks, step=step, tolerance=tolerance)


def _told_apart(one, other):
    """Print two numbers with six digits, or with as many as show that they differ."""
    for digits in range(6, 18):
        shown = f"{one:.{digits}g}", f"{other:.{digits}g}"
        if shown[0] != shown[1]:
            break
    return shown


def _power_above(number):
    return 10.0 ** math.ceil(math.log10(number)) if number > 0 else 0.0


def _check_positive(**numbers):
    for name, number in numbers.items():
        real = isinstance(number, Real) and not isinstance(number, bool)
        if not (real and math.isfinite(number) and number > 0):
            raise ValueError(f"{name} must be a positive number, got {number!r}: try {name}=1e-6")


def _analytic(head, grad_output, backward):
    if backward is None:
        grads = head.backward(grad_output)
        return grads.query, grads.key, grads.value
    operands = [head.query, head.key, head.value]
    # A hand-in may write to what it gets; the head's own arrays are not for that.
    returned = backward(*(x.copy() for x in (*operands, grad_output)))
    if not isinstance(returned, (tuple, list)) or len(returned) != len(OPERANDS):
        raise ValueError(
            f"backward must return three gradients, got {type(returned).__name__}: return the "
            "tuple (dQ, dK, dV)"
        )
    grads = [
        inputs.as_real(f"the gradient of {name}", gradient)
        for name, gradient in zip(OPERANDS, returned, strict=True)
    ]
    for name, operand, gradient in zip(OPERANDS, operands, grads, strict=True):
        if gradient.shape != operand.shape:
            raise ValueError(
                f"backward must return a gradient of {name} in its shape {operand.shape}, got "
                f"{gradient.shape}: return (dQ, dK, dV), each in the shape of its input"
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
            sides.append(_objective(head, grad_output))
        numeric[index] = (sides[0] - sides[1]) / (2 * step)
    return numeric


def _objective(head, grad_output):
    with np.errstate(all="ignore"):
        total = np.sum(head.output * grad_output)
    if not math.isfinite(total):
        raise errors.non_finite_stage("objective", (), total, "float64")
    return total


def _compare(analytic, numeric, tolerance):
    if analytic.size == 0:
        return InputCheck(analytic, numeric, 0.0, None, True)
    difference = np.abs(analytic - numeric)
    # A NaN from a hand-in counts as the largest difference, and passes no comparison.
    largest = float(np.max(difference))
    # Of differences as large as the largest but for rounding, the first is told.
    near = difference >= largest * (1 - ROUNDING)
    first = np.argmax(near if near.any() else difference)
    index = tuple(int(i) for i in np.unravel_index(first, difference.shape))
    return InputCheck(analytic, numeric, largest, index, largest <= tolerance)
