#!/bin/sh
# Creates the secrets of compose.yaml, once. The files belong to the containers' users, not yours; the directory keeps others out.
# Keep a copy of secrets/secret_key elsewhere: backups don't contain it, and encrypted data in the database is lost without it.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets catalog
chmod 700 secrets
make() { [ -e "secrets/$1" ] || { umask 022; cat >"secrets/$1"; }; }
make secret_key <<SECRET
$(openssl rand -hex 32)
SECRET
make postgres_password <<SECRET
$(openssl rand -hex 24)
SECRET
make provisioner_token </dev/null
if [ ! -e secrets/pgpass ]; then
  printf 'postgres:5432:muster:muster:%s\n' "$(cat secrets/postgres_password)" >secrets/pgpass
fi
