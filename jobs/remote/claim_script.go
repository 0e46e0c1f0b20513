package remote

// quickClaimScript is what is tried first, since a node has to read it every time: it does what claimScript does where nothing
// is running, and says "more" where something has to be looked at.
const quickClaimScript = `t=$2
` + stateRoot + quickClaim

// stateRoot finds where the login user keeps state.
const stateRoot = `if [ -n "$MUSTER_STATE_ROOT" ]; then d=$MUSTER_STATE_ROOT
elif [ -O / ] 2>/dev/null || [ "$(id -u)" = 0 ]; then d=/var/lib/muster
else d=$HOME/.muster; fi
`

const quickClaim = `d=$d/.claims/$p
` + makePlace + `no() { echo "$t $1" >&2; exit 125; }
{ true >"$d/e.$e"; } 2>/dev/null || no more
n=0
for f in "$d"/e.*; do
[ "${f##*.}" -le "$e" ] || no "stale ${f##*.}"
n=$((n+1))
done
for f in "$d"/r.*; do
b=${f##*/r.}
[ -s "$d/x.$b" ] || [ "$b" = "*" ] || no more
case $b in
*.-.*) n=$((n+1)) ;;
"$i.$h".*) no more ;;
"${i%.*}".*) ;;
*) n=$((n+1)) ;;
esac
done
[ "$n" -lt 100 ] || no more
r=$d/r.$i.$h.$e.${t#muster-}
{ echo "p $$ $t" >"$r"; } 2>/dev/null || no "nostate $d"
[ "$3" != y ] || true >"$d/x.${r##*/r.}"
for f in "$d"/e.*; do
[ "${f##*.}" -le "$e" ] || { echo w >"$d/x.${r##*/r.}"; no "stale ${f##*.}"; }
done
`

// makePlace makes the directory of a place that is new here.
const makePlace = `[ -d "$d" ] || ( umask 022; [ -d "${d%/.claims/*}" ] || mkdir -p "${d%/.claims/*}"; umask 077; mkdir -p "$d" ) 2>/dev/null
`

