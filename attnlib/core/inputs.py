"""What a head accepts: the checks in their order, and the read-only copies it then keeps.

The checks look at types and shapes before they look at entries, and allocate nothing that grows
with the inputs; only what has passed them all is copied.
"""

import math
from numbers import Real

import numpy as np

from attnlib.core import errors
from attnlib.core.overflow import first_non_finite

TINIEST = 2.0**-500
"""Squares of smaller numbers underflow: a reach says nothing finer than this."""
SHORT = 2**12
"""A dot product of fewer entries is computed by one thread in every BLAS."""
SMALL = {np.float32, np.float16}
FLOATS = {np.float64, *SMALL}


def accept(query, key, value, memory_limit):
    """Check Q, K and V in the contract's order and return read-only copies of one type.

    Parameters
    ----------
    query, key, value : array_like
        Shapes [batch, tokens, d_k], [batch, tokens, d_k] and [batch, tokens, d_v].
    memory_limit : int
        The most that the record may keep, in bytes.

    Returns
    -------
    tuple of numpy.ndarray
        Q, K and V: float64, or float32 where all three fit it.
    tuple of float
        The reach of each.

    Raises
    ------
    SelfAttentionError
        Every kind of refusal that can be told before computing.
    """
    query = as_real("query", query)
    key = as_real("key", key)
    value = as_real("value", value)
    check_shapes(query, key, value)
    reaches = (
        check_finite("query", query),
        check_finite("key", key),
        check_finite("value", value),
    )
    dtype = kept_type(query, key, value)
    check_size(query.shape, value.shape[2], np.dtype(dtype).itemsize, memory_limit)
    copies = [read_only(np.array(array, dtype, order="C")) for array in (query, key, value)]
    return copies, reaches


def accept_gradient(grad_output, shape, dtype):
    """Check a grad_output against the output's shape; return it in the head's type, and its reach.

    Raises
    ------
    SelfAttentionError
        ``input-dtype``, ``gradient-shape`` or ``non-finite-input``.
    """
    array = as_real("grad_output", grad_output)
    if array.shape != shape:
        raise errors.gradient_shape(shape, array.shape)
    reach = check_finite("grad_output", array)
    if array.dtype == dtype:
        return np.array(array, order="C"), reach
    with np.errstate(all="ignore"):
        cast = array.astype(dtype, order="C")
    index = first_non_finite(cast)
    if index is not None:
        entry = f"{array[index]}, which {dtype} can't hold,"
        raise errors.non_finite_input("grad_output", index, entry)
    return cast, reach


def as_real(operand, x):
    """View `x` as an array of real numbers, or refuse it as ``input-dtype``."""
    if isinstance(x, np.ma.MaskedArray):
        raise errors.input_dtype(
            operand, "a masked array", "its mask would be lost; fill it with `x.filled(0)`"
        )
    try:
        array = np.asarray(x)
    except Exception as error:
        # Whatever object was handed in may raise anything here; only its type is ours to tell.
        raise errors.input_dtype(
            operand,
            type(x).__name__,
            f"it can't become one array ({error}); give every row the same length, and detach "
            "tensors first",
        ) from None
    if array.dtype.kind not in "biuf" or (
        array.dtype.kind == "f" and array.dtype.type not in FLOATS
    ):
        raise errors.input_dtype(operand, str(array.dtype), _dtype_mend(array.dtype))
    return array


def _dtype_mend(dtype):
    if dtype.kind == "c":
        return "pass the real part with `x.real` if the imaginary part is 0"
    if dtype.kind == "f":
        return "convert it with `x.astype(np.float64)`"
    if dtype.kind == "O":
        return "look for None, text or nested arrays in it, then convert with `x.astype(float)`"
    return "convert it to numbers first"


def kept_type(*arrays):
    """The type that accepted operands are kept in: float32 where it holds all, or else float64."""
    small = all(array.dtype.type in SMALL for array in arrays)
    return np.float32 if small else np.float64


def check_shapes(query, key, value):
    """Check ranks, batch sizes, token counts and widths, in this order.

    Raises
    ------
    SelfAttentionError
        ``input-rank``, ``batch-mismatch``, ``token-mismatch``, ``empty-token-axis``,
        ``empty-feature-width`` or ``query-key-width-mismatch``.
    """
    operands = {"query": query, "key": key, "value": value}
    for name, array in operands.items():
        if array.ndim != 3:
            raise errors.input_rank(name, array.shape)
    shape = batch, tokens, width = query.shape
    alike = shape == key.shape and value.shape[:2] == (batch, tokens)
    if alike and tokens and width and value.shape[2]:
        return
    batch, tokens, widths = zip(*(array.shape for array in operands.values()), strict=True)
    if len(set(batch)) > 1:
        raise errors.batch_mismatch(*batch)
    if len(set(tokens)) > 1:
        raise errors.token_mismatch(*tokens)
    if tokens[0] == 0:
        raise errors.empty_token_axis()
    for name, width in zip(operands, widths, strict=True):
        if width == 0:
            raise errors.empty_feature_width(name)
    if widths[0] != widths[1]:
        raise errors.query_key_width_mismatch(*widths[:2])


def check_finite(operand, array):
    """Refuse an operand with NaN or an infinity as ``non-finite-input``, and return its reach.

    Returns
    -------
    float
        At least the length of the array, seen as one long vector, and so of each row in it; may be
        infinite.
    """
    if array.dtype.kind == "f" and array.flags.c_contiguous:
        # A long product of BLAS's would wake its threads, and they then spin beside ours.
        if array.size < SHORT:
            square = float(np.vdot(array, array))
        else:
            square = float(np.einsum("i,i", *[array.reshape(-1)] * 2))
        # Whatever is not finite among the entries shows in their sum of squares.
        if math.isfinite(square):
            return math.sqrt(square) + TINIEST
    index = first_non_finite(array)
    if index is not None:
        raise errors.non_finite_input(operand, index, array[index])
    if array.size == 0:
        return TINIEST
    largest = max(abs(float(array.max())), abs(float(array.min())))
    return math.sqrt(array.size) * largest + TINIEST


def check_size(query_shape, value_width, itemsize, limit):
    """Refuse a head whose kept arrays would exceed `limit` bytes as ``too-large``."""
    if not isinstance(limit, Real) or not limit >= 0:
        raise ValueError(
            f"memory_limit must be a number of bytes, 0 or more, got {limit!r}: try "
            "memory_limit=2**30"
        )
    batch, tokens, key_width = query_shape
    entries = batch * tokens * (2 * key_width + 2 * value_width + 3 * tokens)
    if entries * itemsize > limit:
        raise errors.too_large(entries * itemsize, limit)


def read_only(array):
    """Lock an array against writing and return it."""
    array.setflags(write=False)
    return array
