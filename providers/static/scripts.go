package static

import (
	"fmt"
	"strings"
	"time"

	"muster/app/humanize"
)

// What scripts end with beside 0.
const (
	exitBusy    = 71 // someone else holds the machine
	exitChanged = 73 // the record is not the one that was expected
	exitRoom    = 75 // the record cannot be written
	exitFailed  = 76 // the admin's script failed
	exitKeys    = 77 // authorized_keys cannot be written
	exitName    = 78 // the host name cannot be set
	exitTools   = 79 // a program is missing
)

// greeting begins what scripts say, since the user's shell may say something before them.
const greeting = "muster-static-1"

// prelude finds the places. $1 is the login user's home. The record is one line, written beside and moved, so that who reads it needs no lock.
// MUSTER_STATIC_ROOT is for tests that have no root file system of their own; sudo does not let it through.
const prelude = `umask 022
home=$1
[ -n "$home" ] || home=$HOME
r=${MUSTER_STATIC_ROOT-}
if [ "$asroot" = 1 ]; then d=$r/var/lib/muster/checkout; else d=$home/.muster/checkout; fi
f=$d/record
k=$home/.ssh/authorized_keys
hold() {
  command -v flock >/dev/null && command -v timeout >/dev/null && command -v mktemp >/dev/null || exit 79
  [ -d "$d" ] || { mkdir -p "$d" && chmod 700 "$d"; } || exit 75
  exec 9>"$d/lock" || exit 75
  flock -w "$1" 9 || exit 71
}
put() {
  t=$(mktemp "$d/new.XXXXXX") && printf '%s\n' "$1" >"$t" && { sync "$t" 2>/dev/null || sync; } && mv -f "$t" "$f" || { rm -f "$t"; exit 75; }
  sync "$d" 2>/dev/null || sync
}
expect() {
  [ "$(cat "$f" 2>/dev/null)" = "$1" ] || exit 73
}
letin() { # the new line, or none; then patterns of lines that go
  new=$1; shift
  if [ -z "$new" ] && [ ! -e "$k" ]; then return 0; fi
  [ -d "$home/.ssh" ] || { mkdir -m 700 "$home/.ssh" && { [ "$asroot" != 1 ] || chown "$user" "$home/.ssh"; } || exit 77; }
  t=$(mktemp "$k.XXXXXX") || exit 77
  if [ -e "$k" ]; then cp -p "$k" "$t" || { rm -f "$t"; exit 77; }; elif [ "$asroot" = 1 ]; then chown "$user" "$t"; fi
  grep -vF "$@" "$k" >"$t" 2>/dev/null
  [ -z "$new" ] || printf '%s\n' "$new" >>"$t" || { rm -f "$t"; exit 77; }
  mv -f "$t" "$k" || exit 77
}
name() {
  [ "$asroot" = 1 ] && [ -n "$1" ] || return 0
  [ "$(cat "$r/etc/hostname" 2>/dev/null)" = "$1" ] || printf '%s\n' "$1" >"$r/etc/hostname" || exit 78
  [ "$(hostname 2>/dev/null || uname -n)" = "$1" ] || hostname "$1" 2>/dev/null || hostnamectl set-hostname "$1" 2>/dev/null || sysctl -qw kernel.hostname="$1" 2>/dev/null || exit 78
}
script() { # limit in seconds, text
  t=$(mktemp "$d/run.XXXXXX") && printf '%s\n' "$2" >"$t" && chmod 700 "$t" || { rm -f "$t"; exit 75; }
  case $2 in '#!'*) set -- "$1" "$t" ;; *) set -- "$1" sh "$t" ;; esac
  limit=$1; shift
  (cd / && MUSTER_HOME=$home MUSTER_USER=$user timeout -k 10 "$limit" "$@") </dev/null 2>&1 9>&-
  x=$?
  rm -f "$t"
  [ $x = 0 ] || { echo "exit code $x"; exit 76; }
}
`

// looking tells the record, if there is one.
const looking = `if [ -e "$f" ]; then cat "$f" || exit 75; fi
`

// probing tells besides what a check of the account wants to know: programs that are missing, and KiB that are free.
const probing = `for c in flock timeout mktemp grep sync; do command -v $c >/dev/null || printf 'missing %s\n' $c; done
mkdir -p "$d" 2>/dev/null && chmod 700 "$d" && t=$(mktemp "$d/new.XXXXXX" 2>/dev/null) && rm -f "$t" || echo readonly
df -Pk "$d" 2>/dev/null | awk 'NR==2 {print "free " $4}'
`

// command is what the login user's shell runs, whichever shell that is: a shell that reads the script.
func (p *provider) command(m *machine) string {
	if p.sudo && m.user != "root" {
		return `sudo -n sh -s "$HOME"`
	}
	return `sh -s "$HOME"`
}

// script wraps a body. All of it is read before any of it runs, so that nothing in it can read the rest of it.
func (p *provider) script(m *machine, body string) string {
	asRoot := 0
	if p.sudo || m.user == "root" {
		asRoot = 1
	}
	return fmt.Sprintf("main() {\nasroot=%d user=%s\n%secho %s\n%s}\nmain \"$@\" </dev/null\nexit 0\n", asRoot, humanize.ShellQuote(m.user), prelude, greeting, body)
}

// marker ends the lines that we put into authorized_keys.
const marker = "muster-checkout-"

// blob is what tells a key from others, whatever is around it.
func blob(key string) string {
	fields := strings.Fields(key)
	if len(fields) < 2 {
		return key
	}
	return fields[1]
}

// letIn is the line of a script that lets in the holder of key and of none of those before, nor whom those have certified; "" is no one.
func letIn(key, token string, before []string) string {
	line := ""
	if key != "" {
		line = key + " " + marker + token
	}
	s := "letin " + humanize.ShellQuote(line) + " -e " + marker
	for _, k := range append([]string{key}, before...) {
		if k != "" {
			s += " -e " + humanize.ShellQuote(blob(k))
		}
	}
	return s + "\n"
}

func hold(wait time.Duration) string { return fmt.Sprintf("hold %d\n", int(wait/time.Second)) }

func takeScript(new string) string {
	return hold(lockWait) + `if [ -e "$f" ]; then exit 73; fi` + "\n" +
		`(hostname 2>/dev/null || uname -n) >"$d/had" || exit 75` + "\nput " + humanize.ShellQuote(new) + "\n"
}

func runScript(old, before, text string, limit time.Duration) string {
	return hold(lockWait) + "expect " + humanize.ShellQuote(old) + "\n" + before + fmt.Sprintf("script %d %s\n", int(limit/time.Second), humanize.ShellQuote(text))
}

// changeScript puts another record in place of the one that is expected, before or after body.
func changeScript(old, new, before, after string) string {
	return hold(lockWait) + "expect " + humanize.ShellQuote(old) + "\n" + before + "put " + humanize.ShellQuote(new) + "\n" + after
}

// finishScript undoes what we did, and makes the machine free.
func finishScript(old string, r *record) string {
	return hold(lockWait) + "expect " + humanize.ShellQuote(old) + "\n" + letIn("", r.Token, r.Keys) +
		`name "$(cat "$d/had" 2>/dev/null)"` + "\n" + `rm -f "$f" || exit 75` + "\n" + `sync "$d" 2>/dev/null || sync` + "\n"
}

const lockWait = 15 * time.Second
