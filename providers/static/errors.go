package static

import (
	"strings"

	"muster/app"
	"muster/providers/static/internal/shell"
)

// heard returns what a script said, its exit code, and the error for the code. exitChanged, and exitFailed of an admin's script, are for
// the caller to tell.
func (p *provider) heard(m *machine, r shell.Result) (string, int, error) {
	_, out, greeted := strings.Cut(string(r.Out), greeting+"\n")
	said := lastLine(string(r.Errors))
	if !greeted {
		return "", r.Exit, p.noOutput(m, said, r.Exit)
	}
	var e *app.Error
	switch r.Exit {
	case 0, exitChanged, exitFailed:
		return out, r.Exit, nil
	case exitBusy:
		e = app.Errorf(app.ETransient, "Machine %s is in use by another process.", m.name)
		e.Hint = "A script of another Muster process may still be running there."
	case exitRoom:
		e = app.Errorf(app.ETransient, "Can't write the record of machine %s: %s.", m.name, said)
		e.Hint = "Check the file system with /var/lib/muster: it may be full or read-only."
	case exitKeys:
		e = app.Errorf(app.EInvalid, "Can't write the authorized_keys of %s on machine %s: %s.", m.user, m.name, said)
		e.Hint = "Check the user's home directory."
	case exitName:
		e = app.Errorf(app.EInvalid, "Can't set the host name of machine %s: %s.", m.name, said)
		e.Hint = "Containers with a fixed host name can't be used."
	case exitTools:
		e = app.Errorf(app.EInvalid, "Machine %s lacks flock, timeout or mktemp.", m.name)
		e.Hint = "Install util-linux and coreutils, or busybox with them."
	default:
		e = app.Errorf(app.ETransient, "A script on machine %s failed with exit code %d: %s.", m.name, r.Exit, said)
		e.Hint = "Check the machine's own log."
	}
	return out, r.Exit, e
}

// noOutput is the error of a machine on which no script ran.
func (p *provider) noOutput(m *machine, said string, exit int) error {
	if p.sudo && m.user != "root" && strings.Contains(said, "sudo") {
		e := app.Errorf(app.ECredentials, "User %s of machine %s can't become root without a password: %s.", m.user, m.name, said)
		e.Reason, e.Hint = "sudo", "Allow it with NOPASSWD in sudoers, or set sudo to false."
		return e
	}
	e := app.Errorf(app.EInvalid, "Machine %s accepts the key but can't run sh (exit code %d): %s.", m.name, exit, said)
	e.Reason, e.Hint = "no_shell", "The user's login shell must run commands, and sh must be in its PATH."
	return e
}

// lastLine returns the end of what was said, for a sentence.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		s = s[i+1:]
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if s = strings.TrimRight(s, ". "); s == "" {
		return "no output"
	}
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// tail returns the last two lines of an admin's script.
func tail(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) > 2 {
		lines = lines[len(lines)-2:]
	}
	for i := range lines {
		lines[i] = lastLine(lines[i])
	}
	return strings.Join(lines, "; ")
}
