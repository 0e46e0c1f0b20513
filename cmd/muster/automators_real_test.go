//go:build real

package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	appoperation "muster/app/operation"
	"muster/jobs/remote"
	rest "muster/portal/client"
)

// TestRealPuppetAndAnsible takes two services from the catalog to machines of their own: Puppet sets up one with a module, Ansible the other with a role.
// Both are used, what one found out is known to the other, a comparison sees what someone has changed by hand, and the secret lies where it is to
// lie and nowhere else.
func TestRealPuppetAndAnsible(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Fatal("machines of the sandbox with an address of their own are made by root only")
	}
	for _, tool := range []string{"puppet", "ansible-playbook", "nginx"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%s is not here: see deploy/ci/setup.sh", tool)
		}
	}
	const secret = "5ite-k3y-0f-this-te5t"
	p := &process{t: t, data: filepath.Join(t.TempDir(), "data"), catalog: []string{"../../examples/automators/catalog"}}
	t.Cleanup(p.tidy)
	p.start()
	cl, ctx := p.client(), t.Context()
	if err := cl.Secrets.Set(ctx, "SITE_KEY", []byte(secret)); err != nil {
		t.Fatal(err)
	}
	p.push("puppet/module/site", "../../examples/automators/site")
	p.push("ansible/role/notice", "../../examples/automators/notice")
	if _, err := cl.Resources.Sync(ctx, "", false); err != nil {
		t.Fatal(err)
	}

	v := p.made("pages", "pages", 2)
	site, notice := of(v, "site")[0], of(v, "notice")[0]
	url := func(n app.Node, port string) string {
		return "http://" + n.Address(app.AddressAccess) + ":" + port + "/"
	}
	serves := func(n app.Node, port, want string) {
		t.Helper()
		if text, err := page(http.DefaultClient, url(n, port)); err != nil || strings.TrimSpace(text) != want {
			t.Errorf("%s serves %q, %v; want %q\n%s", n.Name, text, err, want, p.lines(v.ID))
		}
	}
	serves(site, "8080", "Hello from "+site.Name)
	leads := notice.Name + " of " + v.ID + ": the site of " + site.Name + " is at http://" + site.Address(app.AddressBind) + ":8080/"
	serves(notice, "8081", leads)
	if said := p.lines(v.ID); strings.Contains(said, secret) {
		t.Error("the secret is in the log")
	}

	// Nothing would change; then someone changes both pages by hand, which a comparison sees and leaves as it is.
	compared := func(want ...string) {
		t.Helper()
		p.update(v.ID, cluster.Update{Kind: app.OperationCompare})
		var d appoperation.Drift
		if err := cl.Call(ctx, http.MethodGet, rest.ClusterPath(v.ID, "drift"), nil, nil, &d); err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, i := range d.Items {
			if i.From == appoperation.DriftService {
				got = append(got, i.Text)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("compared, it is %q, want %q\n%s", got, want, p.lines(v.ID))
		}
	}
	compared()
	const siteIndex, noticeIndex = "/var/lib/muster/site/html/index.html", "/var/lib/muster/notice/html/index.html"
	p.edit(v, site, siteIndex)
	p.edit(v, notice, noticeIndex)
	compared("notice on "+notice.Name+" would change: notice : write the page (template): "+noticeIndex,
		"site on "+site.Name+" would change: File["+siteIndex+"]: content")
	serves(site, "8080", "by hand")
	serves(notice, "8081", "by hand")

	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"site": map[string]any{"heading": "Welcome"}}})
	serves(site, "8080", "Welcome from "+site.Name)
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationRestart, Services: []string{"notice"}})
	serves(notice, "8081", leads)

	// On the machines' disks.
	found := []string{}
	err := filepath.WalkDir(filepath.Join(p.data, "providers"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // a file that has just gone
		}
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(secret)) {
			found = append(found, path)
		}
		return nil
	})
	if err != nil || len(found) != 1 || !strings.HasSuffix(found[0], "var/lib/muster/site/key") {
		t.Errorf("the secret lies in %q, %v", found, err)
	}
}

// push packs a folder and makes it the next version of a resource.
func (p *process) push(resource, folder string) {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "packed.tar.gz")
	if out, err := exec.Command("tar", "-C", folder, "-czf", file, ".").CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command("muster", "resource", "push", resource, file, "--stage", "--data", p.data).CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
}

// edit changes a file on a node by hand, with the cluster's key.
func (p *process) edit(v cluster.View, n app.Node, file string) {
	p.t.Helper()
	user, key, err := p.client().Clusters.Key(p.t.Context(), v.ID)
	if err != nil {
		p.t.Fatal(err)
	}
	sh, err := remote.Dial(p.t.Context(), remote.Target{Address: n.Address(app.AddressAccess), Port: n.SSHPort, User: user, HostKey: n.HostKey, PrivateKey: key})
	if err != nil {
		p.t.Fatal(err)
	}
	defer sh.Close()
	if exit, err := sh.Run(p.t.Context(), family.Command{Line: "echo by hand >" + file}, nil); exit != 0 || err != nil {
		p.t.Fatal(exit, err)
	}
}