// claimScript is the first thing that a session under a claim does. p, e, i and h are the place, the epoch, the step and
// the digest of what is run ("-" where it may run any number of times); $2 is the token, $4 the kind of input.
//
// It needs no lock and, in the usual case, no program but the shell. In the place's directory, which is the login user's
// alone, there are these files:
//
//	e.<epoch>                          a claim was here
//	r.<step>.<digest>.<epoch>.<token>  the record of a run: lines "p <pid> <token>", the last one counts
//	x.<the same>                       once it holds something, the run has ended: the exit code; "w": withdrawn unbegun
//	a.<the same>                       another attempt reads its outputs along; who had it hears of its end by the session's
//	o. and v.<the same>                what it said after its connection was lost, on either output
//	s.<the same>.<name>                files of a command that runs once, for as long as it runs; then they are empty
//
// Each claim makes its e file before it looks at the records, and its own record before it looks at the e files once more.
// So of two claims at the same time either the older one sees the newer one's e file and withdraws, or the newer one sees the
// older one's record and waits for it or ends it. A process id is believed only where the process has the token in its
// command line, since numbers come again; a command line is empty for a moment while its process becomes another program.
// After finding a process gone, the script checks again whether it has ended meanwhile. Where a run's connection seems to be there
// still, its outputs are read along after a second: its worker may be frozen, and no one else would empty them.
const claimScript = `t=$2
` + stateRoot + `d=$d/.claims/$p
` + makePlace + `no() { echo "$t $1" >&2; exit 125; }
{ true >"$d/e.$e"; } 2>/dev/null || no "nostate $d"
n=0
newest() {
for f in "$d"/e.*; do
z=${f##*.}
[ "$z" -le "$e" ] || { [ -z "$r" ] || echo w >"$d/x.${r##*/r.}"; no "stale $z"; }
[ "$z" = "$e" ] || n=$((n+1))
done
}
live() {
q= u=
while read -r A B C; do [ "$A" != p ] || { q=$B u=$C; }; done 2>/dev/null <"$1"
[ -n "$q" ] || return 1
if [ ! -d /proc/self ]; then
case $(ps -o args= -p "$q" 2>/dev/null) in *"$u"*) return 0 ;; esac
return 1
fi
y=0
while [ -d "/proc/$q" ]; do
! grep -q -- "$u" "/proc/$q/cmdline" 2>/dev/null || return 0
A=
read -r A 2>/dev/null <"/proc/$q/cmdline"
y=$((y+1))
[ -z "$A" ] && [ "$y" -lt 5 ] || return 1
sleep 0.05 2>/dev/null
done
kill -0 "-$q" 2>/dev/null || return 1
for m in /proc/[0-9]*; do
read -r A 2>/dev/null <"$m/stat" || continue
case ${A##*) } in ?" "*" $q "*) { grep -q -- "$u" "$m/cmdline" || grep -q -- "MUSTER_RUN=$u" "$m/environ"; } 2>/dev/null && kill -KILL "${m#/proc/}" ;; esac
done
return 1
}
stop() {
for g in TERM KILL; do
kill "-$g" "-$q" 2>/dev/null || sudo -n kill "-$g" -- "-$q" 2>/dev/null
s=0
while [ "$s" -lt 60 ]; do
live "$1" || return 0
sleep 0.1 2>/dev/null || sleep 1
s=$((s+1))
done
done
return 1
}
ended() {
[ -s "$d/x.$b" ] || return 1
case $b in "$i.$h".*)
if [ "$h" != - ]; then
read -r c <"$d/x.$b"
[ "$c" != 0 ] || v=again l=$b
fi ;;
esac
}
gone() {
ended && return
echo gone >"$d/x.$b"
rm -f "$d/s.$b".*
}
newest
v=run
l=
for f in "$d"/r.*; do
[ -f "$f" ] || continue
b=${f##*/r.}
z=${b%.*}
z=${z##*.}
case $b in *.-.*) n=$((n+1)) ;; "${i%.*}".*) ;; *) n=$((n+1)) ;; esac
! ended || continue
if ! live "$f"; then
gone
continue
fi
case $b in "$i.$h".*) [ "$h" = - ] || { v=adopt l=$b; continue; } ;; esac
[ "$z" != "$e" ] || continue
case $b in *.-.*) ;; "$i".*) [ "$h" != - ] || continue ;; "${i%.*}".*) no occupied ;; esac
stop "$f" || no busy
gone
done
case $v in
again)
echo "$t $$ $SHELL" >&2
echo "$t again" >&2
[ ! -f "$d/o.$l" ] || { cat "$d/o.$l"; cat "$d/v.$l" >&2; }
exit 0 ;;
adopt)
echo "$t $$ $SHELL" >&2
echo "$t adopt" >&2
live "$d/r.$l"
exec 3<&0 </dev/null
{
k=
case $4 in
none) ;;
l*) n=${4#l}; while [ "$n" -gt 0 ] && read -r k; do n=$((n-1)); done <&3 ;;
*) head -c "${4#h}" <&3 >/dev/null ;;
esac
read -r k <&3
[ "$k" != kill ] || stop "$d/r.$l"
kill -TERM "-$$" || kill -TERM "$$"
} >/dev/null 2>&1 &
w=$!
exec 3<&-
o=
s=0
while
s=$((s+1))
case $o in
"") if [ -f "$d/o.$l" ] && [ -f "$d/v.$l" ]; then exec 5<"$d/o.$l" 6<"$d/v.$l"; o=file
elif [ "$s" -gt 5 ] && [ -p "/proc/$q/fd/7" ] && [ -r "/proc/$q/fd/7" ] && true >"$d/a.$l" && [ ! -s "$d/x.$l" ]; then
cat <"/proc/$q/fd/7" 2>/dev/null &
cat <"/proc/$q/fd/8" 2>/dev/null >&2 &
o=pipe
fi ;;
file) cat <&5; cat <&6 >&2 ;;
esac
[ ! -s "$d/x.$l" ] && live "$d/r.$l"
do sleep 0.2 2>/dev/null || sleep 1; done
[ "$o" = pipe ] || sleep 0.1 2>/dev/null
[ -n "$o" ] || [ ! -f "$d/o.$l" ] || [ ! -f "$d/v.$l" ] || { exec 5<"$d/o.$l" 6<"$d/v.$l"; o=file; }
[ "$o" != file ] || { cat <&5; cat <&6 >&2; }
kill "$w" 2>/dev/null
c=
[ ! -s "$d/x.$l" ] || read -r c <"$d/x.$l"
case $c in ""|w|gone) no lone ;; esac
exit "$c" ;;
esac
r=$d/r.$i.$h.$e.${t#muster-}
{ echo "p $$ $t" >"$r"; } 2>/dev/null || no "nostate $d"
[ "$3" != y ] || true >"$d/x.${r##*/r.}"
newest
if [ "$n" -gt 50 ]; then
l=
for f in "$d"/[erxovsa].*; do
b=${f##*/}
case $b in
e.*) [ "${b#e.}" -ge "$e" ] || l="$l $b" ;;
?."${i%.*}".*)
case $b in *.-.*) [ ! -s "$d/x.${b#?.}" ] || l="$l $b" ;; s.*) [ -s "$d/$b" ] || l="$l $b" ;; esac ;;
*) l="$l $b" ;;
esac
done
( cd "$d" && rm -f $l )
fi
`
