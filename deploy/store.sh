#!/bin/sh
# Starts the store with the rights of users.acl and the password from a file of its own, of which the
# users' file gets only the SHA-256: store.sh PASSWORD_FILE RUN_DIR [server's options…].
# Finds redis.conf and users.acl beside itself; VALKEY_SERVER names another binary.
set -eu
umask 077

here=$(cd -- "$(dirname -- "$0")" && pwd -P)
password_file=$1 run_dir=$2
shift 2

hash=$(tr -d '\n' <"$password_file" | sha256sum | cut -d ' ' -f 1)
sed "s/^user twinsift on /&#$hash /" "$here/users.acl" >"$run_dir/users.acl"
exec "${VALKEY_SERVER:-valkey-server}" "$here/redis.conf" --aclfile "$run_dir/users.acl" "$@"
