"""Two accounts of this machine at one hub: what each has, and what the other can't reach."""

import json
import re
from pathlib import Path

import pytest
import requests
import websocket
from class_parts.visitor import Kernel, Visitor
from jupyter_client import KernelManager

CHAPTER = "05_send_gradients_back.ipynb"


def written(visitor, name, text):
    """Save a notebook with one sentence in it, as JupyterLab would."""
    cell = {"cell_type": "markdown", "id": "mine", "metadata": {}, "source": text}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    answer = visitor.ask(
        f"api/contents/notebooks/{name}", "PUT", json={"type": "notebook", "content": notebook}
    )
    assert answer.ok, answer.text


def read(visitor, name):
    """The text of a notebook's first cell."""
    answer = visitor.ask(f"api/contents/notebooks/{name}")
    assert answer.ok, answer.text
    return answer.json()["content"]["cells"][0]["source"]


def tried(learner, code):
    """What a learner's kernel says when it runs this and prints what it met."""
    lines = "\n    ".join(code.splitlines())
    said, _ = learner.kernel.run(f"try:\n    {lines}\nexcept Exception as e:\n    print(repr(e))")
    return said.strip()


class TestSigningIn:
    def test_a_wrong_password_is_refused(self, hub, people):
        assert not Visitor(hub.url, people.ada.name).sign_in("not this one")

    def test_root_is_refused(self, hub):
        assert not Visitor(hub.url, "root").sign_in("")

    def test_an_account_outside_of_the_group_is_refused(self, hub, people):
        assert not Visitor(hub.url, people.eve.name).sign_in(people.eve.password)

    def test_nothing_warns_of_a_dummy(self, hub):
        assert "Only for trying out" not in requests.get(f"{hub.url}/hub/login").text


class TestOnesOwn:
    def test_jupyterlab_opens_on_the_first_page(self, ada):
        assert ada.page.url.endswith("/lab/tree/notebooks/00_start_here.ipynb")

    def test_no_button_leads_to_what_is_not_loaded(self, ada):
        config = re.search(r'id="jupyter-config-data"[^>]*>(.*?)</script', ada.page.text, re.DOTALL)
        off = set(json.loads(config[1])["disabledExtensions"])
        assert {"@jupyter-notebook/lab-extension", "@voila-dashboards/jupyterlab-preview"} <= off

    def test_each_has_every_chapter_as_it_was_handed_out(self, hub, ada, ben):
        for learner in (ada, ben):
            mine = learner.person.home / "attnlib" / "notebooks"
            for chapter in hub.source.glob("*.ipynb"):
                assert (mine / chapter.name).read_bytes() == chapter.read_bytes()

    def test_an_edit_stays_with_who_made_it(self, hub, ada, ben):
        before = (hub.source / CHAPTER).read_bytes()
        written(ada.visitor, CHAPTER, "Ada was here.")
        assert read(ada.visitor, CHAPTER) == "Ada was here."
        assert (hub.source / CHAPTER).read_bytes() == before
        assert (ben.person.home / "attnlib" / "notebooks" / CHAPTER).read_bytes() == before

    def test_the_source_can_t_be_written_by_a_learner(self, hub, ada):
        said = tried(ada, f"open({str(hub.source / CHAPTER)!r}, 'a')")
        assert said.startswith("PermissionError")

    def test_a_chapter_is_begun_afresh_by_one_command_and_the_old_one_kept(self, hub, ada):
        written(ada.visitor, CHAPTER, "Worth keeping.")
        said, _ = ada.kernel.run(
            "import subprocess\n"
            "print(subprocess.run(['afresh', '05'], capture_output=True, text=True).stdout)"
        )
        kept = re.search(r"kept as (\S+_kept_\S+\.ipynb)\.", said)[1]
        mine = ada.person.home / "attnlib" / "notebooks"
        assert (mine / CHAPTER).read_bytes() == (hub.source / CHAPTER).read_bytes()
        assert read(ada.visitor, kept) == "Worth keeping."

    def test_the_limits_are_the_kernels_too(self, ada):
        said, _ = ada.kernel.run(
            "import os, resource\n"
            "print(resource.getrlimit(resource.RLIMIT_DATA)[1], os.environ['OMP_NUM_THREADS'])"
        )
        assert said.split() == [str(1024**3), "1"]

    def test_idle_kernels_and_servers_are_looked_for(self, hub, ada):
        log = hub.log.read_text()
        assert "Culling kernels with idle durations > 3600 seconds" in log
        assert re.search(r" 200 GET /hub/api/users\S* \(idle-culler@", log)

    def test_too_large_an_array_leaves_the_kernel_alive(self, ada):
        assert "MemoryError" in tried(ada, "import numpy\nnumpy.ones(400_000_000)")
        assert ada.kernel.run("print('alive')")[0].strip() == "alive"

    def test_the_prompt_wire_is_on(self, hub, ada):
        assert "attnlib.server | extension was successfully loaded" in hub.log.read_text()


