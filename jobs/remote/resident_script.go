package remote

import (
	"strings"
	"sync"
)

// residentScript is the resident's own: $1 is its token. It is two shells. One reads what is asked, and never does anything else, so it
// hears at any time that a command is to be ended, or that the connection is. It hands on to the other what that is to carry out, each
// part as long as the head says that comes before it: forty characters, five numbers, of all that follows, the words, the functions, the
// command line and the input. The other tells it the process group of each command, and when that has ended, eight characters each.
//
// Each command has a process of its own between the resident and itself, which sees it to its end where the resident is killed.
// 7 and 8 are the other ends of both outputs, held so that what runs once can continue when no one reads them any more.
const residentScript = `u=$1
case $BASH_VERSION in ""|[1-3].*|4.0*) exit 126 ;; esac
set -m
case $- in *m*) ;; *) exit 126 ;; esac
exec 3<&0 </dev/null
` + stateRoot + `D=$d K= N=0
MUSTER_RUN=$u
export MUSTER_RUN
if [ -p /proc/self/fd/1 ] && [ -p /proc/self/fd/2 ]; then
exec 4>&2
{ command exec 7</proc/self/fd/1 8</proc/self/fd/4; } 2>/dev/null
exec 4>&-
fi
` + residentReader + residentTake + residentClaim + `coproc W { muster_reader; }
exec 3<&-
trap : PIPE
echo "$u resident" >&2
while muster_take; do
c=125 q=0
if muster_claim; then
"$w" &
q=$!
printf %-8s "$q" 2>/dev/null >&"${W[1]}"
{
wait "$q"
c=$?
while [ "$c" -gt 128 ] && kill -0 "$q"; do
sleep 1
wait "$q"
c=$?
done
if [ -s "$d/x.$b" ]; then printf %-8s ended >&"${W[1]}"
else K=
fi
[ ! -e "$d/a.$b" ] || exit "$c"
! kill -0 -- "-$q" || exit "$c"
[ -n "$K" ] || { [ -s "$d/x.$b" ] || rm -f "$r"; printf %-8s ended >&"${W[1]}"; }
} 2>/dev/null
else
printf %-8s%-8s 0 ended 2>/dev/null >&"${W[1]}"
fi
! read -r -t 0 -u "${W[0]}" 2>/dev/null || exit "$c"
echo "$t end $c"
echo "$t end $c" >&2
done
exit "${c-125}"
`

// residentReader ends what is running when asked to, or when its input ends. What runs once continues then, and has the first
// 64 KiB of both outputs kept.
const residentReader = `muster_reader() {
set +m
trap "" TERM HUP
exec 2>/dev/null
LC_ALL=C q= m=
while read -r -N 40 -u 3 k && read -r -N "${k%% *}" -u 3 m; do
[ -z "$q" ] || read -r -N 8 z
printf %s "$k$m"
read -r -N 8 q || exit
q=${q%% *}
done
exec >/dev/null
[ -n "$q" ] || exit
! read -r -N 8 -t 0.01 z || exit
set -f
set -- $m
set +f
eval "$4
$5
$6
$7"
n=$i.$h.$e.${1#muster-}
d=$D/.claims/$p
case $2$k in
*kill*) ;;
*once*)
umask 022
{ head -c 65536 >"$d/o.$n"; exec cat; } <&7 7<&- 8<&- &
{ head -c 65536 >"$d/v.$n"; exec cat; } <&8 7<&- 8<&- &
a=$3
while kill -0 "$q" || exit; [ "$a" -gt 0 ]; do
sleep 5
a=$((a-5))
done ;;
esac
kill -TERM -- "-$q"
sleep 0.3 || sleep 1
kill -TERM -- "-$q"
a=0
while [ "$a" -lt 50 ]; do
kill -0 -- "-$q" || break
sleep 0.1 || { sleep 1; a=$((a+9)); }
a=$((a+1))
done
for f in "$d/s.$n".*; do [ ! -s "$f" ] || true >"$f"; done
kill -KILL -- "-$q"
exit
}
`

// residentTake takes what is asked: t is the command's token, w the function that runs it, a how many seconds it may run alone, y
// the command line, x the input. A command line that comes without bytes is the one before.
const residentTake = `muster_take() {
local LC_ALL=C k z IFS=" 
"
read -r -N 40 -u "${W[0]}" k && read -r -N "${k:8:8}" -u "${W[0]}" z || return 1
set -f
set -- $z
set +f
t=$1 w=$2 a=$3 p=${4#p=} e=${5#e=} i=${6#i=} h=${7#h=}
[ "${k:16:8}" -eq 0 ] || { read -r -N "${k:16:8}" -u "${W[0]}" z && eval "$z"; } || return 1
[ "${k:24:8}" -eq 0 ] || read -r -N "${k:24:8}" -u "${W[0]}" y || return 1
x=
[ "${k:32:8}" -eq 0 ] || read -r -N "${k:32:8}" -u "${W[0]}" x
}
`

