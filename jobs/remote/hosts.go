package remote

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"

	"muster/app"
)

const (
	hostsBegin = "# muster begin"
	hostsEnd   = "# muster end"
)

// hostsScript reads the wanted block on its standard input and makes it the only one of the file named by f. All other
// lines stay as they are, also those after a begin that has no end. It writes only when something changes, and by a move,
// unless the file cannot be moved over, as where a container engine has mounted it.
const hostsScript = `umask 022
[ -e "$f" ] || : >"$f" || exit 1
t=$(mktemp "$f.XXXXXX") || exit 1
trap 'rm -f "$t"' EXIT
cp -p "$f" "$t" || exit 1
w=$(cat)
nl='
'
held= in=
{
while IFS= read -r l || [ -n "$l" ]; do
if [ -n "$in" ]; then
if [ "$l" = "$e" ]; then in= held=; continue; fi
if [ "$l" != "$b" ]; then held=$held$l$nl; continue; fi
printf %s "$held"
held=
elif [ "$l" = "$b" ]; then in=1 held=
else printf '%s\n' "$l"
fi
done
printf %s "$held"
if [ -n "$w" ]; then printf '%s\n%s\n%s\n' "$b" "$w" "$e"; fi
} <"$f" >"$t" || exit 1
if [ "$(cat "$t"; echo .)" = "$(cat "$f"; echo .)" ]; then exit 0; fi
mv -f "$t" "$f" 2>/dev/null || cat "$t" >"$f"
`

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,253}[A-Za-z0-9_])?$`)

// EnsureHosts makes the names resolve on the machine, by a block of its own in /etc/hosts between "# muster begin" and
// "# muster end"; without entries the block goes away. Everything outside the block stays. Doing it again changes
// nothing, and over the same connection it asks nothing of the machine. A bad address or name is EInvalid; a file that cannot be written is EInvalid too, with reason "not_written".
func EnsureHosts(ctx context.Context, sh app.Shell, entries []app.HostEntry, sudo bool) error {
	return ensureHosts(ctx, sh, "/etc/hosts", entries, sudo)
}

func ensureHosts(ctx context.Context, sh app.Shell, file string, entries []app.HostEntry, sudo bool) error {
	block, err := hostsBlock(entries)
	if err != nil {
		return err
	}
	var known *atomic.Pointer[string]
	sum := sha256.Sum256([]byte(file + "\n" + block))
	what := string(sum[:]) // the block of a large cluster is long
	if s, ok := sh.(claimable); ok {
		known = s.knownHosts()
		if k := known.Load(); k != nil && *k == what {
			return nil
		}
	}
	var last tail
	exit, err := sh.Run(ctx, app.Command{
		Line:  "b=" + app.ShellQuote(hostsBegin) + " e=" + app.ShellQuote(hostsEnd) + " f=" + app.ShellQuote(file) + "\n" + hostsScript,
		Stdin: strings.NewReader(block),
		Sudo:  sudo,
	}, func(s app.Stream, line string) {
		if s == app.StreamErr {
			last.set(line)
		}
	})
	if err == nil && exit == 0 && known != nil {
		known.Store(&what)
	}
	if err != nil || exit == 0 {
		return err
	}
	return &app.Error{
		Code: app.EInvalid, Reason: "not_written",
		Message: because("The host names could not be written to "+file+" (exit code "+strconv.Itoa(exit)+")", last.String()),
	}
}

// hostsBlock gives the lines between the marks. They go into a file that everything on the machine trusts, so nothing
// but addresses and names gets in.
func hostsBlock(entries []app.HostEntry) (string, error) {
	var b strings.Builder
	for _, e := range entries {
		addr, err := netip.ParseAddr(e.Address)
		if err != nil || addr.Zone() != "" {
			return "", app.Errorf(app.EInvalid, "%q is not an IP address.", e.Address)
		}
		if len(e.Names) == 0 {
			continue
		}
		b.WriteString(addr.String())
		for _, n := range e.Names {
			if !hostName.MatchString(n) {
				return "", app.Errorf(app.EInvalid, "%q is not a host name.", n)
			}
			b.WriteString(" " + n)
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}
