"""A folder of hand-ins: each is checked in a process of its own, and none stops the others.

A process of its own has its own memory, current folder, environment and time limit. It is no
fence: it runs with the rights of whoever starts it, so it can read and write what they can.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from attnlib.lessons.hand_ins.opening import HandInError, parted
from attnlib.lessons.hand_ins.results import NOT_RUN, Result, one_line

SECONDS = 30.0
"""How long one hand-in may take in all, from the start of its process."""
SUFFIXES = (".py", ".ipynb")
PACKAGES = Path(__file__).resolve().parents[3]
# Not the rest: a server's tokens are in its environment too.
KEPT = (
    *("HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "PYTHONPATH", "SYSTEMROOT"),
    *("TEMP", "TMP", "TMPDIR", "VIRTUAL_ENV"),
)


def check(address, backward=False, seconds=SECONDS):
    """Check a file, or every hand-in of a folder, in processes of their own.

    Parameters
    ----------
    address : str
        ``"FILE:FUNCTION"`` or ``"FOLDER:FUNCTION"``.
    backward : bool, default False
        Whether the function computes gradients.
    seconds : float, default 30.0
        How long each hand-in may take.

    Returns
    -------
    list of Result
        In the order of the files' names.

    Raises
    ------
    HandInError
        If there is nothing at that path, or no hand-in in the folder.
    """
    folder, name = parted(address)
    if folder.is_file():
        return [_checked(folder, name, str(folder), backward, seconds, alone=False)]
    files = found(folder, name)
    if not files:
        raise HandInError(f"{folder} holds no hand-in: no file in it ends in .py or .ipynb")

    def one(path):
        shown = path.relative_to(folder).as_posix()
        return _checked(path, name, shown, backward, seconds, alone=path.parent == folder)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, files))


def found(folder, name):
    """Return the hand-ins in a folder and the folders in it, in the order of their names.

    Where somebody's own folder holds several files, those that speak of the function are the
    hand-ins, and the rest helps them; hidden files are none.

    Parameters
    ----------
    folder : pathlib.Path
    name : str
        The function's name.

    Returns
    -------
    list of pathlib.Path
    """
    files = [
        path
        for path in folder.rglob("*")
        if path.suffix in SUFFIXES and path.is_file() and not _hidden(path.relative_to(folder))
    ]
    word = re.compile(rf"\b{re.escape(name.partition('.')[0])}\b".encode())
    speaking = {path for path in files if word.search(_read(path))}
    owners = {_owner(path, folder) for path in speaking}
    kept = [
        path
        for path in files
        if path.parent == folder or path in speaking or _owner(path, folder) not in owners
    ]
    return sorted(kept, key=lambda path: path.relative_to(folder).as_posix().casefold())


def _read(path):
    try:
        return path.read_bytes()
    except OSError:
        # Told in its row.
        return b""


def _owner(path, folder):
    return path.relative_to(folder).parts[0]


def _hidden(path):
    return any(part.startswith((".", "__")) for part in path.parts)


def _checked(path, name, shown, backward, seconds, alone):
    command = [sys.executable, "-m", "attnlib.lessons.hand_ins.worker", f"{path.resolve()}:{name}"]
    command += ["--backward"] * backward + ["--alone"] * alone
    # A file rather than a pipe: whatever the hand-in starts and leaves can't keep a file open.
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place,
        tempfile.TemporaryFile() as answer,
    ):
        status = _run(command, place, answer, seconds)
        answer.seek(0)
        said = answer.read()
    return replace(_result(said, status, seconds), file=one_line(shown))


def _run(command, place, answer, seconds):
    """Run a command to its end, or stop it; return its exit status, None if it was stopped."""
    process = subprocess.Popen(
        command,
        cwd=place,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=answer,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        _stop(process)


def _stop(process):
    """End a process and what it started; those that left its group stay."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (AttributeError, OSError):
        # No groups on Windows; or nobody of the group is left.
        process.kill()
    process.wait()


def _environment():
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    paths = [str(PACKAGES), *filter(None, [kept.get("PYTHONPATH")])]
    kept["PYTHONPATH"] = os.pathsep.join(paths)
    # As many hand-ins run at once as there are processors; and nothing is left beside a file.
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**kept, **threads, "PYTHONDONTWRITEBYTECODE": "1"}


def _result(said, status, seconds):
    if status is None:
        why = f"it was not done after {seconds:g} s and was stopped: look for a loop without an end"
        return Result("", NOT_RUN, said=why)
    try:
        return Result(**json.loads(said))
    except (ValueError, TypeError):
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        return Result("", NOT_RUN, said=f"it ended Python while it was checked ({how})")
