"""Mistakes on the way back, joined in its order: the value, the softmax, the scale, the products.

Each head takes ``(query, key, value, grad_output)`` and returns dQ, dK and dV. In the texts, dW is
the gradient of the weights and dS that of the scaled scores; a query is a row, a key a column.
"""

from attnlib.lessons.mistakes import (
    returning_products,
    returning_scale,
    returning_softmax,
    returning_sums,
    returning_values,
)
from attnlib.lessons.mistakes.returning_scale import gradient_scale_missing

__all__ = ["MISTAKES", "gradient_scale_missing"]

MISTAKES = (
    *returning_values.MISTAKES,
    *returning_softmax.MISTAKES,
    *returning_scale.MISTAKES,
    *returning_products.MISTAKES,
    *returning_sums.MISTAKES,
)
"""Every mistake of the way back, in teaching order."""
