"""The objective as a function of one entry of Q, K or V at a time, in a precision of choice."""

from numbers import Real

import numpy as np

from attnlib.core import inputs, overflow
from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.lessons.third_derivative import third_derivatives

OPERANDS = ("query", "key", "value")
PRECISIONS = ("float64", "float32")
LEAST_STEP, LARGEST_STEP = 1e-18, 1e6


class MovedLosses:
    """L = sum(output * grad_output), computed anew for every move of an entry.

    Parameters
    ----------
    query, key : array_like
        Shape [batch, tokens, d_k].
    value, grad_output : array_like
        Shape [batch, tokens, d_v].
    precision : str
        One of `PRECISIONS`: what the losses are computed in.

    Attributes
    ----------
    arrays : dict of str to numpy.ndarray
        The four inputs in that precision.
    gradients : SelfAttentionGradients
        The closed form on the same numbers, in float64 whatever the precision.
    bends : ThirdDerivatives
        In float64.
    size : float
        The sum of the sizes of all products in L: rounding errors grow with it.

    Raises
    ------
    SelfAttentionError
        If the head refuses an input.
    ValueError
        If there is no such precision.
    """

    def __init__(self, query, key, value, grad_output, precision):
        if precision not in PRECISIONS:
            raise ValueError(
                f"there is no precision {precision!r} here: choose one of {', '.join(PRECISIONS)}"
            )
        self.precision, self._dtype = precision, np.dtype(precision)
        head = scaled_dot_product_self_attention(query, key, value)
        seed, _ = inputs.accept_gradient(grad_output, head.output.shape, self._dtype)
        given = (head.query, head.key, head.value)
        with np.errstate(over="ignore"):
            kept = (array.astype(self._dtype) for array in given)
            self.arrays = dict(zip((*OPERANDS, "grad_output"), (*kept, seed), strict=True))
        exact = {name: array.astype(np.float64) for name, array in self.arrays.items()}
        head = scaled_dot_product_self_attention(*(exact[name] for name in OPERANDS))
        self.gradients = head.backward(exact["grad_output"])
        # What overflows here only foretells an error that is as good as infinite.
        with np.errstate(all="ignore"):
            self.bends = third_derivatives(head, self.gradients)
            self.size = float(np.sum(np.abs(head.output * exact["grad_output"])))

    def accept_step(self, step):
        """Return a step in this precision.

        Raises
        ------
        ValueError
            If it is no number, or out of reach: its square is a number in either precision.
        """
        real = isinstance(step, Real) and not isinstance(step, bool)
        if not (real and LEAST_STEP <= step <= LARGEST_STEP):
            raise ValueError(
                f"step must be a number from {LEAST_STEP:g} to {LARGEST_STEP:g}, got {step!r}: "
                "try step=1e-6"
            )
        return self._dtype.type(step)

    def accept_entry(self, operand, index):
        """Return an index as a tuple of whole numbers.

        Raises
        ------
        ValueError
            If there is no such operand, or it has no such entry.
        """
        if operand not in OPERANDS:
            raise ValueError(
                f"there is no operand {operand!r}: choose one of {', '.join(OPERANDS)}"
            )
        shape = self.arrays[operand].shape
        try:
            places = tuple(int(place) for place in index)
            within = places == tuple(index) and len(places) == len(shape)
            within = within and all(0 <= i < n for i, n in zip(places, shape, strict=True))
        except (TypeError, ValueError, OverflowError):
            within = False
        if not within:
            raise ValueError(
                f"index must name one entry of {operand} as (batch item, token, feature) within "
                f"its shape {shape}, got {index!r}: the first entry is (0, 0, 0)"
            )
        return places

    def at(self, operand, index, moves):
        """Compute L once for each move of one entry.

        Parameters
        ----------
        operand : str
            Whose entry moves.
        index : tuple of int
            Which entry.
        moves : numpy.ndarray
            Shape [moves].

        Returns
        -------
        numpy.ndarray
            Shape [moves], in this precision.

        Raises
        ------
        SelfAttentionError
            If a moved entry, a stage or L overflows.

        Notes
        -----
        Batch items never meet, so the moved copies ride on the batch axis of a single head.
        """
        copies = [np.repeat(self.arrays[name][None], len(moves), axis=0) for name in OPERANDS]
        moved = copies[OPERANDS.index(operand)]
        with np.errstate(all="ignore"):
            moved[(slice(None), *index)] += np.asarray(moves, dtype=self._dtype)
        # On an axis of their own after this, copies first.
        head = scaled_dot_product_self_attention(*(x.reshape(-1, *x.shape[2:]) for x in copies))
        seed = self.arrays["grad_output"]
        with np.errstate(all="ignore"):
            losses = np.sum(head.output.reshape(-1, *seed.shape) * seed, axis=(1, 2, 3))
        overflow.check_stage("objective", losses)
        return losses

    def slopes(self, operand, index, steps):
        """Compute the central difference of one entry for each step, in this precision.

        Returns
        -------
        below, above, slopes : numpy.ndarray
            Shape [steps]: L(x - h), L(x + h) and (L(x + h) - L(x - h)) / 2h.
        """
        steps = np.asarray(steps, dtype=self._dtype)
        below, above = np.split(self.at(operand, index, np.concatenate([-steps, steps])), 2)
        with np.errstate(all="ignore"):
            slopes = (above - below) / (2 * steps)
        overflow.check_stage("central difference", slopes)
        return below, above, slopes

    def expected(self, bend, steps):
        """Foretell both errors of a central difference.

        Parameters
        ----------
        bend : float
            The third derivative of L along the entry, or the largest of all.
        steps : float or numpy.ndarray
            h.

        Returns
        -------
        truncation, rounding : float or numpy.ndarray
            ``h^2 |L'''| / 6``, the first term that Taylor's series leaves over, and
            ``eps sum|O dO| / 2h``: each of the two losses is rounded by half of eps.
        """
        eps = float(np.finfo(self._dtype).eps)
        return abs(bend) * steps**2 / 6, eps * self.size / (2 * steps)
