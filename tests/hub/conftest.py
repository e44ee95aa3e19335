"""One hub for all tests of this folder: `make hub`, real sign-in, two real accounts."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from class_parts import hub as hubs
from class_parts.visitor import Visitor

from tests.hub import accounts
from tests.serving import ROOT

ROOT_ONLY = "two learners need two accounts of this machine, and only root can make them"
NO_NPM = "no npm on the path, which brings the hub's proxy; Debian: apt-get install npm"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what this folder holds, before `-m` chooses; the hook is handed all tests."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("hub")


def without(reason):
    """Skip, saying why; or fail where a hub is required."""
    (pytest.fail if os.environ.get("ATTNLIB_REQUIRE_HUB") == "1" else pytest.skip)(reason)


@pytest.fixture(scope="session")
def npm():
    if not shutil.which("npm"):
        without(NO_NPM)


@pytest.fixture(scope="package")
def installed(npm):
    """A clone that learners can read."""
    if os.geteuid() != 0 or not shutil.which("useradd"):
        without(ROOT_ONLY)
    with accounts.installation() as made:
        yield made


@pytest.fixture(scope="package")
def people(installed):
    """Two learners with accounts and passwords, in one group; Eve has an account and is in none."""
    with contextlib.ExitStack() as stack:
        ada, ben, eve = (stack.enter_context(accounts.learner(installed.homes)) for _ in range(3))
        course = stack.enter_context(accounts.group(ada.name, ben.name))
        yield SimpleNamespace(ada=ada, ben=ben, eve=eve, course=course)


@pytest.fixture(scope="package")
def hub(installed, people, tmp_path_factory):
    """The hub as `make hub` starts it, on a port of its own."""
    state = tmp_path_factory.mktemp("hub") / "state"
    command = ["make", "hub", f"VENV={installed.venv}"]
    told = {**installed.environ, "HUB_GROUP": people.course}
    with hubs.running(state, command, installed.clone, **told) as running:
        yield SimpleNamespace(**vars(running), state=state, source=installed.clone / "notebooks")


@pytest.fixture(scope="package")
def trying_out(npm, tmp_path_factory):
    """A hub that lets in any name, as somebody starts it who only wants to look."""
    if not hubs.PROXY.exists():
        subprocess.run(["make", str(hubs.PROXY.relative_to(ROOT))], cwd=ROOT, check=True)
    told = {"HUB_SIGN_IN": "dummy", "HUB_ALLOW_ROOT": "1"}
    with hubs.running(tmp_path_factory.mktemp("dummy") / "state", **told) as running:
        yield running


@contextlib.contextmanager
def arrived(hub, person):
    """One learner who has signed in, started the server, and opened a chapter with its kernel."""
    visitor = Visitor(hub.url, person.name)
    try:
        assert visitor.sign_in(person.password)
        page = visitor.start_server()
        kernel = visitor.start_kernel()
        yield SimpleNamespace(person=person, visitor=visitor, page=page, kernel=kernel)
    finally:
        visitor.close()


@pytest.fixture(scope="package")
def ada(hub, people):
    """The learner to whom things happen."""
    with arrived(hub, people.ada) as learner:
        yield learner


@pytest.fixture(scope="package")
def ben(hub, people):
    """The learner who must not notice."""
    with arrived(hub, people.ben) as learner:
        yield learner
