"""How a test looks at a refusal: as the user meets it, with NumPy at its strictest."""

import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

from attnlib import SelfAttentionError, scaled_dot_product_self_attention


def refusal_of(call, *arguments, **options):
    """Return the error, after checking that it is ours alone and that no warning came first."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        with pytest.raises(SelfAttentionError) as caught:
            call(*arguments, **options)
    error = caught.value
    innermost = traceback.extract_tb(error.__traceback__)[-1].filename
    assert Path(innermost).parts[-3:-1] == ("attnlib", "core")
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    return error


def refused(query, key, value, **options):
    return refusal_of(scaled_dot_product_self_attention, query, key, value, **options)


def facts(error):
    """The kind and the evidence as a reader of the report sees them."""
    return error.kind, error.evidence_text