class TestTheOthers:
    def test_files_can_t_be_read_written_or_listed(self, ada, ben):
        theirs = ben.person.home / "attnlib"
        sockets, _ = ben.kernel.run("import os; print(os.environ['JUPYTER_RUNTIME_DIR'])")
        for attempt in (
            f"print(open({str(theirs / 'notebooks' / CHAPTER)!r}).read())",
            f"open({str(theirs / 'notebooks' / 'planted.ipynb')!r}, 'w')",
            f"import os; print(os.listdir({str(theirs)!r}))",
            f"import os; print(os.listdir({sockets.strip()!r}))",
        ):
            assert tried(ada, attempt).startswith("PermissionError"), attempt

    def test_the_servers_interface_is_closed(self, hub, ada, ben):
        for path in ("api/contents/notebooks", "api/kernels", "api/sessions", "lab"):
            answer = ada.visitor.ask(path, owner=ben.person.name)
            assert answer.status_code in (403, 404), (path, answer.status_code, answer.url)

    def test_the_kernels_websocket_is_closed(self, ada, ben):
        with pytest.raises(websocket.WebSocketBadStatusException, match="403"):
            Kernel(ada.visitor, ben.kernel.id, owner=ben.person.name)

    def test_a_server_s_own_token_opens_nothing_of_the_others(self, hub, ada, ben):
        token = "import os; print(os.environ.get('JUPYTERHUB_API_TOKEN', ''))"
        headers = {"Authorization": f"token {ada.kernel.run(token)[0].strip()}"}
        for path in (
            f"/user/{ben.person.name}/api/kernels",
            f"/hub/api/users/{ben.person.name}",
            "/hub/api/proxy",
        ):
            answer = requests.get(hub.url + path, headers=headers, allow_redirects=False)
            assert answer.status_code in (403, 404), path

    def test_nobody_lists_who_else_is_there(self, hub, ada, ben):
        token = "import os; print(os.environ.get('JUPYTERHUB_API_TOKEN', ''))"
        headers = {"Authorization": f"token {ada.kernel.run(token)[0].strip()}"}
        by_token = requests.get(f"{hub.url}/hub/api/users", headers=headers)
        by_cookie = ada.visitor.session.get(f"{hub.url}/hub/api/users")
        admin = ada.visitor.session.get(f"{hub.url}/hub/admin")
        assert admin.status_code == 403
        assert ben.person.name not in by_token.text + by_cookie.text + admin.text

    def test_what_a_kernel_publishes_is_heard_on_none_of_its_ports(self, ada, ben):
        ada.kernel.run(OVERHEAR.format(ports=listening(ben.person.uid)))
        ben.kernel.run("print('only for Ben')")
        assert ada.kernel.run("thread.join(); print(heard)")[0].strip() == "[]"

    def test_a_kernel_that_publishes_on_a_port_would_be_heard(self, ada):
        loud = KernelManager()
        loud.start_kernel()
        client = loud.client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=60)
            ada.kernel.run(OVERHEAR.format(ports=[loud.iopub_port]))
            client.execute("print('for all')", reply=True, timeout=60)
            assert "for all" in ada.kernel.run("thread.join(); print(heard)")[0]
        finally:
            client.stop_channels()
            loud.shutdown_kernel(now=True)


OVERHEAR = """
import threading, time, zmq
heard = []
def overhear(ports):
    with zmq.Context() as context, context.socket(zmq.SUB) as socket:
        socket.linger = 0
        socket.subscribe(b"")
        for port in ports:
            socket.connect(f"tcp://127.0.0.1:{{port}}")
        until = time.monotonic() + 3
        while time.monotonic() < until:
            if socket.poll(100):
                heard.append(socket.recv_multipart())
thread = threading.Thread(target=overhear, args=({ports},))
thread.start()
time.sleep(1)
"""


def listening(uid):
    """The ports of loopback on which an account's processes listen."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    own = [each[1] for each in lines if each[3] == "0A" and each[7] == str(uid)]
    assert own
    return [int(address.partition(":")[2], 16) for address in own]


class TestSecrets:
    def test_no_password_or_token_stands_in_the_log(self, hub, ada, ben):
        log = hub.log.read_text()
        secrets = {ada.person.password, ben.person.password}
        for process in Path("/proc").glob("[0-9]*"):
            secrets |= _tokens(process)
        assert len(secrets) >= 5
        assert [each for each in secrets if each in log] == []
        assert re.findall(r"[?&](?:token|code)=(?!\.\.\.|\[secret\])\S+", log) == []

    def test_no_token_stands_in_an_address_that_a_learner_sees(self, ada):
        seen = [ada.page.url, *(each.url for each in ada.page.history)]
        assert [url for url in seen if "token=" in url] == []

    def test_no_secret_stands_in_a_command_line(self, hub, ada):
        for process in Path("/proc").glob("[0-9]*"):
            try:
                said = (process / "cmdline").read_text()
            except OSError:
                continue
            assert ada.person.password not in said
            assert not any(token in said for token in _tokens(process))

    def test_what_the_hub_remembers_is_closed(self, hub):
        assert hub.state.stat().st_mode & 0o077 == 0
        assert (hub.state / "cookie_secret").stat().st_mode & 0o077 == 0


def _tokens(process):
    """The secrets in a process's environment, where it is one of a hub's."""
    try:
        environ = (process / "environ").read_bytes().decode(errors="replace")
    except OSError:
        return set()
    pairs = [line.partition("=") for line in environ.split("\0")]
    named = {"JUPYTERHUB_API_TOKEN", "JPY_API_TOKEN", "CONFIGPROXY_AUTH_TOKEN"}
    return {value for name, _, value in pairs if name in named and value}
