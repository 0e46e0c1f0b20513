package remote_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/jobs/remote/remotetest"
)

// tools makes programs that stand before the real ones on the PATH of a server's commands. "id" says that the user is not
// root, even when the test is run by root.
func tools(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	scripts["id"] = "echo 1000"
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return "PATH=" + dir + ":$PATH"
}

// fakeSudo checks how it is called, and marks what runs under it.
const fakeSudo = `[ "$1 $2 $3" = "-n -E --" ] || { echo "sudo: bad call: $*" >&2; exit 1; }
shift 3
ROOT=yes; export ROOT
exec "$@"`

func TestSudo(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{User: "admin", Env: []string{tools(t, map[string]string{"sudo": fakeSudo})}})
	c := dial(t, s.Target())
	for sudo, want := range map[bool]string{true: "yes it's", false: "no it's"} {
		got := mustRun(t, c, family.Command{Line: `echo "${ROOT:-no} $(cat)"`, Stdin: strings.NewReader("it's"), Sudo: sudo})
		if !slices.Equal(got, []string{want}) {
			t.Errorf("sudo %v: %q", sudo, got)
		}
	}
	if exit, err := c.Run(t.Context(), family.Command{Line: "exit 1", Sudo: true}, nil); exit != 1 || err != nil {
		t.Error("a command's own exit code 1 is not sudo's:", exit, err)
	}
	if exit, err := c.Run(t.Context(), family.Command{Line: "exit 127", Sudo: true}, nil); exit != 127 || err != nil {
		t.Error(exit, err)
	}

	file := tempFile(&s.Node, "pid")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.Run(ctx, family.Command{Line: "echo $$ >" + file + "; sleep 1000; true", Sudo: true, Stdin: iotaReader("")}, nil)
		done <- err
	}()
	eventually(t, "it runs", func() bool { return len(pidsIn(file)) == 1 })
	cancel()
	wantCode(t, <-done, app.ECancelled)
	eventually(t, "it ends", func() bool { return !running(pidsIn(file)[0]) })
}

func TestSudoForRootIsNoop(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{Env: []string{tools(t, map[string]string{"sudo": "exit 9"})}})
	mustRun(t, dial(t, s.Target()), family.Command{Line: "true", Sudo: true})
}

func TestSudoRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ script, say, hint string }{
		"password": {`echo "sudo: a password is required" >&2; exit 1`, "a password is required", "NOPASSWD"},
		"terminal": {`echo "sudo: sorry, you must have a tty to run sudo" >&2; exit 1`, "must have a tty", "terminal"},
		"missing":  {`echo "sh: 3: exec: sudo: not found" >&2; exit 127`, "sudo isn't installed", "Install sudo"},
	} {
		t.Run(name, func(t *testing.T) {
			s := remotetest.Start(t, remotetest.Options{User: "admin", Env: []string{tools(t, map[string]string{"sudo": tc.script})}})
			_, err := dial(t, s.Target()).Run(t.Context(), family.Command{Line: "true", Sudo: true}, nil)
			wantCode(t, err, app.ECredentials, "User admin can't become root", tc.say, tc.hint)
		})
	}
}

// The real sudo, where there is one that lets us.
func TestRealSudo(t *testing.T) {
	t.Parallel()
	if exec.Command("sudo", "-n", "-E", "--", "true").Run() != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no sudo that works without a password (Debian: apt-get install sudo)")
		}
		t.Skip("no sudo that works without a password")
	}
	s := remotetest.Start(t, remotetest.Options{User: "admin", Env: []string{tools(t, map[string]string{})}})
	c := dial(t, s.Target())
	if got := mustRun(t, c, family.Command{Line: "cat; [ -n \"$SUDO_COMMAND\" ] && echo under sudo", Stdin: strings.NewReader("in\n"), Sudo: true}); !slices.Equal(got, []string{"in", "under sudo"}) {
		t.Errorf("%q", got)
	}
	file := tempFile(&s.Node, "pid")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.Run(ctx, family.Command{Line: "echo $$ >" + file + "; sleep 1000; true", Sudo: true}, nil)
		done <- err
	}()
	eventually(t, "it runs", func() bool { return len(pidsIn(file)) == 1 })
	cancel()
	wantCode(t, <-done, app.ECancelled)
	eventually(t, "it ends", func() bool { return !running(pidsIn(file)[0]) })
}
