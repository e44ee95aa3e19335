"""The start of a learner's server, and the command that begins a chapter afresh."""

import json
import os
import subprocess
import sys

import pytest

from tests.serving import ROOT

HUB = ROOT / "deploy" / "hub"
PREPARED = """
import json, os, resource, learner
learner.prepare()
limit = resource.getrlimit(resource.RLIMIT_DATA)
print(json.dumps({"environ": dict(os.environ), "data": limit}))
"""


def run(home, *command, **environ):
    """Run a command as a hub would, for a learner with this home."""
    inherited = {name: x for name, x in os.environ.items() if not name.endswith("NUM_THREADS")}
    return subprocess.run(
        command,
        env={**inherited, "HOME": str(home), "PYTHONPATH": str(HUB), **environ},
        capture_output=True,
        text=True,
        timeout=60,
    )


def prepared(home, **environ):
    """What a learner's server finds when it starts."""
    done = run(home, sys.executable, "-c", PREPARED, **environ)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class TestPrepare:
    def test_the_chapters_are_there_and_closed_to_others(self, tmp_path):
        prepared(tmp_path)
        folder = tmp_path / "attnlib"
        names = {path.name for path in (folder / "notebooks").iterdir()}
        assert names == {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
        assert folder.stat().st_mode & 0o077 == 0

    def test_another_folder_can_be_handed_out(self, tmp_path):
        (tmp_path / "handout").mkdir()
        (tmp_path / "handout" / "01_only.ipynb").write_text("{}")
        prepared(tmp_path, HUB_NOTEBOOKS=str(tmp_path / "handout"))
        assert os.listdir(tmp_path / "attnlib" / "notebooks") == ["01_only.ipynb"]

    def test_the_limits_are_those_that_the_hub_tells(self, tmp_path):
        found = prepared(tmp_path, MEM_LIMIT=str(2**30), CPU_LIMIT="2.0")
        assert found["data"] == [2**30, 2**30]
        assert found["environ"]["OPENBLAS_NUM_THREADS"] == "2"

    def test_a_part_of_a_processor_is_one_thread(self, tmp_path):
        assert prepared(tmp_path, CPU_LIMIT="0.5")["environ"]["MKL_NUM_THREADS"] == "1"

    def test_the_command_to_begin_afresh_is_at_hand(self, tmp_path):
        path = prepared(tmp_path)["environ"]["PATH"].split(os.pathsep)
        assert str(HUB / "bin") in path[:2]

    def test_a_home_that_can_t_be_written_is_told_in_a_line(self, tmp_path):
        (tmp_path / "home").write_text("a file, not a folder")
        done = run(tmp_path / "home", sys.executable, str(HUB / "learner.py"))
        assert done.returncode == 1
        assert "attnlib could not be prepared" in done.stderr
        assert "Traceback" not in done.stderr


class TestAfresh:
    def test_it_says_what_came_and_where_the_old_file_went(self, tmp_path):
        prepared(tmp_path)
        mine = tmp_path / "attnlib" / "notebooks" / "05_send_gradients_back.ipynb"
        mine.write_text("mine")
        done = run(tmp_path, sys.executable, str(HUB / "bin" / "afresh"), "05")
        assert "05_send_gradients_back.ipynb is as it was handed out" in done.stdout
        kept = done.stdout.rpartition("kept as ")[2].strip().rstrip(".")
        assert (mine.parent / kept).read_text() == "mine"
        assert mine.read_bytes() == (ROOT / "notebooks" / mine.name).read_bytes()

    @pytest.mark.parametrize("asked", [(), ("--help",), ("05", "06"), ("99",)])
    def test_what_it_can_t_do_it_says_and_touches_nothing(self, tmp_path, asked):
        prepared(tmp_path)
        before = sorted(os.listdir(tmp_path / "attnlib" / "notebooks"))
        done = run(tmp_path, sys.executable, str(HUB / "bin" / "afresh"), *asked)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert "05" in done.stderr
        assert sorted(os.listdir(tmp_path / "attnlib" / "notebooks")) == before
