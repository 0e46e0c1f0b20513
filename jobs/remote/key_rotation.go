package remote

import (
	"context"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"

	"golang.org/x/crypto/ssh"
)

// forgetScript reads the second word of a public key on its standard input and takes every line with it out of the authorized_keys file that is named
// by f, whatever it lets in: the key itself, or certificates that it has signed. The file is replaced by a move, so that a concurrent login sees it as it was
// or as it will be. A file that would hold nothing then is left as it is, unless all is set: no one could come in any more.
const forgetScript = `umask 077
[ -n "$HOME" ] || { echo 'the user has no home directory' >&2; exit 1; }
IFS= read -r k || [ -n "$k" ] || exit 1
f=${f:-$HOME/.ssh/authorized_keys}
[ -e "$f" ] || exit 0
grep -qF -e "$k" "$f" || exit 0
t=$(mktemp "$f.XXXXXX") || exit 1
trap 'rm -f "$t"' EXIT
cp -p "$f" "$t" || exit 1
grep -vF -e "$k" "$f" >"$t"
[ -s "$t" ] || [ -n "$all" ] || { echo 'no key would be left' >&2; exit 1; }
mv -f "$t" "$f"
`

// AuthorizeKey lets the holder of a private key (OpenSSH PEM) in as the machine's login user. Doing it again changes nothing. A file that cannot be written is
// EInvalid with reason "not_written".
func AuthorizeKey(ctx context.Context, sh family.Shell, private []byte) error {
	line, err := publicOf(private)
	if err != nil {
		return err
	}
	return authorizedKeys(ctx, sh, family.Command{Line: authorityScript}, line+" muster")
}

// containerKeys is where a container's keys are that its provider put there, beside those of the login user; see providers/docker.
const containerKeys = "/etc/muster-ssh/authorized_keys"

// ForgetKey lets neither the holder of a private key nor those in whom it has certified; with sudo not as root either, where images leave the key
// too. Doing it again changes nothing; errors are those of AuthorizeKey, and of sudo.
func ForgetKey(ctx context.Context, sh family.Shell, private []byte, sudo bool) error {
	line, err := publicOf(private)
	if err != nil {
		return err
	}
	blob := strings.Fields(line)[1]
	if err := authorizedKeys(ctx, sh, family.Command{Line: forgetScript}, blob); err != nil {
		return err
	}
	if err := forgetIn(ctx, sh, containerKeys, blob, sudo); err != nil || !sudo {
		return err
	}
	return authorizedKeys(ctx, sh, family.Command{Line: "HOME=/root all=1\n" + forgetScript, Sudo: true}, blob)
}

// forgetIn takes a key out of a file that may hold nothing then; none is left as it is.
func forgetIn(ctx context.Context, sh family.Shell, file, blob string, sudo bool) error {
	return authorizedKeys(ctx, sh, family.Command{Line: "f=" + humanize.ShellQuote(file) + " all=1\n" + forgetScript, Sudo: sudo}, blob)
}

// SameKey reports whether two private keys are the same; keys that cannot be read never are.
func SameKey(a, b []byte) bool {
	x, err := publicOf(a)
	if err != nil {
		return false
	}
	y, err := publicOf(b)
	return err == nil && x == y
}

func publicOf(private []byte) (string, error) {
	key, err := ssh.ParsePrivateKey(private)
	if err != nil {
		return "", app.Errorf(app.EInternal, "can't read a cluster's key")
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key.PublicKey()))), nil
}

func authorizedKeys(ctx context.Context, sh family.Shell, cmd family.Command, input string) error {
	var last tail
	cmd.Stdin = strings.NewReader(input + "\n")
	exit, err := sh.Run(ctx, cmd, func(s app.Stream, line string) {
		if s == family.StreamErr {
			last.set(line)
		}
	})
	if err != nil || exit == 0 {
		return err
	}
	return &app.Error{Code: app.EInvalid, Reason: "not_written",
		Message: fmt.Sprintf("Can't write the user's authorized_keys (exit code %d): %s", exit, &last)}
}

// nameScript sets the machine's the name to h where it has another one, as far as it can: in its file, and with its kernel. The file is what counts at
// the next boot.
const nameScript = `[ "$(cat /etc/hostname 2>/dev/null)" = "$h" ] || printf '%s\n' "$h" >/etc/hostname || exit 1
[ "$(uname -n)" = "$h" ] || hostname "$h" 2>/dev/null || hostnamectl set-hostname "$h" 2>/dev/null || sysctl -qw kernel.hostname="$h" 2>/dev/null || exit 3
`

// SetHostname changes the host name of a machine. Doing it again changes nothing. Where it cannot be done, it is EInvalid with reason "not_named".
func SetHostname(ctx context.Context, sh family.Shell, name string, sudo bool) error {
	if !isHostName(name) {
		return app.Errorf(app.EInvalid, "%.80q isn't a valid host name.", name)
	}
	if len(name) > 64 { // more than kernels take
		name, _, _ = strings.Cut(name, ".")
	}
	var last tail
	exit, err := sh.Run(ctx, family.Command{Line: "h=" + humanize.ShellQuote(name) + "\n" + nameScript, Sudo: sudo}, func(s app.Stream, line string) {
		if s == family.StreamErr {
			last.set(line)
		}
	})
	if err != nil || exit == 0 {
		return err
	}
	return &app.Error{Code: app.EInvalid, Reason: "not_named", Message: fmt.Sprintf("Can't set the machine's host name (exit code %d): %s", exit, &last)}
}

// WaitAny is Wait for a machine of which it is not known by which of several keys it is opened: all are tried in turn, the first that is let in returns the
// connection and its place in ts. Only where all were refused for 30 seconds it is ECredentials.
func WaitAny(ctx context.Context, ts ...Target) (*Conn, int, error) {
	return waitAny(ctx, defaults(), ts...)
}

func waitAny(ctx context.Context, set settings, ts ...Target) (*Conn, int, error) {
	began := time.Now()
	var refused time.Time
	for pause, try := waitFirst, 1; ; pause, try = nextPause(pause), try+1 {
		no := 0
		var last error
		for i, t := range ts {
			// One try each: what passes is waited for here, for all of them together.
			c, err := dial(ctx, t, patient(set, try))
			if err == nil {
				return c, i, nil
			}
			if isOver(ctx) {
				return nil, 0, err
			}
			last = err
			tell(ctx, try, err)
			switch e := app.AsError(err); {
			case e.Code == app.ECredentials && e.Reason == "auth_refused":
				no++
			case e.Code != app.ETransient:
				return nil, 0, err
			}
		}
		if no < len(ts) {
			refused = time.Time{}
		} else if refused.IsZero() {
			refused = time.Now()
		} else if time.Since(refused) >= set.authGrace {
			return nil, 0, last
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, 0, waited(ctx, ts[0], began, last)
		}
	}
}
