"""A file of named arrays, opened for reading: .npz without pickle, or .safetensors."""

import contextlib
import json
from pathlib import Path

import numpy as np

from attnlib.lessons import packages
from attnlib.lessons.arrays.refusals import SAVE, ArraysError

PICKLES = (".bin", ".ckpt", ".joblib", ".pickle", ".pkl", ".pt", ".pth")
HELD = ("BOOL", "U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64", "F16", "F32", "F64", "C64")
"""The numbers of a .safetensors file that NumPy has a type for."""


@contextlib.contextmanager
def opened(path):
    """Open a file of arrays, and close it again.

    Parameters
    ----------
    path : path
        By its suffix an ``.npz`` or a ``.safetensors`` file.

    Yields
    ------
    Npz or Safetensors
        Whose `names` lists the arrays, and whose `array` reads one.

    Raises
    ------
    ArraysError
        If there is no such file, or it is of another kind, cut short or damaged.
    ImportError
        If it is a .safetensors file and safetensors isn't installed.
    """
    path = Path(path)
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise ArraysError(_other_kind(path))
    if not path.is_file():
        what = "it is a folder" if path.is_dir() else "there is no such file"
        raise ArraysError(f"{path.absolute()} can't be opened: {what}; give the path of a file")
    with contextlib.ExitStack() as until_closed:
        yield kind(path, until_closed)


class Npz:
    """An .npz file, read without pickle."""

    def __init__(self, path, until_closed):
        self.path = path
        with _readable(path):
            # Given a path, np.load leaves a damaged file open.
            self._file = np.load(until_closed.enter_context(path.open("rb")), allow_pickle=False)
        if not isinstance(self._file, np.lib.npyio.NpzFile):
            raise ArraysError(f"{path} holds one array without a name: save all three with {SAVE}")
        until_closed.enter_context(self._file)
        self.names = tuple(self._file.files)

    def array(self, name):
        """Read one array."""
        with _readable(f"{name} in {self.path}"):
            array = self._file[name]
        if not isinstance(array, np.ndarray):
            raise ArraysError(f"{name} in {self.path} is no array: save it with {SAVE}")
        return array

    def texts(self, name):
        """Nothing: this format keeps texts in arrays."""
        return None


class Safetensors:
    """A .safetensors file."""

    def __init__(self, path, until_closed):
        self.path = path
        safe_open, _ = packages.safe_open()
        with _readable(path):
            self._file = until_closed.enter_context(safe_open(path, framework="numpy"))
        self.names = tuple(self._file.keys())

    def array(self, name):
        """Read one array."""
        kind = self._file.get_slice(name).get_dtype()
        if kind not in HELD:
            raise ArraysError(
                f"{name} in {self.path} holds {kind} numbers, for which NumPy has no type: save it "
                "as float32, with `tensor.float()` before `save_file`"
            )
        with _readable(f"{name} in {self.path}"):
            return self._file.get_tensor(name)

    def texts(self, name):
        """Read a list of texts from the metadata, where this format keeps all text; else None."""
        text = (self._file.metadata() or {}).get(name)
        if text is None:
            return None
        with contextlib.suppress(ValueError):
            found = json.loads(text)
            if isinstance(found, list):
                return found
        raise ArraysError(
            f"{name} in the metadata of {self.path} must be a list in JSON, got {text[:40]!r}: "
            f"save it with `metadata={{{name!r}: json.dumps(labels)}}`"
        )


KINDS = {".npz": Npz, ".safetensors": Safetensors}


@contextlib.contextmanager
def _readable(where):
    try:
        yield
    except Exception as error:
        # zipfile, zlib, NumPy and safetensors have a dozen exceptions for a damaged file.
        if "pickle" in str(error):
            raise ArraysError(
                f"{where} can't be read: it holds Python objects or is no such file, and loading "
                f"objects (pickle) could run any code; save arrays of numbers with {SAVE}"
            ) from None
        raise ArraysError(
            f"{where} can't be read ({error}): the file is cut short or damaged; "
            "copy or save it once more"
        ) from None


def _other_kind(path):
    suffix = path.suffix.lower()
    mend = f"save Q, K and V with {SAVE}"
    if suffix in PICKLES:
        mend = (
            "such files are pickles, which could run any code; save the tensors with "
            "`safetensors.torch.save_file({'query': Q, 'key': K, 'value': V}, 'heads.safetensors')`"
        )
    return f"path must end in .npz or .safetensors, got {path.name!r}: {mend}"
