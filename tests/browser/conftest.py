"""One Jupyter server and one Chromium for all tests in a browser.

Both end with this package: Playwright keeps an event loop running in this thread, in which other
tests could start none of their own.
"""

import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import sync_playwright

from tests.browser.pages import Notebook, lab_address, scratch_notebook
from tests.serving import ROOT, serving

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
MISSING = (
    f"no Chromium: none of {', '.join(NAMES)} is on the path; Debian: apt-get install chromium, "
    "Fedora: dnf install chromium, macOS: brew install --cask chromium"
)
SILENT = {"fetchNews": "false", "checkForUpdates": False}
# So that a test can ask the page whether its kernel is there.
EXPOSED = [f"--{app}.expose_app_in_browser=True" for app in ("LabApp", "JupyterNotebookApp")]
WINDOW = {"width": 1280, "height": 900}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what this folder holds, before `-m` chooses; the hook is handed all tests."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="package")
def chromium():
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        (pytest.fail if os.environ.get("ATTNLIB_REQUIRE_BROWSER") == "1" else pytest.skip)(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def server(tmp_path_factory, chromium):
    """JupyterLab on a copy of the notebooks, beside a scratch notebook."""
    home = tmp_path_factory.mktemp("home")
    work = home / "work"
    shutil.copytree(ROOT / "notebooks", work / "notebooks")
    scratch_notebook(work / "scratch.ipynb")
    quiet = home / "settings" / "@jupyterlab" / "apputils-extension"
    quiet.mkdir(parents=True)
    (quiet / "notification.jupyterlab-settings").write_text(json.dumps(SILENT))
    with serving("jupyterlab", work, home, *EXPOSED) as running:
        yield SimpleNamespace(**vars(running), work=work)


@pytest.fixture
def visit(chromium, server):
    """Open an address of the server in a window of its own, which closes after the test."""
    contexts = []

    def opened(path, prepare=lambda page: None):
        contexts.append(chromium.new_context(viewport=WINDOW))
        page = contexts[-1].new_page()
        prepare(page)
        page.goto(f"{server.url}{path}?token={server.token}")
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def scratch(chromium, server):
    """The scratch notebook in JupyterLab, run once; each module has a window of its own."""
    context = chromium.new_context(viewport=WINDOW)
    page = context.new_page()
    page.goto(f"{server.url}{lab_address('scratch.ipynb')}?token={server.token}")
    notebook = Notebook(page)
    notebook.run_all()
    notebook.panel()
    yield notebook
    context.close()


@pytest.fixture
def panel(scratch):
    """A fresh panel on the worked example."""
    return scratch.fresh_panel()
