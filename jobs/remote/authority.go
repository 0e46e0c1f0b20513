package remote

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/crypto/ssh"
	"muster/app"
	"muster/app/family"
)

// authorityScript reads a line on its standard input and sees to it that the user's authorized_keys has it. All other lines
// stay. The line is added by one write, so that a concurrent reader always sees the others.
const authorityScript = `umask 077
[ -n "$HOME" ] || { echo 'the user has no home directory' >&2; exit 1; }
IFS= read -r l || [ -n "$l" ] || exit 1
d=$HOME/.ssh f=$HOME/.ssh/authorized_keys
[ -d "$d" ] || mkdir "$d" || exit 1
[ -e "$f" ] || : >>"$f" || exit 1
chmod 600 "$f" || exit 1
if grep -qxF -e "$l" "$f"; then exit 0; fi
nl=
if [ -s "$f" ] && [ -n "$(tail -c 1 "$f")" ]; then nl='
'; fi
printf '%s%s\n' "$nl" "$l" >>"$f"
`

var loginName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`)

// EnsureAuthority lets the machine's login user in also with certificates that were signed with a private key (OpenSSH PEM), where
// they name that user. Doing it again changes nothing. A file that cannot be written is EInvalid with reason "not_written".
func EnsureAuthority(ctx context.Context, sh family.Shell, user string, private []byte) error {
	if user == "" {
		user = "root"
	}
	if !loginName.MatchString(user) {
		return app.Errorf(app.EInvalid, "%.80q isn't a valid login user.", user)
	}
	key, err := ssh.ParsePrivateKey(private)
	if err != nil {
		return app.Errorf(app.EInternal, "can't read the cluster's key")
	}
	line := fmt.Sprintf("cert-authority,principals=%q %s", user, ssh.MarshalAuthorizedKey(key.PublicKey()))
	var last tail
	exit, err := sh.Run(ctx, family.Command{Line: authorityScript, Stdin: strings.NewReader(line)}, func(s app.Stream, line string) {
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
