package examples_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestDaemonIsIdentifiedByItsStartTime checks that the library finds a daemon that can't be identified by environment or name, such as Redis, and ignores a
// process that reuses the ID of one that has ended.
func TestDaemonIsIdentifiedByItsStartTime(t *testing.T) {
	t.Parallel()
	here := t.TempDir()
	n := &node{t: t, c: load(t), name: "n1", state: here}
	n.env = []string{"PATH=" + os.Getenv("PATH"), "MUSTER_CLUSTER=one", "MUSTER_NODE=n1", "MUSTER_HOSTNAME=n1"}
	for _, dir := range []string{"base", "quiet/one-n1"} {
		if err := os.MkdirAll(filepath.Join(here, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	n.run("base", "install")
	// With systemd, units identify daemons; this test is for hosts without it.
	library := filepath.Join(here, "base", "lib.sh")
	text, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(library, []byte(strings.ReplaceAll(string(text), "/run/systemd/system", here+"/no-systemd")), 0o600); err != nil {
		t.Fatal(err)
	}
	sh := func(script string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "sh", "-eu", "-c", `. "${MUSTER_STATE%/*}/base/lib.sh"; `+script)
		cmd.Env = append(n.env, "MUSTER_STATE="+here+"/quiet")
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	record := filepath.Join(here, "quiet/one-n1/quiet.begun")
	if err := os.WriteFile(filepath.Join(here, "quiet/one-n1/quiet.run"), []byte("#!/bin/sh\nexec env -i sleep 300\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := sh("daemon quiet root; sleep 0.2; pid_of quiet"); err != nil {
		t.Fatal(out, err)
	}
	first, err := sh("pid_of quiet")
	pid, _ := strconv.Atoi(first)
	if err != nil || pid < 2 {
		t.Fatalf("a daemon with an empty environment is not found: %q %v", first, err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-pid, syscall.SIGKILL) })
	if out, err := sh("daemon quiet root; pid_of quiet"); err != nil || out != "quiet is already running\n"+first {
		t.Errorf("started twice: %q %v", out, err)
	}
	kept, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := sh("halt quiet; pid_of quiet"); err == nil || out != "" {
		t.Errorf("after halt: %q %v", out, err)
	}
	if err := syscall.Kill(pid, 0); err == nil {
		if b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); !strings.Contains(string(b), ") Z ") {
			t.Errorf("%d lives on: %s", pid, b)
		}
	}

	// The ID of the stopped daemon now belongs to another process: this test.
	_, when, _ := strings.Cut(string(kept), " ")
	for _, text := range []string{fmt.Sprintf("%d %s", os.Getpid(), when), fmt.Sprintf("%d \n", os.Getpid()), fmt.Sprintf("%d\n", os.Getpid()), string(kept), "\n"} {
		if err := os.WriteFile(record, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := sh("pid_of quiet"); err == nil || out != "" {
			t.Errorf("%q is taken for the daemon: %q %v", text, out, err)
		}
	}
}
