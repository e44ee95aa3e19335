"""The house: four floors, imports go down only, nothing heavy is loaded before it is needed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "attnlib"

# "attnlib" stands for its public names, which are those of core.
FLOORS = {
    "core": {"core"},
    "lessons": {"attnlib", "core", "lessons"},
    "views": {"attnlib", "core", "lessons", "views"},
    "explorers": {"attnlib", "core", "lessons", "views", "explorers"},
}
LIBRARIES = {
    "core": {"numpy", "threadpoolctl"},
    "lessons": {"numpy", "safetensors", "tokenizers"},
    "views": {"numpy", "matplotlib", "PIL", "IPython"},
    "explorers": {"numpy", "matplotlib", "PIL", "IPython", "ipywidgets", "anywidget", "traitlets"},
}
HEAVY = {"matplotlib", "IPython", "ipywidgets", "safetensors", "tokenizers"}


def modules(floor):
    """Return the files of a floor."""
    return sorted((PACKAGE / floor).rglob("*.py"))


def dotted(path, root=ROOT):
    """Return the name that a module is imported by."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path, root=ROOT):
    """Return the dotted names that a module imports, wherever in it the import stands."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = path.relative_to(root).parent.parts
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *filter(None, [node.module])])
            found |= {f"{base}.{alias.name}" for alias in node.names}
    return found


def strangers(path, floor, root=ROOT):
    """Return what a module imports that its floor must not."""
    wrong = set()
    for name in imports(path, root):
        library, *inner = name.split(".")
        if library == "attnlib":
            room = inner[0] if inner and inner[0] in FLOORS else "attnlib"
            allowed = room in FLOORS[floor]
        else:
            allowed = library in sys.stdlib_module_names | LIBRARIES[floor]
        if not allowed:
            wrong.add(name)
    return wrong


def loaded_by(names):
    """Return the heavy libraries that a fresh interpreter has after importing these modules."""
    lines = [f"import {name}" for name in names]
    lines += ["import sys", f"print(*sorted({HEAVY} & set(sys.modules)))"]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def functions(path):
    """Return the name and the number of body lines of each function, its docstring left out."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            yield node.name, body[-1].end_lineno - body[0].lineno + 1 if body else 0


class TestImports:
    @pytest.mark.parametrize("floor", FLOORS)
    def test_a_floor_imports_only_what_is_below_it(self, floor):
        assert modules(floor)
        assert {
            dotted(path): found for path in modules(floor) if (found := strangers(path, floor))
        } == {}

    def test_the_package_gathers_the_public_names_of_core_only(self):
        assert strangers(PACKAGE / "__init__.py", "core") == set()

    def test_the_command_line_draws_nothing(self):
        path = PACKAGE / "__main__.py"
        assert {name for name in imports(path) if name.startswith("attnlib.explorers")} == set()
        assert {name.split(".")[0] for name in imports(path)} & HEAVY == set()

    def test_the_server_setting_imports_nothing_of_the_package(self):
        path = PACKAGE / "server.py"
        found = imports(path) if path.exists() else set()
        assert {name for name in found if name.split(".")[0] == "attnlib"} == set()

    @pytest.mark.parametrize(
        ("floor", "line"),
        [
            ("core", "from attnlib.lessons import examples"),
            ("core", "from ..lessons import examples"),
            ("core", "from attnlib import head"),
            ("core", "import matplotlib.pyplot"),
            ("lessons", "import attnlib.views.report"),
            ("lessons", "def late():\n    from attnlib import views"),
            ("views", "import ipywidgets as widgets"),
            ("views", "from ..explorers.canvas import Canvas"),
            ("explorers", "import pandas"),
        ],
    )
    def test_an_import_that_goes_up_would_be_seen(self, tmp_path, floor, line):
        planted = tmp_path / "attnlib" / floor / "planted.py"
        planted.parent.mkdir(parents=True)
        planted.write_text(line)
        assert strangers(planted, floor, root=tmp_path)


class TestAFreshInterpreter:
    def test_the_package_loads_nothing_that_draws(self):
        assert loaded_by(["attnlib"]) == set()

    @pytest.mark.parametrize("floor", ["core", "lessons"])
    def test_computing_and_teaching_load_nothing_that_draws(self, floor):
        assert loaded_by(map(dotted, modules(floor))) == set()

    def test_drawing_loads_no_widgets(self):
        assert "ipywidgets" not in loaded_by(map(dotted, modules("views")))

    @pytest.mark.parametrize("library", sorted(HEAVY))
    def test_a_library_that_is_loaded_would_be_seen(self, library):
        assert library in loaded_by([library])


class TestSize:
    @pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=dotted)
    def test_a_module_can_be_read_in_one_sitting(self, path):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 300
        assert {name: lines for name, lines in functions(path) if lines > 40} == {}

    def test_a_long_function_would_be_seen(self, tmp_path):
        planted = tmp_path / "long.py"
        planted.write_text('def f():\n    """Say."""\n' + "    x = 1\n" * 41)
        assert dict(functions(planted)) == {"f": 41}
