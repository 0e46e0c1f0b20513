package jobs

import (
	"strings"

	"muster/app"
)

// contractScript says what a node is, a line "muster-node key=value" for each fact. Where a program is missing that would
// tell, the fact is left out; nothing here changes the node. $tools and $names are set before it.
const contractScript = `PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin
LC_ALL=C
export PATH LC_ALL
say() { printf '%s\n' "muster-node $1"; }
say "time=$(date +%s)"
say "uid=$(id -u)"
for f in /etc/os-release /usr/lib/os-release; do
[ -r "$f" ] || continue
while IFS='=' read -r k v; do
v=${v#[\"\']}
v=${v%[\"\']}
case $k in
ID) say "os=$v" ;;
VERSION_ID) say "version=$v" ;;
esac
done <"$f"
break
done
say "hostname=$(uname -n)"
if command -v ip >/dev/null; then
ip -o addr show 2>/dev/null | while read -r n i family a rest; do
case $family in inet|inet6) say "address=${a%%/*}" ;; esac
done
say addresses=ip
elif a=$(hostname -I 2>/dev/null); then
for i in $a; do say "address=$i"; done
say addresses=hostname
fi
if [ -n "$names" ] && command -v getent >/dev/null; then
say resolver=getent
getent hosts $names | while read -r a n; do say "resolved=$a $n"; done
fi
if [ -r /proc/meminfo ]; then
while read -r k v unit; do
[ "$k" != MemTotal: ] || { say "memory=$v"; break; }
done </proc/meminfo
fi
df -Pk / 2>/dev/null | while read -r fs size rest; do
case $size in *[!0-9]*) ;; *) say "disk=$size" ;; esac
done
for t in $tools; do command -v "$t" >/dev/null || say "missing=$t"; done
if command -v ufw >/dev/null && case $(ufw status 2>/dev/null) in *"Status: active"*) ;; *) false ;; esac; then say firewall=on
elif command -v firewall-cmd >/dev/null && [ "$(firewall-cmd --state 2>/dev/null)" = running ]; then say firewall=on
elif [ "$(id -u)" != 0 ]; then :
elif command -v nft >/dev/null; then
case $(nft list ruleset 2>/dev/null) in *drop*|*reject*) say firewall=on ;; *) say firewall=off ;; esac
elif command -v iptables >/dev/null; then
case $(iptables -S 2>/dev/null) in *DROP*|*REJECT*) say firewall=on ;; *) say firewall=off ;; esac
fi
if [ "$(id -u)" = 0 ] && command -v sshd >/dev/null; then
sshd -T 2>/dev/null | while read -r k v; do
[ "$k" != passwordauthentication ] || say "passwords=$v"
done
fi
say end=ok
`

// script gives the script with what it is to look for.
func (c contract) script() string {
	var names []string
	for _, e := range c.names() {
		names = append(names, e.Names[0], e.Address)
	}
	return "tools=" + app.ShellQuote(strings.Join(c.tools, " ")) + "\nnames=" + app.ShellQuote(strings.Join(names, " ")) + "\n" + contractScript
}

// names are the entries whose names are looked up. On a node without an /etc/hosts of its own there are none.
func (c contract) names() []app.HostEntry {
	if !c.node.OwnRoot {
		return nil
	}
	var all []app.HostEntry
	for _, e := range c.hosts {
		if len(e.Names) > 0 {
			all = append(all, e)
		}
	}
	return all
}
