"""The pins: one list of exact versions, and the environment files that repeat it."""

import subprocess
import tomllib
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import pins

ROOT = Path(__file__).resolve().parents[1]

# In two halves, or this very file would hold one.
REGISTRIES = [
    f"{name}.{domain}"
    for name, domain in [
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("anaconda", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("deb.debian", "org"),
    ]
]
INDEX_OPTIONS = ["--index" + "-url", "--extra-index" + "-url", "--find" + "-links"]


def committed_files():
    """Return what is or would be committed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = (ROOT / name for name in listed.stdout.split("\0") if name)
    return [path for path in paths if path.is_file()]


def registries_named_in(path):
    """Return the registries and index options that a file names."""
    text = path.read_bytes().decode("utf-8", errors="replace").lower()
    return [word for word in REGISTRIES + INDEX_OPTIONS if word in text]


def names(lines):
    """Return the canonical names of the packages in requirement lines."""
    return {canonicalize_name(Requirement(line).name) for line in lines}


class TestConstraints:
    constraints = pins.read_constraints()

    def test_every_line_is_one_exact_version(self):
        for line in self.constraints.values():
            (version,) = Requirement(line).specifier
            assert version.operator == "=="
            assert "*" not in version.version

    def test_the_list_is_sorted_and_has_each_package_once(self):
        lines = pins.CONSTRAINTS.read_text().splitlines()
        assert list(self.constraints) == sorted(self.constraints)
        assert len(lines) == len(self.constraints)

    def test_the_versions_that_render_widgets_everywhere_are_kept(self):
        for pin in [
            "ipywidgets==8.1.8",
            "widgetsnbextension==4.0.15",
            "jupyterlab-widgets==3.0.16",
            "nbval==0.11.0",
        ]:
            assert pin in self.constraints.values()

    def test_everything_that_is_needed_on_any_system_is_pinned_and_nothing_else(self):
        needed = set(pins.ALONE)
        for platform in pins.PLATFORMS:
            for python in pins.PYTHONS:
                needed |= pins.requirements(pins.EVERYTHING, platform, python)
        # What only another Python needs may be missing here, with all that it needs in turn.
        assert needed <= set(self.constraints)
        installed_here = set(self.constraints) - needed
        assert not installed_here, "pinned and needed by nothing: run pins.py write"

    def test_what_runs_here_is_what_is_pinned(self):
        for name, line in self.constraints.items():
            pin = Requirement(line)
            if name != "torch" and (pin.marker is None or pin.marker.evaluate()):
                assert pins.metadata.version(name) in pin.specifier, line

    def test_the_project_itself_names_lower_bounds_only(self):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        extras = project["optional-dependencies"].values()
        for line in [*project["dependencies"], *(line for extra in extras for line in extra)]:
            operators = {part.operator for part in Requirement(line).specifier}
            assert operators <= {">=", "!="}, line


class TestEnvironmentFiles:
    def test_both_files_are_the_same(self):
        root, binder = pins.ENVIRONMENTS
        assert root.read_bytes() == binder.read_bytes()

    def test_conda_brings_only_python_and_pip(self):
        environment = yaml.safe_load(pins.ENVIRONMENTS[0].read_text())
        *from_conda, from_pip = environment["dependencies"]
        assert environment["name"] == "attnlib"
        assert environment["channels"] == ["conda-forge"]
        assert from_conda == ["python=3.12", "pip"]
        assert list(from_pip) == ["pip"]

    def test_the_script_reads_the_pip_section_that_conda_reads(self):
        environment = yaml.safe_load(pins.ENVIRONMENTS[1].read_text())
        assert pins.read_environment() == environment["dependencies"][-1]["pip"]

    def test_every_pin_is_the_one_of_the_constraints(self):
        assert set(pins.read_environment()) <= set(pins.read_constraints().values())

    @pytest.mark.parametrize("platform", pins.PLATFORMS)
    def test_nothing_that_the_notebooks_and_their_tests_need_is_missing(self, platform):
        needed = pins.requirements(pins.NOTEBOOKS, platform, "3.12")
        assert needed - names(pins.read_environment()) == set()

    def test_it_is_what_the_script_would_write(self):
        assert pins.ENVIRONMENTS[0].read_text() == pins.environment_text(pins.read_constraints())

    def test_the_package_itself_is_not_in_the_file(self):
        assert all("-e" not in line.split() for line in pins.read_environment())
        assert "attnlib" not in names(pins.read_environment())


class TestRequirements:
    def test_what_the_requirements_need_in_turn_is_followed(self):
        found = pins.requirements(("test",), "linux", "3.12")
        assert {"numpy", "pytest", "pluggy", "nbval", "ipykernel", "pyzmq"} <= found
        assert "ruff" not in found

    def test_markers_are_read_for_the_system_asked_about(self):
        assert "pexpect" in pins.requirements(("lab",), "linux", "3.12")
        assert "pexpect" not in pins.requirements(("lab",), "win32", "3.12")
        assert "pywinpty" in pins.requirements(("lab",), "win32", "3.12")

    def test_a_file_without_pins_is_refused_with_the_mend(self, tmp_path):
        empty = tmp_path / "environment.yml"
        empty.write_text("dependencies:\n  - pip\n")
        with pytest.raises(SystemExit, match=r"found none; run pins\.py write"):
            pins.read_environment(empty)


def too_new_for(python, distributions):
    """The installed packages that refuse this Python."""
    return [
        f"{each.metadata['Name']} {each.version} wants Python {wanted}"
        for each in distributions
        if (wanted := each.metadata["Requires-Python"])
        and not SpecifierSet(wanted).contains(python)
    ]


class TestTheOldestPython:
    # What the Makefile takes, and Debian 12 has 3.11.2: a pin must not want a later 3.11.
    OLDEST = "3.11.0"

    def test_every_pin_can_be_installed_on_it(self):
        names = pins.requirements(pins.EVERYTHING, "linux", "3.11")
        found = [metadata.distribution(name) for name in names]
        assert len(found) > 100
        assert too_new_for(self.OLDEST, found) == []

    def test_a_pin_that_wants_a_later_one_would_be_named(self):
        wanting = SimpleNamespace(
            metadata={"Name": "soup", "Requires-Python": ">=3.11.5"}, version="4"
        )
        assert too_new_for(self.OLDEST, [wanting]) == ["soup 4 wants Python >=3.11.5"]


class TestRegistries:
    def test_no_committed_file_names_a_registry(self):
        files = committed_files()
        assert ROOT / "constraints.txt" in files
        assert {path: found for path in files if (found := registries_named_in(path))} == {}

    @pytest.mark.parametrize("word", REGISTRIES + INDEX_OPTIONS)
    def test_a_file_that_names_one_is_found(self, tmp_path, word):
        planted = tmp_path / "pins.txt"
        planted.write_text(f"numpy==2.0 # from {word}\n")
        assert word in registries_named_in(planted)
