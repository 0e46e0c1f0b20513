#!/usr/bin/env bash
# Upgrades a running Muster for real, from an older commit to the current commit, and shows that nothing is lost on the way:
#
#   deploy/ci/upgrade.sh OLD_COMMIT            # builds both; some minutes
#   OLD=path NEW=path deploy/ci/upgrade.sh     # with two existing binaries
#   FIXTURE=dir deploy/ci/upgrade.sh OLD_COMMIT  # only writes the older one's database, in the middle of an operation, for cmd/muster/upgrade_test.go
#
# The older server is killed with -9 in the middle of a create. Its database is migrated, the older binary keeps working on it (reads, and a whole
# create), is killed again, and then the newer one takes over: the first create succeeds, and everything is deleted. It needs git, Go and python3.
set -euo pipefail
cd "$(dirname "$0")/../.."
top=$PWD work=$(mktemp -d)
pid=
finish() {
  [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || true
  [ ! -d "$work/tree" ] || git worktree remove --force "$work/tree"
  rm -rf "$work"
}
trap finish EXIT

if [ -z "${OLD:-}" ]; then
  [ $# = 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
  git worktree add --detach "$work/tree" "$1" >/dev/null
  (cd "$work/tree" && go build -o "$work/old" ./cmd/muster)
  OLD=$work/old
fi
if [ -z "${NEW:-}" ] && [ -z "${FIXTURE:-}" ]; then
  go build -o "$work/new" ./cmd/muster
  NEW=$work/new
fi

export MUSTER_DATA=$work/data MUSTER_HOME=$work/home MUSTER_ADMIN_PASSWORD=correct-horse-battery
unset MUSTER_URL MUSTER_TOKEN MUSTER_CATALOG DATABASE_URL REDIS_URL MUSTER_SECRET_KEY
mkdir -p "$work/catalog"
cp "$top/cmd/muster/testdata/upgrade/catalog.yaml" "$work/catalog/"

say() { printf '%4d s  %s\n' "$SECONDS" "$*"; }
start() { # BINARY
  rm -f "$MUSTER_DATA/client.json"
  "$1" serve --catalog "$work/catalog" --workers 2 --listen 127.0.0.1:0 >>"$work/log" 2>&1 &
  pid=$!
  for _ in $(seq 300); do
    [ -e "$MUSTER_DATA/client.json" ] && return
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  echo "the server didn't start:" >&2; tail -20 "$work/log" >&2; exit 1
}
crash() { kill -9 "$pid"; wait "$pid" 2>/dev/null || true; pid=; }
state() { # BINARY CLUSTER
  "$1" cluster list --format json | python3 -c 'import json,sys; print(next((c["status"] for c in json.load(sys.stdin)["clusters"] if c["name"]==sys.argv[1]), "absent"))' "$2"
}
becomes() { # BINARY CLUSTER STATE
  for _ in $(seq 600); do
    [ "$(state "$1" "$2")" = "$3" ] && return
    sleep 0.2
  done
  echo "$2 didn't become $3:" >&2; "$1" cluster why "$2" >&2 || true; tail -20 "$work/log" >&2; exit 1
}

start "$OLD"
"$OLD" cluster create standing --template quick --size 1 --wait >/dev/null
"$OLD" cluster create going --template slow --size 3 >/dev/null
sleep 2 # machines are there, and the first of two services is being installed on two of three nodes
crash
say "killed during a creation: $("$OLD" version)"

if [ -n "${FIXTURE:-}" ]; then
  mkdir -p "$FIXTURE"
  python3 - "$MUSTER_DATA/muster.db" <<'PY' | gzip -9n >"$FIXTURE/muster.sql.gz"
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for line in db.iterdump():
    print(line)
PY
  cp "$MUSTER_DATA/secret.key" "$FIXTURE/secret.key"
  tar -C "$MUSTER_DATA" -czf "$FIXTURE/providers.tar.gz" providers
  ls -l "$FIXTURE"
  exit
fi

"$NEW" migrate status
"$NEW" migrate up --dry-run
"$NEW" migrate up >/dev/null
"$NEW" migrate status | tail -1
"$NEW" backup "$work/before.tar.gz" >/dev/null
say "migrated, and backed up"

start "$OLD"
[ "$(state "$OLD" standing)" = active ] || { echo "the older server can't read its own data" >&2; exit 1; }
"$OLD" cluster create beside --template quick --size 1 --wait >/dev/null
"$OLD" audit verify
crash
say "the older server can read and write the migrated database"

start "$NEW"
becomes "$NEW" going active
say "the running create finished"
[ "$(state "$NEW" standing)" = active ] && [ "$(state "$NEW" beside)" = active ]
"$NEW" cluster grow standing 1 --yes --wait >/dev/null
for name in standing going beside; do "$NEW" cluster delete "$name" --yes --wait | tail -1; done
"$NEW" audit verify
kill "$pid"; wait "$pid" || true; pid=
"$NEW" restore --check "$work/before.tar.gz"
say "done: nothing was lost"
