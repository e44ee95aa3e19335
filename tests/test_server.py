"""The prompt wire: kernel websockets that don't wait, whatever class a server has for them."""

import asyncio
import json
import logging
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from tornado.websocket import websocket_connect

from attnlib import server
from tests.serving import ROOT, ask, environment, serving

SETTING = "kernel_websocket_connection_class"


class Socket:
    """A websocket handler that remembers what was set on it."""

    def __init__(self):
        self.heard = []

    def set_nodelay(self, value):
        self.heard.append(value)


class Connection:
    """A class of kernel connections, as a server or a kernel gateway has one."""

    log = logging.getLogger("a server")

    def __init__(self, websocket_handler):
        self.websocket_handler = websocket_handler

    def connect(self):
        self.websocket_handler.heard.append("connected")
        return "the class's own result"


class Gateway(Connection):
    async def connect(self):
        await asyncio.sleep(0)
        return Connection.connect(self)


def loaded(settings):
    """The settings of a server after the extension is loaded."""
    app = SimpleNamespace(web_app=SimpleNamespace(settings=settings), log=logging.getLogger("app"))
    server._load_jupyter_server_extension(app)
    return settings


def loaded_over(connection_class):
    """The server's class of connections after the extension is loaded."""
    return loaded({SETTING: connection_class})[SETTING]


class TestTheSetting:
    @pytest.mark.parametrize("stands_there", [Connection, Gateway])
    def test_it_becomes_a_subclass_of_what_stands_there(self, stands_there):
        found = loaded_over(stands_there)
        assert found is not stands_there
        assert issubclass(found, stands_there)

    def test_loading_twice_is_loading_once(self):
        once = loaded_over(Connection)
        assert loaded_over(once) is once

    def test_a_server_without_it_is_left_alone(self, caplog):
        with caplog.at_level(logging.DEBUG):
            assert loaded({}) == {}
            assert loaded({SETTING: None}) == {SETTING: None}
        assert {record.levelname for record in caplog.records} == {"DEBUG"}
        assert "nothing to set" in caplog.text

    def test_what_is_configured_for_the_class_holds_for_the_subclass(self):
        own = ZMQChannelsWebsocketConnection.section_names()
        assert server.prompt(ZMQChannelsWebsocketConnection).section_names()[:-1] == own


class TestConnecting:
    def test_waiting_ends_before_the_class_connects(self):
        socket = Socket()
        loaded_over(Connection)(socket).connect()
        assert socket.heard == [True, "connected"]

    def test_the_result_is_that_of_the_class(self):
        assert loaded_over(Connection)(Socket()).connect() == "the class's own result"

    def test_a_coroutine_is_awaited_by_who_called(self):
        socket = Socket()
        result = loaded_over(Gateway)(socket).connect()
        assert socket.heard == [True]
        assert asyncio.run(result) == "the class's own result"
        assert socket.heard == [True, "connected"]

    def test_a_handler_that_has_no_such_switch_connects_all_the_same(self, caplog):
        handler = SimpleNamespace(heard=[])
        with caplog.at_level(logging.DEBUG):
            loaded_over(Connection)(handler).connect()
        assert handler.heard == ["connected"]
        assert [record.levelname for record in caplog.records] == ["DEBUG"]
        assert "set_nodelay" in caplog.text

    def test_a_socket_that_is_gone_is_left_to_the_class(self, caplog):
        def gone(value):
            raise OSError("bad file descriptor")

        socket = Socket()
        socket.set_nodelay = gone
        with caplog.at_level(logging.DEBUG):
            loaded_over(Connection)(socket).connect()
        assert socket.heard == ["connected"]


async def nodelay_while_connected(url, token, kernel):
    """Open a kernel's websocket as a browser does, and ask the server about its end of it."""
    address = f"{url.replace('http', 'ws', 1)}api/kernels/{kernel}/channels"
    connection = await websocket_connect(f"{address}?session_id=a&token={token}")
    try:
        header = {"msg_id": "1", "msg_type": "kernel_info_request", "session": "a"}
        header["version"] = "5.3"
        question = {"header": header, "parent_header": {}, "metadata": {}, "content": {}}
        await connection.write_message(json.dumps({**question, "channel": "shell"}))
        kind = None
        while kind != "kernel_info_reply":
            kind = json.loads(await connection.read_message())["header"]["msg_type"]
        answer = await asyncio.to_thread(ask, url, "nodelay", token)
    finally:
        connection.close()
        # The socket is closed only when the server has agreed.
        while await connection.read_message() is not None:
            pass
    return answer["nodelay"]


def nodelay_in_a_real_server(folder, *options):
    """What a server that is told nothing but `options` sets, and what it logs."""
    probe = "--ServerApp.jpserver_extensions=tests.nodelay_probe=True"
    folder.mkdir()
    with serving("jupyter_server", folder, folder, probe, *options) as running:
        kernel = ask(running.url, "api/kernels", running.token, method="POST")["id"]
        found = asyncio.run(nodelay_while_connected(running.url, running.token, kernel))
        ask(running.url, f"api/kernels/{kernel}", running.token, method="DELETE")
        return found, running.log.read_text()


def said_of_extensions(home, *command):
    """What `jupyter server extension` says, without its colours."""
    done = subprocess.run(
        [sys.executable, "-m", "jupyter_server.extension.serverextension", *command],
        env=environment(home),
        capture_output=True,
        text=True,
        check=True,
    )
    return re.sub(r"\x1b\[\d+m", "", done.stdout + done.stderr)


class TestARealServer:
    def test_the_kernels_websocket_does_not_wait(self, tmp_path):
        found, log = nodelay_in_a_real_server(tmp_path / "prompt")
        assert "attnlib.server | extension was successfully loaded." in log
        assert found == [True]

    def test_turned_off_it_waits_as_before(self, tmp_path):
        off = "--ServerApp.jpserver_extensions=attnlib.server=False"
        found, log = nodelay_in_a_real_server(tmp_path / "stock", off)
        assert "attnlib.server | extension was successfully loaded." not in log
        assert found == [False]

    def test_the_package_brings_the_setting_that_turns_it_on(self, tmp_path):
        assert "attnlib.server enabled" in said_of_extensions(tmp_path, "list")

    def test_one_command_turns_it_off_and_on(self, tmp_path):
        # The same file, but where turning it off leaves the environment of these tests alone.
        shutil.copytree(ROOT / "etc" / "jupyter", tmp_path / "config")
        for command, off in (("disable", True), ("enable", False)):
            said_of_extensions(tmp_path, command, "--user", "attnlib.server")
            assert ("attnlib.server disabled" in said_of_extensions(tmp_path, "list")) == off
