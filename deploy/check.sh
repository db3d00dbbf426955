#!/bin/sh
# Checks what is in deploy/, and the Dockerfile, without Docker and without a cluster. `make check-deploy`
# runs it, with the tools of .venv-deploy on PATH and the interpreter of .venv as PYTHON. promtool is
# no Python package: without one on PATH its checks are left out, and the last line says so.
set -eu
cd -- "$(dirname -- "$0")/.."

made=$(mktemp -d "${TMPDIR:-/tmp}/twinsift-deploy.XXXXXX")
trap 'rm -rf -- "$made"' EXIT

# What the tools say is shown only where one of them finds fault.
run() {
    if ! "$@" >"$made/said" 2>&1; then
        cat "$made/said" >&2
        echo "check-deploy: failed: $*" >&2
        exit 1
    fi
}

run hadolint Dockerfile
for script in deploy/*.sh; do run sh -n "$script"; done
run check-jsonschema --builtin-schema vendor.compose-spec deploy/compose.yaml

# The examples are the base with all that it needs.
for overlay in example cluster; do
    kubectl kustomize "deploy/kubernetes/$overlay" >"$made/$overlay.yaml"
    run kubernetes-validate --strict "$made/$overlay.yaml"
done

if ! command -v promtool >/dev/null; then
    echo "check-deploy: SKIPPED: alerts and the dashboard's queries, as there is no promtool on PATH (on Debian: the package prometheus)" >&2
    exit 0
fi
"$PYTHON" -m tests.deploy.watched >"$made/dashboard.yaml" # its queries, as rules
run promtool check rules deploy/prometheus/alerts.yml "$made/dashboard.yaml"
run promtool test rules deploy/prometheus/alerts_test.yml
for config in prometheus kubernetes; do
    run promtool check config --syntax-only "deploy/prometheus/$config.yml"
done
