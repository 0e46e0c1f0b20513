package node

import (
	"context"
	"fmt"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
)

// Software is a tool that the node's own package manager can install.
type Software struct {
	Name    string   // for people
	Program string   // that it has when it is there
	There   string   // shell text that succeeds where it is there; "" looks for the program
	Path    string   // a directory in which it may be beside those of every user; "" is none
	Before  string   // commands that may get it in another way, tried first; that they fail is no error
	APT     []string // what its package may be called, the first that there is counts
	With    []string // what is installed along with that by apt-get, as far as there is such a package
	RPM     []string // the same for dnf and yum
	Zypper  []string
	APK     []string
	After   string // commands for after a fresh installation
	Hint    string // what to do where it cannot be had, as a sentence; "" is an image or a repository that has it
}

// Install installs a tool with apt-get, dnf, yum, zypper or apk where it is absent; where it is there, that is all. Another one who installs something at the
// same time is waited for, ten minutes at most. The error of a node on which it could not be had is EScript, reason "bootstrap".
func Install(ctx context.Context, sh family.Shell, n family.NodeContext, s Software, out family.Output) error {
	last := LastLine{Both: true}
	exit, err := Do(ctx, sh, family.Command{Line: s.line(), Once: true}, last.Watch(out))
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	if exit != 0 {
		hint := s.Hint
		if hint == "" {
			hint = "Use an image with " + s.Name + ", or one whose package manager can install it."
		}
		return &app.Error{Code: app.EScript, Reason: "bootstrap", Message: "Can't prepare node " + n.Node + " for " + s.Name + last.Because(), Hint: hint}
	}
	return nil
}

// line is the same for all nodes, so that it's known whether it was done before.
func (s Software) line() string {
	there := s.There
	if there == "" {
		there = "command -v " + humanize.ShellQuote(s.Program) + " >/dev/null 2>&1"
	}
	return Prologue + strings.NewReplacer(
		"@there", there, "@program", humanize.ShellQuote(s.Program), "@before", s.Before, "@with", strings.Join(s.With, " "), "@apk", strings.Join(s.APK, " "), "@path", humanize.ShellQuote("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:"+s.Path), "@name", s.Name,
		"@apt", strings.Join(s.APT, " "), "@rpm", strings.Join(s.RPM, " "), "@zypper", strings.Join(s.Zypper, " "), "@after", s.After,
	).Replace(installLine)
}

const installLine = `PATH=$PATH:@path
export PATH
muster_there() {
@there
}
! muster_there || exit 0
[ "$(id -u)" = 0 ] || { echo '@name is not installed, and installing it requires root' >&2; exit 1; }
LC_ALL=C DEBIAN_FRONTEND=noninteractive ZYPP_LOCK_TIMEOUT=600
export LC_ALL DEBIAN_FRONTEND ZYPP_LOCK_TIMEOUT
@before
! muster_there || exit 0
muster_none() { echo "No repository of $1 has @name (package $2)" >&2; exit 1; }
if command -v apt-get >/dev/null 2>&1; then
muster_tries=0
while muster_said=$(apt-get -q update 2>&1); muster_code=$?; printf '%s\n' "$muster_said"; [ "$muster_code" != 0 ]; do
case $muster_said in *"Could not get lock"*) ;; *) break ;; esac
muster_tries=$((muster_tries+1))
[ "$muster_tries" -lt 120 ] || break
echo "Another installation is running; waiting."
sleep 5
done
muster_found=
for muster_package in @apt; do
case $(apt-cache policy "$muster_package" 2>/dev/null) in *"Candidate: (none)"*|"") ;; *) muster_found=$muster_package; break ;; esac
done
[ -n "$muster_found" ] || muster_none apt-get '@apt'
echo "Installing @name with apt-get ($muster_found)."
for muster_package in @with; do
case $(apt-cache policy "$muster_package" 2>/dev/null) in *"Candidate: (none)"*|"") ;; *) muster_found="$muster_found $muster_package" ;; esac
done
muster_tries=0
until apt-get -q -y -o DPkg::Lock::Timeout=600 -o Dpkg::Options::=--force-confold --no-install-recommends install $muster_found; do
muster_tries=$((muster_tries+1))
[ "$muster_tries" -lt 3 ] || exit 1
dpkg --force-confold --configure -a
sleep 2
done
else
muster_manager=
for muster_tool in dnf yum zypper apk; do ! command -v "$muster_tool" >/dev/null 2>&1 || { muster_manager=$muster_tool; break; }; done
[ -n "$muster_manager" ] || { echo '@name is not installed, and the node has no apt-get, dnf, yum, zypper or apk' >&2; exit 1; }
case $muster_manager in
zypper) muster_words='--non-interactive install' muster_packages='@zypper' ;;
apk) muster_words='--wait 600 add' muster_packages='@apk' ;;
*) muster_words='-y install' muster_packages='@rpm' ;;
esac
muster_found=
for muster_package in $muster_packages; do
echo "Installing @name with $muster_manager ($muster_package)."
! "$muster_manager" $muster_words "$muster_package" || { muster_found=y; break; }
done
[ -n "$muster_found" ] || muster_none "$muster_manager" "$muster_packages"
fi
@after
muster_there || { echo 'The installed package has no program '@program >&2; exit 1; }
`
