# twinsift: `make` lists what can be made.
# Needs make, git and Python 3.11-3.13 with pip and venv; `PYTHON=/path/to/python` chooses one.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test check lock FORCE

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

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' Makefile

run: $(STAMP) ## serve on 127.0.0.1:8000 with an embedded store, its data in ./data
	@exec $(BIN)/python -m service.cli serve --example

test: $(STAMP) ## all tests, with branch coverage
	@$(BIN)/python -m pytest --cov --cov-report=term

check: $(STAMP) ## lint, format and types
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy

lock: $(STAMP) ## write requirements*.txt anew from pyproject.toml (UPGRADE=1: to the newest releases)
	@set -e; compile() { $(BIN)/python -m uv --quiet pip compile pyproject.toml --universal \
		--python-version 3.11 --generate-hashes --no-annotate --no-config --custom-compile-command 'make lock' \
		$(if $(UPGRADE),--upgrade) --extra embedded "$$@" >/dev/null; }; \
	compile --output-file requirements.txt; \
	compile --group dev --constraint requirements.txt --output-file requirements-dev.txt

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
