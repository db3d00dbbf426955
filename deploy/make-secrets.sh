#!/bin/sh
# Makes what compose.yaml reads as secrets, in the directory `secrets` beside this file, once: the
# store's password, Grafana's, and two tokens with the file that has their digests: `prometheus`, which
# may read, and `ingest`, which may check. Needs no more than a shell and coreutils.
set -eu
umask 077

secrets=${1:-$(cd -- "$(dirname -- "$0")" && pwd -P)/secrets}
if [ -e "$secrets" ]; then
    echo "make-secrets.sh: $secrets is there already; nothing was changed" >&2
    exit 1
fi
mkdir -p -- "$secrets"

random() { od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n'; }
token() { # NAME FILE SCOPE
    secret=tw_$(random)
    printf '%s' "$secret" >"$secrets/$2"
    printf '[[token]]\nid = "%s"\nsha256 = "%s"\nscopes = ["%s"]\n' \
        "$1" "$(printf '%s' "$secret" | sha256sum | cut -d ' ' -f 1)" "$3" >>"$secrets/tokens.toml"
}

random >"$secrets/store_password"
random >"$secrets/grafana_password"
token prometheus metrics_token read
token ingest ingest_token check

# The containers read them as users of their own. The directory keeps everyone else out.
chmod 0644 "$secrets"/*
