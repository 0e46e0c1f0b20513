package userdata

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
)

// StartOptions are what a member adds to the spec for a machine that runs a script at its starts.
type StartOptions struct {
	// User is who Muster logs in as: root, or one that gets sudo without a password.
	User string
	// DataDisks is as in Options.
	DataDisks bool
	// Started is the body of a function of bash by which the machine says, at each start, that it is done. It may be asked before that.
	Started string
	// Custom is people's own script, see CheckScript. It runs as root once, after Muster's part.
	Custom string
}

//go:embed start.sh
var startText string

var userForm = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,31}$`)

// StartScript returns the script for clouds whose images have no cloud-init, but an agent that runs a script as root at each start. It does its work
// at the first one: what Muster changes later, such as who is let in, is not to be undone. It is for Linux with bash. The public half of the host key is
// returned beside it. EInvalid for a host key that cannot be read, and for a user that is no name.
func StartScript(spec family.MachineSpec, o StartOptions) (script, hostKey string, err error) {
	if strings.ContainsAny(spec.AuthorizedKey, "\n\r") || !userForm.MatchString(o.User) {
		return "", "", app.Errorf(app.EInvalid, "the user %q and its key can't be written to user data", o.User)
	}
	file := ""
	if len(spec.HostKey) > 0 {
		if hostKey, err = account.PublicLine(spec.HostKey); err != nil {
			return "", "", err
		}
		kind, ok := kinds[strings.Fields(hostKey)[0]]
		if !ok {
			return "", "", app.Errorf(app.EInvalid, "host keys of type %s aren't supported", strings.Fields(hostKey)[0])
		}
		file = "ssh_host_" + kind + "_key"
	}
	disks := ""
	if o.DataDisks {
		disks = diskScript
	}
	mark := sha256.Sum256([]byte(spec.Tags[family.TagInstallation] + "\x00" + spec.Intent))
	var b strings.Builder
	b.WriteString("#!/bin/bash\n")
	for _, v := range [][2]string{{"MARK", hex.EncodeToString(mark[:16])}, {"SSH_USER", o.User}, {"AUTHORIZED", spec.AuthorizedKey}, {"SHORT", account.Name(spec.Hostname)},
		{"FULL", spec.Hostname}, {"KEY_FILE", file}, {"KEY_PRIVATE", encoded(string(spec.HostKey))}, {"KEY_PUBLIC", hostKey}, {"DISKS",
			encoded(disks)},
		{"CUSTOM", encoded(strings.TrimSpace(o.Custom))}} {
		b.WriteString(v[0] + "=" + quoted(v[1]) + "\n")
	}
	b.WriteString("\nsay_started() {\n" + strings.TrimRight(o.Started, "\n") + "\n}\n\n")
	return b.String() + startText, hostKey, nil
}

func encoded(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// quoted is one word for the shell, whatever is in it.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
