"""Two accounts of this machine, and an attnlib that they can reach: what a hub's learners need."""

import contextlib
import os
import pwd
import secrets
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import SimpleNamespace

import rules

from tests.serving import ROOT

HANDED = ("attnlib", "notebooks", "deploy", "Makefile", "pyproject.toml", "constraints.txt")
NOT_FOR_A_RUN = ("test", "tests", "idlelib", "__pycache__", "site-packages", "config-*", "*.a")


@contextlib.contextmanager
def learner(folder):
    """An account with a home below a folder and a password of its own, until the block ends."""
    name, password = f"attnlib-{secrets.token_hex(3)}", secrets.token_urlsafe(12)
    home = folder / name
    subprocess.run(
        ["useradd", "--create-home", "--home-dir", home, "--shell", "/bin/bash", name], check=True
    )
    try:
        # Through a pipe: what stands in a command line can be read by all.
        subprocess.run(["chpasswd"], input=f"{name}:{password}\n", text=True, check=True)
        yield SimpleNamespace(
            name=name, password=password, home=home, uid=pwd.getpwnam(name).pw_uid
        )
    finally:
        _tidy(pwd.getpwnam(name).pw_uid)
        subprocess.run(["userdel", "--remove", name], capture_output=True, check=False)


def _tidy(uid):
    """Remove what a server that was killed could not remove itself."""
    for each in Path(tempfile.gettempdir()).glob("attnlib-*"):
        if each.stat().st_uid == uid:
            shutil.rmtree(each, ignore_errors=True)


@contextlib.contextmanager
def group(*names):
    """A group of these accounts, until the block ends."""
    course = f"attnlib-{secrets.token_hex(3)}"
    subprocess.run(["groupadd", course], check=True)
    try:
        for name in names:
            subprocess.run(["usermod", "--append", "--groups", course, name], check=True)
        yield course
    finally:
        subprocess.run(["groupdel", course], check=False)


@contextlib.contextmanager
def installation():
    """A clone with an environment that every account can read, wherever this one stands.

    Yields its `clone`, its `venv`, a folder for `homes`, and the `environ` to start it with.
    """
    place = Path(tempfile.mkdtemp(prefix="attnlib-hub-")).resolve()
    place.chmod(0o755)
    try:
        clone, homes = place / "clone", place / "homes"
        homes.mkdir()
        _hand(clone)
        python, environ = _python(place)
        venv = _venv(place, python)
        yield SimpleNamespace(
            clone=clone, venv=venv, homes=homes, environ={**environ, "PYTHONPATH": str(clone)}
        )
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _hand(clone):
    """Copy what git knows, and nothing that a hub has left here."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *HANDED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, clone / name)


def _python(place):
    """This Python itself where everybody may run it, a copy of it elsewhere."""
    python = Path(sys.executable).resolve()
    if not rules.closed_to_others(python):
        return python, {}
    base = Path(sys.base_prefix)
    copied = place / "python"
    for part in ("bin", "lib"):
        shutil.copytree(
            base / part,
            copied / part,
            symlinks=True,
            ignore=shutil.ignore_patterns(*NOT_FOR_A_RUN),
        )
    # Where Python is a shared library, the copy would look for it at its old place.
    return copied / python.relative_to(base), {"LD_LIBRARY_PATH": str(copied / "lib")}


def _venv(place, python):
    """An environment on that Python with the packages of this one."""
    venv = place / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(python)
    (venv / "bin" / "python3").symlink_to("python")
    (venv / "pyvenv.cfg").write_text(f"home = {python.parent}\n")
    own, packages = Path(sys.prefix), Path(sysconfig.get_path("purelib"))
    for part in (packages.relative_to(own), Path("etc"), Path("share")):
        _reach(own / part, venv / part)
    # Newer than pyproject.toml, so that `make` doesn't install it all again.
    (venv / ".installed").touch()
    return venv


def _reach(there, here):
    here.parent.mkdir(parents=True, exist_ok=True)
    if rules.closed_to_others(there):
        # Hard links take a second and no space, where the file system allows them.
        link = shutil.copy if there.stat().st_dev != here.parent.stat().st_dev else os.link
        shutil.copytree(there, here, symlinks=True, copy_function=link)
    else:
        here.symlink_to(there)
