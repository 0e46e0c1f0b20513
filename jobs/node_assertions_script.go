package jobs

import (
	"strings"

	"muster/app/family"
	"muster/app/humanize"
)

// assertionsScript says what a node is, a line "muster-node key=value" for each fact. Where a program is missing that would
// tell, the fact is left out; nothing here changes the node. $tools, and $peers with their $names4 and $names6, are set before it, $gpus where it
// should have some, and $own where the machine
// has a file system and a network of its own: of another one only that is asked which is its own. It starts few programs, since every one
// takes the node a millisecond. Names are looked up by the kind of their address: for the other kind, a machine would ask its DNS, and wait
// where there is none.
const assertionsScript = `PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin
LC_ALL=C
export PATH LC_ALL
say() { printf '%s\n' "muster-node $1"; }
case ${BASH_VERSION-} in
""|[1-3].*|4.[01].*) printf 'muster-node time='; date +%s || echo ;;
*) printf 'muster-node time=%(%s)T\n' -1 ;;
esac
u=
if [ -r /proc/self/status ]; then
while read -r k v e rest; do
[ "$k" != Uid: ] || { u=$e; break; }
done </proc/self/status
fi
[ -n "$u" ] || u=$(id -u)
say "uid=$u"
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
for t in $tools; do command -v "$t" >/dev/null || say "missing=$t"; done
if [ -n "$own" ]; then
h=
if [ -r /proc/sys/kernel/hostname ]; then read -r h </proc/sys/kernel/hostname; else h=$(uname -n); fi
say "hostname=$h"
set -f
if command -v ip >/dev/null; then
family=
for a in $(ip -o addr show 2>/dev/null); do
case $family in inet|inet6) say "address=${a%%/*}" ;; esac
family=$a
done
say addresses=ip
elif a=$(hostname -I 2>/dev/null); then
for i in $a; do say "address=$i"; done
say addresses=hostname
fi
if [ -n "$peers" ] && command -v getent >/dev/null; then
say resolver=getent
getent hosts $peers | while read -r a n; do say "reversed=$a $n"; done
if getent ahostsv4 127.0.0.1 >/dev/null 2>&1; then
[ -z "$names4" ] || getent ahostsv4 $names4 | while read -r a k n; do [ "$k" != STREAM ] || say "resolved=$a $n"; done
[ -z "$names6" ] || getent ahostsv6 $names6 | while read -r a k n; do [ "$k" != STREAM ] || say "resolved=$a $n"; done
else
getent hosts $names4 $names6 | while read -r a n; do say "resolved=$a $n"; done
fi
fi
if [ -r /proc/meminfo ]; then
while read -r k v unit; do
[ "$k" != MemTotal: ] || { say "memory=$v"; break; }
done </proc/meminfo
fi
for size in $(df -Pk / 2>/dev/null); do
case $size in *[!0-9]*) ;; *) say "disk=$size"; break ;; esac
done
set +f
` + gpuScript + `if command -v ufw >/dev/null && case $(ufw status 2>/dev/null) in *"Status: active"*) ;; *) false ;; esac; then say firewall=on
elif command -v firewall-cmd >/dev/null && [ "$(firewall-cmd --state 2>/dev/null)" = running ]; then say firewall=on
elif [ "$u" != 0 ]; then :
elif command -v nft >/dev/null; then
case $(nft list ruleset 2>/dev/null) in *drop*|*reject*) say firewall=on ;; *) say firewall=off ;; esac
elif command -v iptables >/dev/null; then
case $(iptables -S 2>/dev/null) in *DROP*|*REJECT*) say firewall=on ;; *) say firewall=off ;; esac
fi
ssh=/etc/ssh
[ "$u" != 0 ] || passwords
fi
say end=ok
`

// gpuScript counts GPUs and other accelerators by the classes and makers of PCI devices, so that no driver is needed: 3D controllers,
// processing accelerators, displays of NVIDIA and AMD (those of others draw the console), and the accelerators of AWS.
const gpuScript = `if [ -n "$gpus" ] && [ -d /sys/bus/pci/devices ]; then
g=0
for i in /sys/bus/pci/devices/*; do
k= v=
read -r k <"$i/class"
read -r v <"$i/vendor"
case $k$v in 0x0302*|0x1200*|0x0300*0x10de|0x0300*0x1002|0x0880*0x1d0f) g=$((g+1)) ;; esac
done 2>/dev/null
say "gpus=$g"
fi
`

// passwordsScript says whether the SSH server takes passwords. Where every line of its settings in $ssh that could matter says "no" in the
// usual words, that is so. Anything else sshd is asked itself, which takes ten times as long.
const passwordsScript = `passwords() {
command -v sshd >/dev/null || return 0
main= more= drop=
x=$(grep -isE '^[[:space:]]*"?(passwordauthentication|include|match)' "$ssh/sshd_config" "$ssh"/sshd_config.d/*.conf)
set -f
IFS='
'
for l in $x; do
case $l in
"$ssh/sshd_config:Include $ssh/sshd_config.d/*.conf") more=y ;;
"$ssh/sshd_config:PasswordAuthentication no") main=y ;;
"$ssh/sshd_config.d/"*":PasswordAuthentication no") drop=y ;;
*) main= drop=; break ;;
esac
done
unset IFS
set +f
[ "$main" != y ] && [ "$more$drop" != yy ] || { say passwords=no; return; }
sshd -T 2>/dev/null | while read -r k v; do
[ "$k" != passwordauthentication ] || say "passwords=$v"
done
}
`

// script returns the script with what it is to look for.
func (c assertions) script() string {
	var peers, names4, names6 []string
	for _, e := range c.names() {
		peers = append(peers, e.Address)
		if strings.Contains(e.Address, ":") {
			names6 = append(names6, e.Names[0])
		} else {
			names4 = append(names4, e.Names[0])
		}
	}
	set := ""
	for name, words := range map[string][]string{"tools": c.tools, "peers": peers, "names4": names4, "names6": names6} {
		set += name + "=" + humanize.ShellQuote(strings.Join(words, " ")) + "\n"
	}
	if !c.node.OwnRoot {
		return set + "own= gpus=\n" + assertionsScript
	}
	return set + "own=y gpus=" + either(c.flavor.GPUs > 0, "y", "") + "\n" + passwordsScript + assertionsScript
}

// names are the entries whose names are looked up. On a node without an /etc/hosts of its own there are none.
func (c assertions) names() []family.HostEntry {
	if !c.node.OwnRoot {
		return nil
	}
	var all []family.HostEntry
	for _, e := range c.hosts {
		if len(e.Names) > 0 {
			all = append(all, e)
		}
	}
	return all
}
