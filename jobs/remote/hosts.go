package remote

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
)

const (
	hostsBegin = "# muster begin"
	hostsEnd   = "# muster end"
)

// hostsScript reads the wanted lines on its standard input and makes them the only block of the file named by f. Where k is set, they are
// added to the block: what is in it stays, but for lines of an address or a first name that k lists. All lines outside of blocks
// stay as they are, also those after a begin that has no end. It writes only when something changes, and by a move,
// unless the file cannot be moved over, as where a container engine has mounted it. A node's steps
// run one after the other, so nothing else writes meanwhile.
const hostsScript = `umask 022
set -f
[ -e "$f" ] || : >"$f" || exit 1
t=$(mktemp "$f.XXXXXX") || exit 1
trap 'rm -f "$t"' EXIT
cp -p "$f" "$t" || exit 1
w=$(cat)
nl='
'
held= in= old=
merge() {
case "$w$nl" in "$old") return ;; esac
new= seen=$nl
while IFS= read -r l; do
[ -n "$l" ] || continue
case $nl$w$nl in
*"$nl$l$nl"*)
case $seen in *"$nl$l$nl"*) continue ;; esac
seen=$seen$l$nl
;;
*)
a=${l%% *} n=${l#* }
case $k in *" $a "*|*" ${n%% *} "*) continue ;; esac
;;
esac
new=$new$l$nl
done <<END
$old
END
while IFS= read -r l; do
case $seen in *"$nl$l$nl"*) ;; *) new=$new$l$nl ;; esac
done <<END
$w
END
w=${new%"$nl"}
}
{
while IFS= read -r l || [ -n "$l" ]; do
if [ -n "$in" ]; then
if [ "$l" = "$e" ]; then old=$old$held in= held=; continue; fi
if [ "$l" != "$b" ]; then held=$held$l$nl; continue; fi
printf %s "$held"
held=
elif [ "$l" = "$b" ]; then in=1 held=
else printf '%s\n' "$l"
fi
done
printf %s "$held"
[ -z "$k" ] || merge
if [ -n "$w" ]; then printf '%s\n%s\n%s\n' "$b" "$w" "$e"; fi
} <"$f" >"$t" || exit 1
if [ "$(cat "$t"; echo .)" = "$(cat "$f"; echo .)" ]; then exit 0; fi
mv -f "$t" "$f" 2>/dev/null || cat "$t" >"$f"
`

// isHostName reports whether a name has at most 255 letters, digits, underscores, dots and hyphens, the latter two neither first nor last.
// A node of a thousand learns three thousand names, so it's no regular expression.
func isHostName(s string) bool {
	if s == "" || len(s) > 255 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_':
		case c != '.' && c != '-', i == 0, i == len(s)-1:
			return false
		}
	}
	return true
}

// SetHosts makes these names, and no others that Muster wrote before, resolve on the machine, by a block of its own in /etc/hosts between
// "# muster begin" and "# muster end"; without entries the block goes away. Everything outside the block stays. Doing it again changes
// nothing, and over the same connection it asks nothing of the machine. A bad address or name is EInvalid; a file that cannot be written is EInvalid
// too, with reason "not_written".
func SetHosts(ctx context.Context, sh family.Shell, entries []family.HostEntry, sudo bool) error {
	return writeHosts(ctx, sh, hostsWrite{file: "/etc/hosts", entries: entries, sudo: sudo})
}

// RewriteHosts is SetHosts that asks the machine in any case: others may have written over other connections.
func RewriteHosts(ctx context.Context, sh family.Shell, entries []family.HostEntry, sudo bool) error {
	return writeHosts(ctx, sh, hostsWrite{file: "/etc/hosts", entries: entries, sudo: sudo, ask: true})
}

// AddHosts is SetHosts that keeps what is in the block, unless it is of the same address or the same first name.
func AddHosts(ctx context.Context, sh family.Shell, entries []family.HostEntry, sudo bool) error {
	return writeHosts(ctx, sh, hostsWrite{file: "/etc/hosts", entries: entries, sudo: sudo, add: true})
}

// hostsWrite is what is to be written into a hosts file.
type hostsWrite struct {
	file    string
	entries []family.HostEntry
	sudo    bool
	add     bool // to what is in the block
	ask     bool // although it was done over this connection before
}

func writeHosts(ctx context.Context, sh family.Shell, h hostsWrite) error {
	block, err := hostsBlock(h.entries)
	if err != nil || h.add && block == "" {
		return err
	}
	file, keys := h.file, ""
	if h.add {
		var b strings.Builder
		b.WriteByte(' ')
		for line := range strings.Lines(block) {
			address, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			name, _, _ := strings.Cut(rest, " ")
			b.WriteString(address + " " + name + " ")
		}
		keys = b.String()
	}
	var known *atomic.Pointer[string]
	sum := sha256.Sum256([]byte(file + "\n" + keys + "\n" + block))
	what := string(sum[:]) // the block of a large cluster is long
	if s, ok := sh.(claimable); ok {
		known = s.knownHosts()
		if k := known.Load(); !h.ask && k != nil && *k == what {
			return nil
		}
	}
	var last tail
	exit, err := sh.Run(ctx, family.Command{
		Line:  "b=" + humanize.ShellQuote(hostsBegin) + " e=" + humanize.ShellQuote(hostsEnd) + " f=" + humanize.ShellQuote(file) + " k=" + humanize.ShellQuote(keys) + "\n" + hostsScript,
		Stdin: strings.NewReader(block),
		Sudo:  h.sudo,
	}, func(s app.Stream, line string) {
		if s == family.StreamErr {
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
		Message: because("Can't write host names to "+file+" (exit code "+strconv.Itoa(exit)+")", last.String()),
	}
}

// hostsBlock returns the lines between the marks. They go into a file that everything on the machine trusts, so nothing
// but addresses and names gets in.
func hostsBlock(entries []family.HostEntry) (string, error) {
	var b strings.Builder
	for _, e := range entries {
		addr, err := netip.ParseAddr(e.Address)
		if err != nil || addr.Zone() != "" {
			return "", app.Errorf(app.EInvalid, "%q isn't a valid IP address.", e.Address)
		}
		if len(e.Names) == 0 {
			continue
		}
		b.WriteString(addr.String())
		for _, n := range e.Names {
			if !isHostName(n) {
				return "", app.Errorf(app.EInvalid, "%q isn't a valid host name.", n)
			}
			b.WriteByte(' ')
			b.WriteString(n)
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}
