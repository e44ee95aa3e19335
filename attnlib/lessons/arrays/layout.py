"""What each axis of the arrays is, and how they come into the order [batch, tokens, features]."""

import numpy as np

from attnlib.lessons.arrays.refusals import ArraysError

AXES = ("batch", "heads", "tokens", "width")
"""What an axis can be, in the order in which the head takes them."""
USUAL = {
    2: ("tokens width",),
    3: ("batch tokens width", "heads tokens width", "tokens heads width"),
    4: ("batch heads tokens width", "batch tokens heads width"),
}
"""Number of axes -> the layouts that are met most."""
MENDS = {
    "batch": "nothing is broadcast, so repeat the smaller one with `np.repeat(x, n, axis={})`",
    "heads": "where several heads' queries share keys and values, give each its own with "
    "`np.repeat(x, n, axis={})`",
    "tokens": "in self-attention all three come from the same tokens, without cached keys; or "
    "the layout names the wrong axis",
    "width": "queries and keys share one width d_k; or the layout names the wrong axis",
}


def parsed(layout, name, shape):
    """Take a layout apart.

    Parameters
    ----------
    layout : str
        Such as ``"batch heads tokens width"``.
    name : str
        The array that examples are chosen for.
    shape : tuple of int
        Its shape.

    Returns
    -------
    tuple of str
        What each axis is.

    Raises
    ------
    ArraysError
        If it is missing, or doesn't name each axis once.
    """
    if layout is None:
        raise ArraysError(
            f"layout must say what each axis is, for {name} of shape {shape} can be read in more "
            f"than one way: {_examples(len(shape))}"
        )
    axes = tuple(layout.replace(",", " ").split()) if isinstance(layout, str) else ()
    wrong = (
        [f"{axis} is none of them" for axis in axes if axis not in AXES]
        + [f"{axis} comes twice" for axis in AXES if axes.count(axis) > 1]
        + [f"{axis} is missing" for axis in ("tokens", "width") if axis not in axes]
    )
    if wrong:
        raise ArraysError(
            f"layout must name axes among {', '.join(AXES)}, each once, tokens and width always; "
            f"got {layout!r}, where {wrong[0]}: {_examples(len(shape))}"
        )
    return axes


def check(names, arrays, axes):
    """Hold Q, K and V against the layout and against each other.

    Parameters
    ----------
    names : dict of str to str
        Operand -> its name in the file.
    arrays : dict of str to numpy.ndarray
        Operand -> array.
    axes : tuple of str
        What each axis is.

    Raises
    ------
    ArraysError
        If one holds no real numbers, has another number of axes, or a length that differs.
    """
    for operand, array in arrays.items():
        name = names[operand]
        _check_numbers(name, array.dtype)
        if array.ndim != len(axes):
            raise ArraysError(
                f"{name} must have the {len(axes)} axes of layout={' '.join(axes)!r}, got "
                f"{array.ndim} (shape {array.shape}): {_examples(array.ndim)}"
            )
    for number, axis in enumerate(axes):
        # Only values may have a width of their own.
        compared = ("query", "key") if axis == "width" else ("query", "key", "value")
        lengths = {operand: arrays[operand].shape[number] for operand in compared}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{names[each]} has {length}" for each, length in lengths.items())
            raise ArraysError(
                f"the axis {axis} (axis {number}) must have one length: {listed}; "
                + MENDS[axis].format(number)
            )


def ordered(array, axes):
    """Bring an array into the order [batch, tokens, features], heads on the batch axis.

    Parameters
    ----------
    array : numpy.ndarray
        Of two to four axes.
    axes : tuple of str
        What each is.

    Returns
    -------
    numpy.ndarray
        Read-only; head h of item b is ``b * heads + h``.
    """
    present = [axis for axis in AXES if axis in axes]
    turned = array.transpose([axes.index(axis) for axis in present])
    *items, tokens, width = turned.shape
    turned = np.ascontiguousarray(turned).reshape(int(np.prod(items)), tokens, width)
    turned.setflags(write=False)
    return turned


def _check_numbers(name, dtype):
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        mend = "save its real part" if dtype.kind == "c" else "save it as float64 or float32"
        raise ArraysError(f"{name} must hold real numbers, got {dtype}: {mend}")


def _examples(count):
    if count not in USUAL:
        return "save two to four axes, and give, for example, layout='batch heads tokens width'"
    return "for example " + " or ".join(f"layout={each!r}" for each in USUAL[count])
