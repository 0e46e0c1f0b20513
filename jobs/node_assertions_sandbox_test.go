//go:build linux

package jobs

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/plan"
	"muster/app/template"
	"muster/jobs/remote"
	"muster/providers/sandbox"
)

// Nodes of the sandbox pass the assertions in both of its modes.
func TestNodeAssertionsOnSandboxNodes(t *testing.T) {
	for _, mode := range []string{sandbox.ModeNamespaces, sandbox.ModeProcess} {
		t.Run(mode, func(t *testing.T) {
			n, key := sandboxNode(t, mode)
			sh, err := remote.Wait(t.Context(), target(n, key))
			if err != nil {
				t.Fatal(err)
			}
			defer sh.Close()

			w := &actions{}
			as := &execution.Assignment{Node: n, Epoch: 1, Cluster: app.Cluster{ID: "c1"},
				Hosts: []family.HostEntry{{Address: n.Address(app.AddressBind), Names: []string{n.Hostname, "n1"}}, {Address: "10.99.0.7", Names: []string{"n2.c1.example.org"}}}}
			under := remote.Under(sh, w.nodeClaim(as))
			if err := ensureHosts(t.Context(), as, under); err != nil {
				t.Fatal(err)
			}
			var r execution.Report
			out := func(_ app.Stream, line string) { t.Log(line) }
			if err := w.checkNode(t.Context(), as, under, out, &r); err != nil {
				t.Error(err)
			}
			if r.Contract == nil || len(r.Contract.Checks) < 12 || r.Contract.At.IsZero() {
				t.Fatalf("%+v", r.Contract)
			}
			skipped := 0
			for _, c := range r.Contract.Checks {
				t.Log(c)
				if strings.Contains(c.Skipped, "shares") {
					skipped++
				}
			}
			if shares := mode == sandbox.ModeProcess; shares != (skipped > 0) {
				t.Errorf("%d checks were left out because the machine shares the host's files", skipped)
			}

			// A machine that isn't as declared is reported.
			as.Machine.Image.Extra = map[string]string{"os": "plan9"}
			err = w.checkNode(t.Context(), as, under, out, &r)
			if e := app.AsError(err); e.Code != app.EInvalid || e.Reason != "node_contract" || !strings.Contains(e.Message, "plan9") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A names step fails where what it has written is not what the machine says: something else there decides. What services need besides, it
// only notes.
func TestNamesThatDoNotResolve(t *testing.T) {
	n, key := sandboxNode(t, sandbox.ModeNamespaces)
	shells := sshShells{remote.NewPool(remote.PoolOptions{})}
	defer shells.Close()
	w := &actions{WorkerConfig: WorkerConfig{Shells: shells}}
	as := &execution.Assignment{Action: app.ActionNames, Node: n, Epoch: 1, Cluster: app.Cluster{ID: "c1"}, SSHKey: key, HostsWhole: true, Automators: []string{"none"}}
	for i := range plan.NamesMost {
		as.Hosts = append(as.Hosts, family.HostEntry{Address: fmt.Sprintf("10.99.%d.%d", i/250, i%250+1), Names: []string{fmt.Sprintf("a-cluster-with-a-name-7-n%d.example.org", i), fmt.Sprintf("n%d", i)}})
	}
	w.Automators = map[string]family.Automator{"none": needy{}}
	out := func(_ app.Stream, line string) { t.Log(line) }
	if _, err := shells.Await(t.Context(), target(n, key)); err != nil {
		t.Fatal(err)
	}
	var r execution.Report
	if err := w.names(t.Context(), as, out, &r); err != nil {
		t.Fatal(err)
	}
	find := func(name string) app.NodeCheck {
		return r.Contract.Checks[slices.IndexFunc(r.Contract.Checks, func(c app.NodeCheck) bool { return c.Name == name })]
	}
	if c := find("names"); !c.OK || c.Skipped != "" || c.Want != "names and addresses of "+humanize.Count(plan.NamesMost, "machine")+" resolve both ways" {
		t.Errorf("%+v", c)
	}
	if c := find("programs"); c.OK {
		t.Errorf("%+v", c)
	}
	err := w.onNode(t.Context(), as, func(sh family.Shell) error {
		_, err := sh.Run(t.Context(), family.Command{Line: "sed -i '1i 10.99.0.8 bank.example.org' /etc/hosts"}, out)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = w.names(t.Context(), as, out, &r)
	if e := app.AsError(err); e.Reason != "node_contract" || !strings.Contains(e.Message, "1 unresolved: a-cluster-with-a-name-7-n7.example.org") || strings.Contains(e.Message, "programs") {
		t.Errorf("got %v", err)
	}
}

// needy is an automator that needs a program which there is not.
type needy struct{ family.Automator }

func (needy) Tools() []string { return []string{"no-such-program"} }

// OpenSandbox opens a sandbox that ends with the test. Where there can be no namespaces the test is left out; in CI it fails.
func OpenSandbox(t *testing.T, provider, mode string) family.Provider {
	t.Helper()
	dir, err := os.MkdirTemp("", "mustersb") // t.TempDir cannot be removed while mounts go away
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p, err := sandbox.Open(t.Context(), provider, map[string]any{"mode": mode}, sandbox.Env{DataDir: dir})
	switch {
	case err == nil:
	case mode == sandbox.ModeProcess || os.Getenv("CI") != "":
		t.Fatal(err)
	default:
		t.Skip("there can be no namespaces here: ", err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// sandboxNode makes a machine of a sandbox of its own and returns it as a confirmed node, with the key that lets in. The test's end deletes it.
func sandboxNode(t *testing.T, mode string) (app.Node, []byte) {
	t.Helper()
	p := OpenSandbox(t, "here", mode)
	private, public, err := remote.Keys{}.NewKey("test")
	if err != nil {
		t.Fatal(err)
	}
	host, _, err := remote.Keys{}.NewKey("")
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Create(t.Context(), family.MachineSpec{
		Intent: "i1", Hostname: "n1.c1.example.org", Flavor: template.Flavor{Flavor: "small"}, Image: template.Image{Image: sandbox.HostImage},
		HostKey: host, AuthorizedKey: public,
		Tags: map[string]string{family.TagInstallation: "test", family.TagTenant: "t", family.TagCluster: "c1", family.TagNode: "n1", family.TagIntent: "i1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Delete(context.Background(), m.ID); err != nil {
			t.Error(err)
		}
	})
	as := &execution.Assignment{Node: app.Node{Name: "n1", MachineID: m.ID}}
	if m, err = awaitAddress(t.Context(), p, as, newProgress(func(app.Stream, string) {})); err != nil {
		t.Fatal(err)
	}
	return app.Node{Cluster: "c1", Name: "n1", Hostname: "n1.c1.example.org", MachineID: m.ID, Addresses: m.Addresses,
		SSHUser: m.SSHUser, SSHPort: m.SSHPort, HostKey: m.HostKey, OwnRoot: m.OwnRoot}, private
}
