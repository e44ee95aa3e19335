"""How a hub starts, and when it does not."""

import os
import shutil
import subprocess
import sys

import pytest
import requests
from class_parts.visitor import Visitor

from tests.serving import ROOT

CONFIG = "deploy/hub/jupyterhub_config.py"


def started(tmp_path, **told):
    """What a hub says that is told something it refuses."""
    done = subprocess.run(
        [sys.executable, "-m", "jupyterhub", "-f", CONFIG],
        cwd=ROOT,
        env={**os.environ, "HUB_STATE": str(tmp_path / "state"), "HUB_PORT": "18890", **told},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert not (tmp_path / "state").exists()
    return done.stdout + done.stderr


class TestRefusals:
    def test_a_dummy_sign_in_that_others_could_reach(self, tmp_path):
        said = started(tmp_path, HUB_SIGN_IN="dummy", HUB_IP="0.0.0.0", HUB_ALLOW_ROOT="1")
        assert "The hub does not start. HUB_SIGN_IN=dummy lets anybody in" in said
        assert "Traceback" not in said

    def test_passwords_in_clear(self, tmp_path):
        said = started(tmp_path, HUB_IP="0.0.0.0")
        assert "passwords would cross the network in clear" in said

    def test_without_npm_make_says_how_to_get_it(self, tmp_path):
        for name in ("sh", "awk", "make"):
            (tmp_path / name).symlink_to(shutil.which(name))
        done = subprocess.run(
            ["make", "hub"],
            cwd=ROOT,
            env={"PATH": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode != 0
        assert "apt-get install npm" in done.stderr
        assert "brew install node" in done.stderr


class TestMakeHub:
    def test_the_sign_in_page_is_there_within_a_minute(self, hub):
        assert hub.seconds < 60

    def test_it_listens_on_loopback_only(self, hub):
        port = f"{int(hub.url.rpartition(':')[2]):04X}"
        with open("/proc/net/tcp") as table:
            local = [line.split()[1] for line in table if line.split()[3] == "0A"]
        assert [each for each in local if each.endswith(f":{port}")] == [f"0100007F:{port}"]


class TestTryingOut:
    def test_the_page_and_the_log_warn(self, trying_out):
        assert "Only for trying out" in requests.get(f"{trying_out.url}/hub/login").text
        assert "Only for trying out" in trying_out.log.read_text()

    @pytest.mark.parametrize("name", ["..", "a/../../b", "", "A B"])
    def test_a_name_leads_out_of_no_folder(self, trying_out, name):
        visitor = Visitor(trying_out.url, name)
        assert not visitor.sign_in("any")
        visitor.close()
