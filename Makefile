# twinsift: `make` lists what can be made.
# Needs make, git and Python 3.11-3.13 with pip and venv; `PYTHON=/path/to/python` chooses one.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run demo test test-recipes test-browser screenshots chromium coverage soak check check-deploy sbom lock bench bench-large bench-cluster profile \
	FORCE

ifeq ($(wildcard pyproject.toml),)
$(error run make in the directory of twinsift, or as `make -C DIRECTORY`)
endif

# All paths are relative, so that the directory's own may hold anything, spaces too.
VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.complete
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# The stamp names the directory that the venv was made in: moved or copied, it is made anew.
# So it is where PYTHON asks for another version than the venv has.
VERSION := -c 'import sys; print(sys.version_info[:2])'
STALE := $(shell test "$$(cat $(STAMP) 2>/dev/null)" = "$$(pwd -P)" || echo FORCE)
ifdef PYTHON
STALE += $(shell test "$$($(BIN)/python $(VERSION) 2>&1)" = "$$('$(PYTHON)' $(VERSION) 2>&1)" || echo FORCE)
endif

# `make bench` has a venv of its own, so that the one of `make test` stays small.
BENCH_VENV  := .venv-bench
BENCH_STAMP := $(BENCH_VENV)/.complete
BENCH_STALE := $(shell test "$$(cat $(BENCH_STAMP) 2>/dev/null)" = "$$(pwd -P)" || echo FORCE)

# So have the tools that check what is in deploy/: nothing of twinsift is in it.
DEPLOY_VENV  := .venv-deploy
DEPLOY_STAMP := $(DEPLOY_VENV)/.complete
DEPLOY_STALE := $(shell test "$$(cat $(DEPLOY_STAMP) 2>/dev/null)" = "$$(pwd -P)" || echo FORCE)

# So has `make test-recipes`, with the libraries that docs/recipes/ is written for.
RECIPES_VENV  := .venv-recipes
RECIPES_STAMP := $(RECIPES_VENV)/.complete
RECIPES_STALE := $(shell test "$$(cat $(RECIPES_STAMP) 2>/dev/null)" = "$$(pwd -P)" || echo FORCE)

# So have the browser tests and the screenshots, with what drives the Chromium that is installed.
BROWSER_VENV  := .venv-browser
BROWSER_STAMP := $(BROWSER_VENV)/.complete
BROWSER_STALE := $(shell test "$$(cat $(BROWSER_STAMP) 2>/dev/null)" = "$$(pwd -P)" || echo FORCE)
CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)

# The first interpreter that runs and is of a version that the locks cover.
define FIND_PYTHON
for python in '$(or $(PYTHON),python3.13)' $(if $(PYTHON),,python3.12 python3.11 python3); do \
	if "$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; \
	then found=$$python; break; fi; \
done; \
if [ -z "$$found" ]; then \
	echo "make: no Python 3.11, 3.12 or 3.13 found$(if $(PYTHON), as $(PYTHON)): install one, or name it with PYTHON=/path/to/python" >&2; exit 1; \
fi; \
if ! "$$found" -c 'import venv, ensurepip' 2>/dev/null; then \
	echo "make: $$found has no venv module with pip: install it (on Debian the package python3-venv)" >&2; exit 1; \
fi
endef

# A venv of its own with the packages of one lock.
define MAKE_VENV
$(FIND_PYTHON); set -e; \
rm -rf $(1); \
echo "making $(1) with $$found"; \
"$$found" -m venv $(1); \
echo '*' >$(1)/.gitignore; \
$(1)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(2) || { \
	echo "make: the packages could not be installed (see above; is a package index reachable?)" >&2; exit 1; }; \
pwd -P >$(1)/.complete
endef

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

run: $(STAMP) ## serve on 127.0.0.1:8000 with an embedded store, its data in ./data
	@exec $(BIN)/python -m service.cli serve --example

demo: $(STAMP) ## a service with texts to look at under /review, on a free port, until Ctrl-C
	@exec $(BIN)/python -m demo

# As many at once as there are cores, a file by one of them: more than four only wait for each other.
# Directory by directory: those that start services come first, so that none is alone in the end.
test: $(STAMP) ## all tests
	@$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

coverage: $(STAMP) ## all tests, with branch coverage: takes half as long again
	@$(BIN)/python -m pytest --cov --cov-report=term

soak: $(STAMP) ## the tests under fire, of the store (on a cluster too), of hostile input and openapi.yaml, all long
	@SOAK=1 $(BIN)/python -m pytest tests/fire tests/store tests/model tests/e2e/test_hostile.py tests/e2e/test_openapi.py

check: $(STAMP) ## lint, format and types
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy

check-deploy: $(STAMP) $(DEPLOY_STAMP) ## the image, manifests, alerts and dashboard, without Docker or a cluster
	@PATH="$(CURDIR)/$(DEPLOY_VENV)/bin:$$PATH" PYTHON='$(CURDIR)/$(BIN)/python' sh deploy/check.sh
	@$(BIN)/python -m pytest --quiet tests/deploy/test_watching.py tests/deploy/test_guide.py

