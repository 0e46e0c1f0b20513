#!/usr/bin/env bash
# Installs, on Debian or Ubuntu, what `make test-real` tries Muster against: OpenSSH, Redis, Chromium, and the tools of
# the sandbox. What is there already is left alone.
set -euo pipefail

missing=()
need() { command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || missing+=("$2"); }
need sshd openssh-server
need ssh openssh-client
need redis-server redis-server
need chromium chromium
need unshare util-linux
need ip iproute2
need python3 python3
need sudo sudo

if [ ${#missing[@]} -gt 0 ]; then
  echo "installing: ${missing[*]}"
  as_root=(); [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
for tool in sshd ssh redis-server chromium unshare ip python3 sudo; do
  command -v "$tool" >/dev/null 2>&1 || [ -x "/usr/sbin/$tool" ] || { echo "still missing: $tool" >&2; exit 1; }
done
