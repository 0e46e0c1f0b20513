//go:build real

package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	"muster/cmd/muster/cluster"
)

// An owner opens a node without having the cluster's key: with a certificate for the visit, and with one for a key of hers.
func TestRealOwnerVisitsANode(t *testing.T) {
	p := newProcess(t)
	v := p.await(p.create(3).ID)
	if v.Status != app.ClusterActive {
		t.Fatalf("%+v\n%s", v, p.out)
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	muster := func(args ...string) (string, string, int) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), hangs)
		defer cancel()
		cmd := exec.CommandContext(ctx, "muster", append([]string{"cluster", args[0], "--data", p.data}, args[1:]...)...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run()
		return out.String(), errs.String(), cmd.ProcessState.ExitCode()
	}
	for _, args := range [][]string{{"ssh", "web", "n1", "--", "echo", "hello"}, {"ssh", "web", "--", "echo hello"}} {
		if out, errs, code := muster(args...); out != "hello\n" || errs != "" || code != 0 {
			t.Errorf("%q: %q, %q, exit code %d", args, out, errs, code)
		}
	}
	if out, errs, code := muster("ssh", "web", "n1", "--", "exit 7"); out != "" || errs != "" || code != 7 {
		t.Errorf("%q, %q, exit code %d", out, errs, code)
	}
	if _, errs, code := muster("ssh", "web", "n9", "--", "true"); code != 1 || !strings.Contains(errs, "node n9 of cluster web doesn't exist") || !strings.Contains(errs, "n1") {
		t.Errorf("%q, exit code %d", errs, code)
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "muster-ssh-*")); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}

	key := filepath.Join(temp, "id")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, errs, code := muster("certificate", "web", "--public-key", key+".pub", "--ttl", "2h"); code != 0 || !strings.HasPrefix(out, "Wrote certificate "+key+"-cert.pub: sign in as ") {
		t.Fatalf("%q, %q, exit code %d", out, errs, code)
	}
	if _, errs, code := muster("certificate", "web", "--public-key", key); code != 2 || !strings.Contains(errs, "private key") {
		t.Errorf("%q, exit code %d", errs, code)
	}
	if _, errs, code := muster("certificate", "web", "--public-key", key+".pub", "--ttl", "9h"); code != 2 || !strings.Contains(errs, "1 min to 8 h") {
		t.Errorf("%q, exit code %d", errs, code)
	}
	said, err := exec.Command("ssh-keygen", "-L", "-f", key+"-cert.pub").CombinedOutput()
	if err != nil || !strings.Contains(string(said), `Key ID: "muster:default/`) || !strings.Contains(string(said), "permit-pty") ||
		!strings.Contains(string(said), "permit-port-forwarding") || strings.Count(string(said), "permit-") != 2 {
		t.Errorf("%s, %v", said, err)
	}
	n := v.Nodes[0]
	known := filepath.Join(temp, "known_hosts")
	if err := os.WriteFile(known, []byte(cluster.KnownHosts(v.Nodes)), 0o600); err != nil {
		t.Fatal(err)
	}
	args := strings.Fields(strings.TrimPrefix(cluster.SSHLine(key, n.SSHUser, n), "ssh "))
	args[1] = key // of the person, not of the cluster
	for i, a := range args {
		if strings.HasPrefix(a, "UserKnownHostsFile=") {
			args[i] = "UserKnownHostsFile=" + known
		}
	}
	args = append([]string{"-F", "none", "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none"}, args...)
	if out, err := exec.Command("ssh", append(args, "echo hello")...).CombinedOutput(); err != nil || string(out) != "hello\n" {
		t.Errorf("ssh %q: %q, %v", args, out, err)
	}
	if err := os.Remove(key + "-cert.pub"); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("ssh", append(args, "echo hello")...).CombinedOutput(); err == nil {
		t.Errorf("without the certificate it is let in: %s", out)
	}

	var audit struct{ Entries []app.AuditEntry }
	if err := p.client().Call(t.Context(), http.MethodGet, "/audit", map[string][]string{"act": {"cluster.certificate"}}, nil, &audit); err != nil {
		t.Fatal(err)
	}
	if len(audit.Entries) != 4 {
		t.Errorf("the audit has %+v", audit.Entries)
	}
}