sbom: $(DEPLOY_STAMP) ## what the service is made of, package by package, as CycloneDX: sbom.json
	@$(DEPLOY_VENV)/bin/cyclonedx-py requirements requirements.txt --output-reproducible \
		--output-format JSON --output-file sbom.json
	@echo "sbom.json is written"

lock: $(STAMP) ## write requirements*.txt anew from pyproject.toml (UPGRADE=1: to the newest releases)
	@set -e; compile() { $(BIN)/python -m uv --quiet pip compile --universal \
		--python-version 3.11 --generate-hashes --no-annotate --no-config --custom-compile-command 'make lock' \
		$(if $(UPGRADE),--upgrade) "$$@" >/dev/null; }; \
	service() { compile pyproject.toml --extra embedded "$$@"; }; \
	service --output-file requirements.txt; \
	service --group dev --constraint requirements.txt --output-file requirements-dev.txt; \
	service --group bench --constraint requirements.txt --output-file requirements-bench.txt; \
	service --group browser --constraint requirements.txt --output-file requirements-browser.txt; \
	service --group recipes --constraint requirements.txt --output-file requirements-recipes.txt; \
	compile --group deploy --output-file requirements-deploy.txt

# `make bench DATA=DIRECTORY` posts real texts: the directory holds descriptions-5k.jsonl, one
# {"id": …, "text": …} a line. Without it made-up texts stand in, and the results say so.
bench: $(BENCH_STAMP) ## all measurements, into bench/RESULTS.md: about 20 minutes (DATA=DIRECTORY)
	@$(BENCH_VENV)/bin/python -m bench.run $(if $(DATA),--data '$(DATA)')

bench-large: $(BENCH_STAMP) ## the measurements at a million documents: needs 4 GiB, an hour at most
	@$(BENCH_VENV)/bin/python -m bench.run --large

bench-cluster: $(BENCH_STAMP) ## what 1, 2 and 3 primaries give: the CPU time of each node of real clusters
	@$(BENCH_VENV)/bin/python -m bench.cluster

profile: $(BENCH_STAMP) ## where the microseconds of one check go
	@$(BENCH_VENV)/bin/python -m bench.check_profile

BROWSER := CHROMIUM='$(CHROMIUM)' $(BROWSER_VENV)/bin/python

chromium:
	@test -n '$(CHROMIUM)' || { echo "make: no Chromium found: install it (on Debian the package chromium), or name it with CHROMIUM=/path/to/chromium" >&2; exit 1; }

# Its tests have fixtures of their own, and none of those that need what only .venv has.
test-browser: chromium $(BROWSER_STAMP) ## the pages of /review in a headless Chromium, which must be installed
	@$(BROWSER) -m pytest --confcutdir tests/browser tests/browser

screenshots: chromium $(BROWSER_STAMP) ## docs/screenshots/: the pages of /review as `make demo` fills them
	@$(BROWSER) -m demo.screenshots

test-recipes: $(RECIPES_STAMP) ## the recipes of docs/recipes/ with the real libraries (360 MB)
	@PYTHONPATH=docs/recipes $(RECIPES_VENV)/bin/python -m pytest -W default docs/recipes

# What only some targets need; the service is run from this directory.
$(BENCH_STAMP): requirements-bench.txt $(BENCH_STALE)
	@$(call MAKE_VENV,$(BENCH_VENV),requirements-bench.txt)

$(RECIPES_STAMP): requirements-recipes.txt $(RECIPES_STALE)
	@$(call MAKE_VENV,$(RECIPES_VENV),requirements-recipes.txt)

$(BROWSER_STAMP): requirements-browser.txt $(BROWSER_STALE)
	@$(call MAKE_VENV,$(BROWSER_VENV),requirements-browser.txt)

$(DEPLOY_STAMP): requirements-deploy.txt $(DEPLOY_STALE)
	@$(call MAKE_VENV,$(DEPLOY_VENV),requirements-deploy.txt)

# Made in place where it works already, from nothing where it does not (half-made, moved, another
# Python). The stamp is written last, so a venv that was cut short is never taken for a whole one.
$(STAMP): requirements-dev.txt pyproject.toml $(STALE)
	@$(FIND_PYTHON); set -e; \
	rm -f $(STAMP); \
	if [ -n '$(strip $(STALE))' ] || ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
		echo "making $(VENV) with $$found"; \
		rm -rf $(VENV); \
		"$$found" -m venv $(VENV) || { rm -rf $(VENV); echo "make: $$found could not make a venv here (on Debian the package python3-venv)" >&2; exit 1; }; \
	fi; \
	$(PIP_INSTALL) --require-hashes -r requirements-dev.txt || { \
		echo "make: the packages could not be installed (see above; is a package index reachable?)" >&2; exit 1; }; \
	$(PIP_INSTALL) --no-deps --no-build-isolation --no-index --editable .; \
	pwd -P >$(STAMP)

FORCE:
