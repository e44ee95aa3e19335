"""The model's tensors, read from a .safetensors file that is held against the configuration."""

import numpy as np

from attnlib.lessons import packages
from attnlib.lessons.real_encoder import refusals

STORED = ("F64", "F32", "F16")
"""The number types that NumPy can hold too."""


class Weights:
    """An open .safetensors file: nothing is read before it is asked for.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    shapes : dict of str to tuple of int
        The tensors that it must hold.
    dtype : numpy.dtype
        The type in which they are handed out.

    Raises
    ------
    EncoderError
        ``damaged-files``: no such file, cut short, a tensor missing or of another shape or type.
    ImportError
        If safetensors isn't installed.
    """

    def __init__(self, path, shapes, dtype):
        self.path = path
        self.dtype = dtype
        self._file = _opened(path)
        _check_names(path, shapes, set(self._file.keys()))
        for name, shape in shapes.items():
            _check_tensor(path, name, shape, self._file.get_slice(name))

    def tensor(self, name):
        """Read one tensor, as a read-only array."""
        return self._checked(name, self._file.get_tensor(name))

    def rows(self, name, positions):
        """Read some rows of a table that is too large to keep, in the order of `positions`."""
        table = self._file.get_slice(name)
        return self._checked(name, np.stack([table[int(row)] for row in positions]))

    def _checked(self, name, array):
        array = array.astype(self.dtype, copy=False)
        # The extremes of an array show NaN and infinities without a mask as large as the array.
        if not np.isfinite(array.min()) or not np.isfinite(array.max()):
            raise refusals.damaged(self.path, f"{name} holds NaN or an infinity")
        array.setflags(write=False)
        return array


def _opened(path):
    safe_open, damage = packages.safe_open()
    try:
        return safe_open(path, framework="numpy")
    except FileNotFoundError:
        raise refusals.damaged(path, "there is no such file") from None
    except (OSError, damage) as error:
        raise refusals.damaged(path, str(error)) from None


def _check_names(path, shapes, names):
    missing = [name for name in shapes if name not in names]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise refusals.damaged(path, f"it lacks the tensor {missing[0]}{more}")


def _check_tensor(path, name, shape, stored):
    got, kind = tuple(stored.get_shape()), stored.get_dtype()
    if got != shape:
        raise refusals.damaged(path, f"{name} must have the shape {shape}, got {got}")
    if kind not in STORED:
        raise refusals.damaged(path, f"{name} must be one of {', '.join(STORED)}, got {kind}")
