//go:build linux

package jobs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/template"
	"muster/jobs"
	"muster/jobs/remote"
	"muster/providers/sandbox"
)

// boxes has every step use the same sandbox.
type boxes struct{ box family.Provider }

func (b boxes) Provider(context.Context, template.ProviderSpec) (family.Provider, error) {
	return b.box, nil
}

// Machines with a file system of their own know each other's names, and no others, whatever becomes of the cluster. What others have
// written into their hosts files stays.
func TestNodesResolveEachOther(t *testing.T) {
	t.Parallel()
	p := jobs.OpenSandbox(t, "cloud", sandbox.ModeNamespaces)
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		sleepers(e, c)
		e.keys, e.clouds = remote.Keys{}, boxes{p}
		c.Hardware["small"].Providers["cloud"] = template.Flavor{Flavor: "small"}
		c.Images["linux"].Providers["cloud"] = template.Image{Image: sandbox.HostImage}
		for _, s := range c.Services { // what scripts write is lost with their machines
			for _, a := range s.Actions {
				a.Fields = map[string]string{"script": "true"}
			}
		}
	})
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterActive)
	secrets, err := e.store.ClusterSecrets(t.Context(), app.DefaultTenant, v.ID)
	if err != nil {
		t.Fatal(err)
	}
	on := func(n app.Node, line string) (said []string) {
		t.Helper()
		conn, err := remote.Dial(t.Context(), remote.Target{Address: n.Address(app.AddressAccess), Port: n.SSHPort, User: n.SSHUser, HostKey: n.HostKey, PrivateKey: secrets.PrivateKey})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		exit, err := conn.Run(t.Context(), family.Command{Line: line}, func(_ app.Stream, line string) { said = append(said, line) })
		if err != nil || exit != 0 {
			t.Fatalf("%s on %s: %d, %v: %q", line, n.Name, exit, err, said)
		}
		return said
	}
	const own = "192.0.2.1 a-line-of-the-owner"
	check := func(v cluster.View) {
		t.Helper()
		var want []string
		for _, n := range v.Nodes {
			h := execution.HostEntryOf(n)
			want = append(want, h.Address+" "+strings.Join(h.Names, " "))
		}
		for _, n := range v.Nodes {
			got := on(n, "sed -n '/^# muster begin/,/^# muster end/p' /etc/hosts | grep -v '^#'")
			slices.Sort(got)
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Errorf("after the %s, %s knows\n%q, want\n%q", v.Operations[0].Kind, n.Name, got, want)
			}
			for _, peer := range v.Nodes {
				if peer.Name == n.Name {
					continue
				}
				for _, look := range []string{"getent hosts " + peer.Address(app.AddressBind), "getent ahostsv4 " + peer.Hostname, "getent ahostsv4 " + peer.Name} {
					if said := strings.Fields(strings.Join(on(n, look), " ") + " "); len(said) < 2 || said[0] != peer.Address(app.AddressBind) || !slices.Contains(said, peer.Hostname) {
						t.Errorf("after the %s, %s on %s says %q", v.Operations[0].Kind, look, n.Name, said)
					}
				}
			}
			if n.Name == "n1" && !slices.Contains(on(n, "cat /etc/hosts"), own) {
				t.Errorf("after the %s, the line of the owner is lost", v.Operations[0].Kind)
			}
			reports, err := e.app.Execution.Health.NodeReports(t.Context(), e.admin, v.ID, n.Name)
			if err != nil || len(reports) != 1 {
				t.Fatalf("%+v, %v", reports, err)
			}
			i := slices.IndexFunc(reports[0].Checks, func(c app.NodeCheck) bool { return c.Name == "names" })
			if found := reports[0].Checks[i]; !found.OK || found.Skipped != "" || !strings.HasPrefix(found.Want, fmt.Sprintf("names and addresses of %d machines", len(want))) {
				t.Errorf("%s was found to be %+v", n.Name, found)
			}
		}
	}
	on(v.Nodes[0], "echo "+own+" >>/etc/hosts")
	check(v)
	for _, m := range []cluster.Update{
		{Kind: app.OperationResize, Size: 4},
		{Kind: app.OperationRepair, Nodes: []string{"n2"}},
		{Kind: app.OperationResize, Size: 3},
	} {
		v, _ = e.updated(v.ID, m)
		check(v)
	}
	if _, err := e.app.Cluster.Deletes.DeleteCluster(t.Context(), e.admin, v.ID); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterDeleted)
}
