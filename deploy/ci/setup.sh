#!/usr/bin/env bash
# Installs, on Debian or Ubuntu, what `make test-real` tries Muster against: OpenSSH, Redis, PostgreSQL, Chromium, the
# tools of the sandbox, and HAProxy, nginx and etcd for machines of it. What is there already is left alone, and what packages would start is not started.
set -euo pipefail
cd "$(dirname "$0")/../.."

missing=()
need() { command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || missing+=("$2"); }
need sshd openssh-server
need ssh openssh-client
need redis-server redis-server
need chromium chromium
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing+=(postgresql)
need unshare util-linux
need ip iproute2
need python3 python3
need sudo sudo
need npm npm
# The software that the examples in examples/ha set up.
need haproxy haproxy
need nginx nginx-light
need etcd etcd-server
need etcdctl etcd-client

if [ ${#missing[@]} -gt 0 ]; then
  echo "installing: ${missing[*]}"
  as_root=(); [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  # Tests make databases and queues of their own. Debian's packages start one at once unless they are told not to.
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod 755 "$policy"
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
  fi
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || { echo "still missing: postgresql" >&2; exit 1; }
# axe-core looks at the portal's pages.
[ deploy/ci/tools/node_modules/.package-lock.json -nt deploy/ci/tools/package-lock.json ] || npm ci --prefix deploy/ci/tools --no-audit --no-fund --silent
for tool in sshd ssh redis-server chromium unshare ip python3 sudo haproxy nginx etcd etcdctl; do
  command -v "$tool" >/dev/null 2>&1 || [ -x "/usr/sbin/$tool" ] || { echo "still missing: $tool" >&2; exit 1; }
done
