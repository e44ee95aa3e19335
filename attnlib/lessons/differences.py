"""Central differences opened up: two perturbed losses and their slope, and its error by step.

A wide step errs because L is no straight line (truncation), a small one because the two losses are
rounded before one is taken off the other. Both errors are measured here, and both foretold.
"""

import math
from dataclasses import dataclass

import numpy as np

from attnlib.core import inputs
from attnlib.lessons.moved_losses import OPERANDS, MovedLosses

STEPS = tuple(float(f"1e{power}") for power in range(-12, 0))
"""1e-12, 1e-11, ... 1e-1."""
REACH, POINTS = 1.5, 121
"""How many steps to each side L is sampled for a picture, and at how many places."""


@dataclass(frozen=True, eq=False, repr=False)
class EntryDifference:
    """One entry moved to both sides, the head computed anew for each.

    Attributes
    ----------
    operand, index : str, tuple of int
        Which entry: ``"query"``, ``"key"`` or ``"value"``, and batch item, token, feature.
    entry, step : float
        x and h.
    precision : str
        What the losses are computed in.
    below, objective, above : float
        L(x - h), L(x) and L(x + h).
    slope : float
        (L(x + h) - L(x - h)) / 2h.
    closed_form : float
        The derivative by formula, always in float64.
    truncation, rounding : float
        The error that a step this wide, and a step this small, is expected to make.
    offsets, path : numpy.ndarray
        Shape [121]: moves from -1.5 h to 1.5 h, and L at each.
    """

    operand: str
    index: tuple
    entry: float
    step: float
    precision: str
    below: float
    objective: float
    above: float
    slope: float
    closed_form: float
    truncation: float
    rounding: float
    offsets: np.ndarray
    path: np.ndarray

    def __repr__(self):
        return (
            f"EntryDifference({self.operand} {self.index}, step={self.step:g}, {self.precision}: "
            f"slope {self.slope:.6f}, closed form {self.closed_form:.6f})"
        )

    @property
    def error(self):
        """How far the slope lies from the closed form."""
        return abs(self.slope - self.closed_form)


@dataclass(frozen=True, eq=False, repr=False)
class StepErrors:
    """The error of every entry's slope, step by step.

    Attributes
    ----------
    precision : str
        What the losses are computed in.
    steps : numpy.ndarray
        Shape [steps]: h, as given.
    query, key, value : numpy.ndarray
        Shape [steps, entries]: how far each slope lies from the closed form.
    truncation, rounding : numpy.ndarray
        Shape [steps]: the two errors that are expected at worst, ``h^2 max|L'''| / 6`` and
        ``eps sum|O dO| / 2h``.
    """

    precision: str
    steps: np.ndarray
    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    truncation: np.ndarray
    rounding: np.ndarray

    def __repr__(self):
        return (
            f"StepErrors({self.precision}, {len(self.steps)} steps: smallest error at "
            f"{self.best_step:g})"
        )

    @property
    def largest(self):
        """The largest error over all entries of the three inputs, shape [steps]."""
        return np.concatenate([self.query, self.key, self.value], axis=1).max(axis=1, initial=0)

    @property
    def bottom(self):
        """The position of the step whose largest error is smallest."""
        return int(np.argmin(self.largest))

    @property
    def best_step(self):
        """The step at the bottom."""
        return float(self.steps[self.bottom])

    @property
    def expected_best_step(self):
        """The step where the sum of the two expected errors is smallest; infinite without a bend.

        Notes
        -----
        ``a h^2 + b / h`` is smallest at ``h = (b / 2a)^(1/3)``.
        """
        bend = self.truncation[0] / self.steps[0] ** 2
        noise = self.rounding[0] * self.steps[0]
        return float((noise / (2 * bend)) ** (1 / 3)) if bend else math.inf


def entry_difference(
    query, key, value, grad_output, operand, index, step=1e-6, precision="float64"
):
    """Move one entry by a step to each side, and compare the slope with the closed form.

    Parameters
    ----------
    query, key : array_like
        Shape [batch, tokens, d_k].
    value, grad_output : array_like
        Shape [batch, tokens, d_v].
    operand : str
        ``"query"``, ``"key"`` or ``"value"``.
    index : tuple of int
        Batch item, token, feature.
    step : float, default 1e-6
        How far the entry is moved to each side.
    precision : str, default "float64"
        What everything but the closed form is computed in: ``"float64"`` or ``"float32"``.

    Returns
    -------
    EntryDifference
        The two losses, the slope, the closed form and the expected errors.

    Raises
    ------
    SelfAttentionError
        If the head refuses an input, or an input moved by a step.
    ValueError
        If there is no such entry or precision, or the step is no number from 1e-18 to 1e6.

    Notes
    -----
    ``dL/dx = (L(x + h) - L(x - h)) / 2h + O(h^2)`` with ``L = sum(output * grad_output)``.
    """
    losses = MovedLosses(query, key, value, grad_output, precision)
    index = losses.accept_entry(operand, index)
    step = losses.accept_step(step)
    below, above, slope = (ends[0] for ends in losses.slopes(operand, index, [step]))
    offsets = np.linspace(-REACH, REACH, POINTS) * float(step)
    objective, *path = losses.at(operand, index, [0, *offsets])
    bend = getattr(losses.bends, operand)[index]
    truncation, rounding = losses.expected(bend, float(step))
    return EntryDifference(
        operand=operand,
        index=index,
        entry=float(losses.arrays[operand][index]),
        step=float(step),
        precision=precision,
        below=float(below),
        objective=float(objective),
        above=float(above),
        slope=float(slope),
        closed_form=float(getattr(losses.gradients, operand)[index]),
        truncation=float(truncation),
        rounding=float(rounding),
        offsets=inputs.read_only(offsets),
        path=inputs.read_only(np.array(path, dtype=np.float64)),
    )


def step_errors(query, key, value, grad_output, precision="float64", steps=STEPS):
    """Measure the error of a central difference against its step, on every entry.

    Parameters
    ----------
    query, key, value, grad_output, precision
        As for `entry_difference`.
    steps : sequence of float
        One positive number at least.

    Returns
    -------
    StepErrors
        Measured and expected errors.

    Raises
    ------
    SelfAttentionError, ValueError
        As for `entry_difference`.
    """
    losses = MovedLosses(query, key, value, grad_output, precision)
    for step in steps:
        losses.accept_step(step)
    steps = np.array(steps, dtype=np.float64)
    if not steps.size:
        raise ValueError("steps must hold one step at least, got none: try steps=[1e-6]")
    errors = {operand: _errors(losses, operand, steps) for operand in OPERANDS}
    bend = max(np.max(np.abs(bends), initial=0.0) for bends in vars(losses.bends).values())
    truncation, rounding = losses.expected(bend, steps)
    arrays = {"steps": steps, **errors, "truncation": truncation, "rounding": rounding}
    return StepErrors(precision, **{name: inputs.read_only(x) for name, x in arrays.items()})


def _errors(losses, operand, steps):
    """The errors of one input's slopes, shape [steps, entries]."""
    gradient = getattr(losses.gradients, operand)
    columns = np.empty((gradient.size, len(steps)))
    for column, index in zip(columns, np.ndindex(gradient.shape), strict=True):
        slopes = losses.slopes(operand, index, steps)[2]
        column[:] = np.abs(slopes.astype(np.float64) - gradient[index])
    return columns.T
