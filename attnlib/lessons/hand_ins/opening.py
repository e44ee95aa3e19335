"""A hand-in on disk: open one function of a file, or say in one line why that can't be."""

import ast
import contextlib
import difflib
import inspect
import operator
import sys
import traceback
import types
from pathlib import Path

from attnlib.lessons.hand_ins import notebooks

MODULE = "attnlib_hand_in"
"""The module's name: no file of the reader's can then be mistaken for an installed library."""
EXAMPLE = "my_file.py:my_attention"


class HandInError(ValueError):
    """Why a hand-in can't be run, in one line."""


@contextlib.contextmanager
def opened(address, neighbours=True):
    """Run a Python file as an import would, and lend one function of it.

    The file's folder comes first among the places that Python imports from, as when the file is
    run; what stands under ``if __name__ == "__main__"`` doesn't run. Of a notebook, only the
    function runs, and the imports, definitions and assignments that it uses. A file can do
    anything that Python can: open only what you trust.

    Parameters
    ----------
    address : str
        ``"my_file.py:my_attention"``; a dot leads into a class or an object.
    neighbours : bool, default True
        Whether it may import the other files in its folder.

    Yields
    ------
    callable
        The function. Its file's folder and module are known to Python until the block ends.

    Raises
    ------
    HandInError
        A ValueError in one line: no such file, a file that fails while it is run, no such
        function in it, or something that isn't a function.
    """
    path, name = parted(address)
    if path.is_dir():
        raise HandInError(f"{path} is a folder: name one Python file in it")
    module = types.ModuleType(MODULE)
    module.__file__ = str(path)
    before = list(sys.path)
    if neighbours:
        sys.path.insert(0, str(path.resolve().parent))
    # Where dataclasses and pickle look their classes up.
    sys.modules[MODULE] = module
    try:
        for place, code in _readable_pieces(path, name):
            _run(path, place, code, module)
        yield _function(path, module, name)
    finally:
        sys.path[:] = before
        del sys.modules[MODULE]


def parted(address):
    """Return the path and the name that ``FILE:FUNCTION`` or ``FOLDER:FUNCTION`` stands for.

    Raises
    ------
    HandInError
        If there is no colon, no name of Python after it, or nothing at that path.
    """
    file, colon, name = address.rpartition(":")
    if not (colon and file and all(part.isidentifier() for part in name.split("."))):
        raise HandInError(
            f"expected a file and a function with a colon between them, got {address!r}: "
            f"write {EXAMPLE}"
        )
    path = Path(file)
    if not path.is_file() and not path.is_dir():
        raise HandInError(
            f"there is no file {file}: look at its name, and at the folder you are in"
        )
    return path, name


def _readable_pieces(path, name):
    try:
        return _pieces(path, name)
    except OSError as error:
        raise HandInError(f"{path} could not be read: {_told(error)}") from None


def _pieces(path, name):
    """Return what is to be run, each piece with the words that say where in the file it stands."""
    if path.suffix != notebooks.SUFFIX:
        return [("", path.read_bytes())]
    first, _, _ = name.partition(".")
    try:
        statements = notebooks.needed(path, first)
    except ValueError as error:
        raise HandInError(f"{path} could not be run: {error}") from None
    if not statements:
        raise HandInError(f"{path} has no {first}: {_others(notebooks.functions(path), first)}")
    return [(f"code cell {x.cell}, ", ast.Module([x.node], [])) for x in statements]


def _run(path, place, code, module):
    # Not by an importer: it would leave a __pycache__ beside the file, and read it back too late.
    try:
        exec(compile(code, str(path), "exec"), vars(module))
    except SystemExit as leaving:
        raise HandInError(
            f"{path} ends Python while it is run (exit status {leaving.code}): put what does so "
            'under if __name__ == "__main__"'
        ) from None
    except BaseException as error:
        raise HandInError(
            f"{path} could not be run: {place}{_line_of(error, path)}{_told(error)}"
        ) from None


def _line_of(error, path):
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}, " if error.lineno else ""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    return f"line {lines[-1]}, " if lines else ""


def _told(error):
    words = error.msg if isinstance(error, SyntaxError) else str(error)
    first = next(iter(words.splitlines()), "")
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _function(path, module, name):
    try:
        found = operator.attrgetter(name)(module)
    except AttributeError:
        raise HandInError(f"{path} has no {name}: {_others(_functions(module), name)}") from None
    if inspect.isclass(found):
        raise HandInError(
            f"{name} in {path} is a class: name a function, or an object that can be called"
        )
    if not callable(found):
        raise HandInError(f"{name} in {path} is of type {type(found).__name__}, not a function")
    return found


def _functions(module):
    return [
        known
        for known, held in vars(module).items()
        if inspect.isfunction(held) and held.__module__ == MODULE
    ]


def _others(names, name):
    if not names:
        return "it defines no function"
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {near[0]}?" if near else f"its functions are {', '.join(names)}"
