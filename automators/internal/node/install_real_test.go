//go:build real

package node

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The real apt-get and dpkg, on directories of the test's own: a repository of one package, a root to install it in, and someone else who installs
// something meanwhile.
func TestInstallWithAPT(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("packages are installed by root only")
	}
	dir, err := os.MkdirTemp("", "muster-apt") // which another user can read, unlike those of tests
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root, repository := filepath.Join(dir, "root"), filepath.Join(dir, "repository")
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	const control = "Package: muster-probe\nVersion: 1.0\nArchitecture: all\nMaintainer: none <none@example.org>\nDescription: a program that says what it is\n"
	packed := filepath.Join(dir, "packed")
	write(filepath.Join(packed, "DEBIAN/control"), control, 0o644)
	write(filepath.Join(packed, "usr/bin/muster-probe"), "#!/bin/sh\necho probed\n", 0o755)
	deb := filepath.Join(repository, "muster-probe.deb")
	write(filepath.Join(repository, "none"), "", 0o644)
	if out, err := exec.Command("dpkg-deb", "--build", packed, deb).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(deb)
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(repository, "Packages"), control+fmt.Sprintf("Filename: ./muster-probe.deb\nSize: %d\nSHA256: %x\n\n", len(b), sha256.Sum256(b)), 0o644)
	for _, d := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "etc/apt/apt.conf.d", "etc/apt/preferences.d", "etc/apt/sources.list.d", "var/log/apt"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(root, "var/lib/dpkg/status"), "", 0o644)
	write(filepath.Join(root, "etc/apt/sources.list"), "deb [trusted=yes] file:"+repository+" ./\n", 0o644)
	write(filepath.Join(dir, "apt.conf"), fmt.Sprintf("Dir %q;\nDir::State::status %q;\nDPkg::Options {\"--root=%s\"; \"--force-not-root\";};\nAPT::Sandbox::User \"root\";\nAPT::Architecture \"amd64\";\n",
		root, filepath.Join(root, "var/lib/dpkg/status"), root), 0o644)

	// Someone holds the lock on the lists, then the one on what is installed.
	held := func(path string) *os.File {
		f, err := os.OpenFile(filepath.Join(root, path), os.O_CREATE|os.O_RDWR, 0o640)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK}); err != nil {
			t.Fatal(err)
		}
		return f
	}
	lists, installed := held("var/lib/apt/lists/lock"), held("var/lib/dpkg/lock-frontend")
	software := Software{Name: "Probe", Program: "muster-probe", Path: filepath.Join(root, "usr/bin"), APT: []string{"muster-none", "muster-probe"}, With: []string{"muster-along", "muster-never"}}
	run := func() (string, int) {
		var out bytes.Buffer
		cmd := exec.Command("sh", "-c", software.line())
		cmd.Env = append(os.Environ(), "APT_CONFIG="+filepath.Join(dir, "apt.conf"), "MUSTER_STATE_ROOT="+filepath.Join(dir, "state"))
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run()
		return out.String(), cmd.ProcessState.ExitCode()
	}
	began := time.Now()
	go func() {
		time.Sleep(2 * time.Second)
		_ = lists.Close()
		time.Sleep(7 * time.Second)
		_ = installed.Close()
	}()
	said, exit := run()
	if exit != 0 || !strings.Contains(said, "Installing Probe with apt-get (muster-probe).") || !strings.Contains(said, "Another installation is running; waiting.") {
		t.Fatalf("exit code %d\n%s", exit, said)
	}
	if took := time.Since(began); took < 9*time.Second {
		t.Errorf("it took %v, though another process held the locks for 9 s\n%s", took, said)
	}
	if out, err := exec.Command(filepath.Join(root, "usr/bin/muster-probe")).Output(); string(out) != "probed\n" {
		t.Errorf("%s, %v", out, err)
	}
	if said, exit = run(); exit != 0 || said != "" {
		t.Errorf("the second time: exit code %d\n%s", exit, said)
	}

	software.Program, software.APT = "muster-other", []string{"muster-other"}
	if said, exit = run(); exit == 0 || !strings.Contains(said, "No repository of apt-get has Probe (package muster-other)") {
		t.Errorf("exit code %d\n%s", exit, said)
	}
}
