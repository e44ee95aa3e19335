"""The values for Kubernetes: read for what must be in them, for there is no cluster to try."""

import re

import yaml

from tests.serving import ROOT

FOLDER = ROOT / "deploy" / "kubernetes"
VALUES = yaml.safe_load((FOLDER / "values.yaml").read_text())
README = (FOLDER / "README.md").read_text()
LEARNER = VALUES["singleuser"]
UNITS = {"M": 10**6, "Mi": 2**20, "G": 10**9, "Gi": 2**30}


def size(text):
    """Bytes of a size such as 256M."""
    number, unit = re.fullmatch(r"(\d+)(\w+)", text).groups()
    return int(number) * UNITS[unit]


class TestTheImage:
    def test_it_is_named_by_placeholders_that_the_text_explains(self):
        image = LEARNER["image"]
        assert (image["name"], image["tag"]) == ("REGISTRY/attnlib", "VERSION")
        assert README.count("REGISTRY/attnlib:VERSION") >= 3

    def test_it_is_on_every_node_before_a_learner_comes(self):
        assert VALUES["prePuller"]["hook"]["enabled"] is True
        assert VALUES["prePuller"]["continuous"]["enabled"] is True

    def test_servers_start_as_they_do_on_one_machine(self):
        folder = re.search(r"--target-repo-dir (\S+)", README)[1]
        python, program = LEARNER["cmd"]
        assert python == "python3"
        assert program.startswith(f"{folder}/")
        assert (ROOT / program.removeprefix(f"{folder}/")).is_file()

    def test_the_learners_disk_hides_none_of_it(self):
        home, folder = LEARNER["storage"]["homeMountPath"], LEARNER["extraEnv"]["HUB_NOTEBOOKS"]
        assert not folder.startswith(home)
        assert not LEARNER["cmd"][1].startswith(home)
        assert VALUES["hub"]["config"]["KubeSpawner"]["notebook_dir"] == f"{home}/attnlib"

    def test_the_first_page_is_there(self):
        name = LEARNER["defaultUrl"].removeprefix("/lab/tree/")
        assert (ROOT / name).is_file()


class TestLimits:
    def test_memory_and_processors_are_guaranteed_and_limited(self):
        memory, cpu = LEARNER["memory"], LEARNER["cpu"]
        # The most that a learner with one chapter run may take is guaranteed.
        assert 256e6 <= size(memory["guarantee"]) < size(memory["limit"])
        assert 0 < cpu["guarantee"] < cpu["limit"]

    def test_a_learner_keeps_what_they_wrote(self):
        assert LEARNER["storage"]["type"] == "dynamic"
        assert size(LEARNER["storage"]["capacity"]) >= 2**29

    def test_idle_servers_end(self):
        assert VALUES["cull"]["enabled"] is True
        assert VALUES["cull"]["every"] < VALUES["cull"]["timeout"] <= 3600


class TestSafety:
    def test_nobody_can_sign_in_until_somebody_says_who(self):
        config = VALUES["hub"]["config"]
        assert config["JupyterHub"]["authenticator_class"] == "null"
        assert "nobody can" in README

    def test_nothing_is_open_to_the_world_until_somebody_says_so(self):
        assert VALUES["proxy"]["service"]["type"] == "ClusterIP"

    def test_learners_reach_neither_each_other_nor_the_clouds_settings(self):
        assert LEARNER["networkPolicy"]["enabled"] is True
        assert LEARNER["cloudMetadata"]["blockWithIptables"] is True

    def test_there_is_no_secret_in_it(self):
        text = (FOLDER / "values.yaml").read_text().lower()
        assert not re.search("(password|secret|token) *:", text)

    def test_the_text_says_what_was_not_tried(self):
        assert "Not tried:" in README
