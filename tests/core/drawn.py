"""Hypothesis strategies for heads of many shapes, the same on every run."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

steady = settings(deadline=None, derandomize=True)

# Sixteenths keep every product and sum of the raw scores exact, so that what a property sees is
# the softmax and the mixture, not cancellation in the scores.
entries = st.integers(-48, 48).map(lambda sixteenths: sixteenths / 16)


def features(batch, tokens, width):
    return arrays(np.float64, (batch, tokens, width), elements=entries)


@st.composite
def heads(draw, tokens=st.integers(1, 5), batches=st.integers(1, 3)):
    """Query, key, value and grad_output."""
    batch, count = draw(batches), draw(tokens)
    width, value_width = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    widths = (width, width, value_width, value_width)
    return tuple(draw(features(batch, count, wide)) for wide in widths)