// residentClaim does what quickClaim does. K is what there was when it was last looked, all of it in order: where nothing has
// come since, nothing has to be looked at.
//
// Where the disk is full, a record is there without its end. One that names the resident would be taken for a command that still runs
// as long as the resident stays, so it is removed.
const residentClaim = `muster_claim() {
local f z l IFS=" "
d=$D/.claims/$p
b=$i.$h.$e.${t#muster-}
` + makePlace + `r=$d/r.$b
{ true >"$d/e.$e"; } 2>/dev/null || { muster_no more; return; }
{ echo "p $$ $u" >"$r"; } 2>/dev/null || { muster_no "nostate $d"; return; }
set -- "$d"/[er].*
l="$* "
z=${l/"$r "/}
N=$((N+1))
if [ -z "$K" ] || [ "${z/"$d/e.$e "/}" != "${K/"$d/e.$e "/}" ] || [ "$N" -ge 100 ]; then muster_look "$@" || return
else
case $h$K in -*|*"/r.$i.$h."*) muster_look "$@" || return ;; esac
fi
K=$l
}
muster_look() {
N=0
for f; do
z=${f##*/r.}
case $f in
*/e.*)
z=${f##*.}
[ "$z" -le "$e" ] || { muster_no "stale $z" w; return; }
N=$((N+1)) ;;
"$r") ;;
*)
[ -s "$d/x.$z" ] || { muster_no more w; return; }
case $z in
*.-.*) N=$((N+1)) ;;
"$i.$h".*) muster_no more w; return ;;
"${i%.*}".*) ;;
*) N=$((N+1)) ;;
esac ;;
esac
done
[ "$N" -lt 100 ] || muster_no more w
}
muster_no() {
K=
[ -z "$2" ] || { echo w >"$d/x.$b"; } 2>/dev/null || rm -f "$r"
echo "$t $1" >&2
return 1
}
`

// residentFunction is what runs a command that a resident carries out: the wrapper's part of it, see wrapper.go.
func (v invocation) residentFunction(name string, text bool) string {
	var b strings.Builder
	part := func(when bool, text string) {
		if when {
			b.WriteString(text)
		}
	}
	part(true, name+`() {
set +m
q=$BASHPID k=
{ echo "p $q $u" >>"$r"; } 2>/dev/null || { echo "$t nostate $d" >&2; exit 125; }
[ ! -s "$d/x.$b" ] || exit 125
trap k=y TERM HUP
echo "$t $q $SHELL" >&2
c=143
`)
	part(v.once, `s=$d/s.$b
`)
	// 3 and 4 are those by which bash tells a child of job control that it leads its group, where it has not closed them yet.
	run := `sh -c "$y" 3<&- 4<&- 7<&- 8<&-`
	switch {
	case v.once:
		given := ""
		if text && v.variable {
			given = " muster_input=$x"
		}
		run = `( exec 3<&- 4<&- 7<&- 8<&-; muster_scratch=$s` + given + `; trap "exit 143" TERM HUP; eval "$y" )`
	case v.fork:
		run = `( exec 3<&- 4<&- 7<&- 8<&-; eval "$y" )`
	}
	if text && !v.variable { // some bashes write the other kind of text to a file
		run = `printf %s "$x" | ` + run
	}
	part(true, `[ -n "$k" ] || { `+run+`
c=$?; }
`)
	part(v.once, `for f in "$s".*; do [ ! -s "$f" ] || true >"$f"; done
`)
	part(true, `echo "$c" >"$d/x.$b"
[ -z "$k" ] || kill -KILL -- "-$q"
exit "$c"
}
`)
	return b.String()
}

// function returns the name of the function that a resident needs for it, and its text.
func (v invocation) function(text bool) (name, script string) {
	name = "muster_run"
	if text {
		name += "_text"
	}
	switch {
	case v.once:
		name += "_once"
	case v.fork:
		name += "_fork"
	}
	if v.variable {
		name += "_variable"
	}
	if s, ok := residentFunctions.Load(name); ok {
		return name, s.(string)
	}
	script = v.residentFunction(name, text)
	residentFunctions.Store(name, script)
	return name, script
}

var residentFunctions sync.Map // by name
