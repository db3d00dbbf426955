#!/bin/sh
# Copies the append-only file of a store, which may go on working: backup.sh DATA_DIR TARGET_DIR.
# The copy holds all that the store had written to its file before it began. To restore it, stop the store and put
# TARGET_DIR/appendonlydir in the place of DATA_DIR/appendonlydir.
set -eu
umask 077

from=$1/appendonlydir to=$2
manifest=appendonly.aof.manifest
if [ ! -f "$from/$manifest" ]; then
    echo "backup.sh: no append-only file in $1" >&2
    exit 1
fi
mkdir -p -- "$to"
if [ -e "$to/appendonlydir" ]; then
    echo "backup.sh: there is a copy in $to already" >&2
    exit 1
fi

# The files only grow until the manifest names others, which is when the store has rewritten them:
# a copy in which the manifest is the same before and after is whole.
tries=0
while :; do
    before=$(cat -- "$from/$manifest")
    rm -rf -- "$to/.copying"
    if cp -R -- "$from" "$to/.copying" && [ "$before" = "$(cat -- "$from/$manifest")" ]; then
        break
    fi
    tries=$((tries + 1))
    if [ "$tries" -ge 10 ]; then
        rm -rf -- "$to/.copying"
        echo "backup.sh: the store rewrote its file during each of $tries tries" >&2
        exit 1
    fi
done
printf '%s\n' "$before" >"$to/.copying/$manifest"
sync
mv -- "$to/.copying" "$to/appendonlydir"
