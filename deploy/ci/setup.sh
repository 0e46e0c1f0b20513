#!/usr/bin/env bash
# Installs, on Debian or Ubuntu, what `make test-all` needs: OpenSSH, Redis, PostgreSQL, Chromium, the
# tools of the sandbox, the software of examples/catalog for machines of it, Puppet and Ansible, and a Docker Engine. Existing software is kept, and services of packages aren't started.
# With the argument openstack, it also installs OpenStack's services, which only make test-openstack needs, a part of test-all.
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
need git git
need tmux tmux
need tar tar
need sudo sudo
need npm npm
# Software of the templates in examples/catalog: the part up to shellcheck took a minute and 340 MB of disk.
need haproxy haproxy
need nginx nginx-light
need etcd etcd-server
need etcdctl etcd-client
need redis-sentinel redis-sentinel
need rabbitmqctl rabbitmq-server
need curl curl
need mariadbd mariadb-server
[ -e /usr/lib/galera/libgalera_smm.so ] || missing+=(galera-4)
need rsync rsync
[ -e /usr/share/java/zookeeper.jar ] || missing+=(zookeeper)
need java default-jre-headless
need apache2 apache2
ls /usr/lib/apache2/modules/libphp*.so >/dev/null 2>&1 || missing+=(libapache2-mod-php php-mysql)
need memcached memcached
need slurmctld slurmctld
need slurmd slurmd
need srun slurm-client
need munged munge
need nft nftables
need chronyd chrony
need wg wireguard-tools
need wireguard-go wireguard-go
need ping iputils-ping
need shellcheck shellcheck
need slapd slapd
need exim4 exim4-daemon-light
# Automators' tools, for the real tests.
need puppet puppet-agent
need ansible-playbook ansible-core
# They use Muster's release files, or check the files in deploy. Only the proxies are started, by tests.
need systemd-analyze systemd
need caddy caddy
need promtool prometheus
need sqlite3 sqlite3
need jq jq
# AWS's models of its services, which the simulated EC2 and Route 53 compare requests with.
[ -e /usr/lib/python3/dist-packages/botocore/data/ec2 ] || missing+=(python3-botocore)
need unzip unzip
need groff groff-base
# They read the packages of a release.
need rpm2cpio rpm2cpio
need cpio cpio
need ruby ruby
# An engine that tests of the docker provider and automator start themselves. Newer releases have its command line in a separate package.
need dockerd docker.io
! apt-cache show docker-cli >/dev/null 2>&1 || need docker docker-cli
need iptables iptables
# About 290 packages. The gate does without them.
if [ "${1:-}" = openstack ]; then
  for package in python3-keystone python3-nova python3-placement python3-glance python3-neutron python3-pymysql python3-waitress; do
    dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
  done
fi

if [ ${#missing[@]} -gt 0 ]; then
  echo "installing: ${missing[*]}"
  as_root=(); [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  # Tests create their own databases and queues. Debian's packages start one at once unless configured not to.
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod 755 "$policy"
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
  fi
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || { echo "still missing: postgresql" >&2; exit 1; }
# axe-core checks the portal's pages.
[ deploy/ci/tools/node_modules/.package-lock.json -nt deploy/ci/tools/package-lock.json ] || npm ci --prefix deploy/ci/tools --no-audit --no-fund --silent
for tool in sshd ssh redis-server chromium unshare ip python3 sudo haproxy nginx etcd etcdctl redis-sentinel rabbitmqctl mariadbd rsync java apache2 memcached slurmctld slurmd munged nft chronyd wg wireguard-go ping shellcheck puppet ansible-playbook dockerd docker iptables promtool sqlite3 jq unzip groff rpm2cpio cpio ruby slapd; do
  command -v "$tool" >/dev/null 2>&1 || [ -x "/usr/sbin/$tool" ] || { echo "still missing: $tool" >&2; exit 1; }
done
