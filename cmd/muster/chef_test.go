//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
	appresource "muster/app/resource"
	"muster/cmd/muster/server"
)

// packed returns a folder as a tar.gz.
func packed(t *testing.T, folder string) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := w.AddFS(os.DirFS(folder))
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return &b
}

// push makes a content the version in use of a resource.
func (w *fleetServer) push(resource string, content *bytes.Buffer) appresource.Version {
	w.Helper()
	id, err := appresource.ParseResourceID(resource)
	if err != nil {
		w.Fatal(err)
	}
	v, err := w.server.Services.Resource.PushResource(w.Context(), w.admin(""), appresource.Push{ID: id, Stage: true}, content)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := w.server.Services.Resource.SyncResources(w.Context(), w.admin(""), appresource.Filter{}, false); err != nil {
		w.Fatal(err)
	}
	return v
}

// said returns what the cluster's steps have said since, each line with its step.
func (w *fleetServer) said(id string) string {
	w.Helper()
	found, err := w.server.Services.Cluster.Activity.Logs(w.Context(), w.admin(""), id, cluster.LogFilter{Tail: true, Limit: 1000})
	if err != nil {
		w.Fatal(err)
	}
	var b strings.Builder
	for _, l := range found {
		b.WriteString(l.Step + ": " + l.Text + "\n")
	}
	return b.String()
}

// updated has an update done to its end.
func (w *fleetServer) updated(id string, m cluster.Update) {
	w.Helper()
	answer, err := w.server.Services.Operation.Updates.Update(w.Context(), w.admin(""), id, m)
	if err != nil {
		w.Fatalf("%s: %v", m.Kind, err)
	}
	if answer.Operation == 0 {
		w.Fatalf("%s: nothing was to be done", m.Kind)
	}
	w.until("the "+string(m.Kind)+" has ended", func() bool {
		v, err := w.server.Services.Cluster.Views.Cluster(w.Context(), w.admin(""), id)
		if err != nil {
			w.Fatal(err)
		}
		if v.Operations[0].Status == app.OperationFailed {
			w.Fatalf("%s: %s\n%s", m.Kind, v.Operations[0].Message, w.said(id))
		}
		return v.Operations[0].Kind == m.Kind && v.Operations[0].Status == app.OperationSucceeded
	})
}

// TestCooprsServiceRunsAsItIs takes a service in Coopr's own form, whose actions name no resources, through all of its actions, with cookbooks that were pushed
// to Muster. A script replaces Chef: it reads its input where Chef does, and runs recipes as scripts: testdata/chef/bin.
func TestCooprsServiceRunsAsItIs(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs("testdata/chef")
	if err != nil {
		t.Fatal(err)
	}
	w := newFleetServer(t, `---
kind: template
name: web
defaults:
  services: [base, apache-httpd]
  provider: cloud
  config: {apache2: {listen_port: 8080}}
constraints: {size: {min: 1, max: 10}}
---
kind: service
name: named
actions:
  configure:
    automator: chef-solo
    resources: [cookbooks/coopr_base]
    fields: {run_list: "recipe[coopr_base::default]"}
---
kind: template
name: named
defaults: {services: [named], provider: cloud}
constraints: {size: {min: 1, max: 1}}
`, func(c *server.Config) { c.Catalogs = append(c.Catalogs, filepath.Join(dir, "coopr")) })
	w.nodes.Path = filepath.Join(dir, "bin")
	w.start("h1")
	make := func(name, template string, size int) cluster.View {
		t.Helper()
		v, err := w.server.Services.Cluster.Creates.CreateCluster(t.Context(), w.admin(""), cluster.CreateRequest{Name: name, Request: layout.Request{Template: template, Size: size}})
		if err != nil {
			t.Fatal(err)
		}
		w.active("", v.ID)
		return v
	}
	says := func(id string, want map[string]bool) {
		t.Helper()
		said := w.said(id)
		for text, there := range want {
			if strings.Contains(said, text) != there {
				t.Errorf("%q is said: %t, want %t\n%s", text, !there, there, said)
			}
		}
	}
	folder := func(kind, name string) { // each is a resource of its own, as Coopr's loader had them
		t.Helper()
		one := t.TempDir()
		if err := os.CopyFS(filepath.Join(one, name), os.DirFS(filepath.Join(dir, kind, name))); err != nil {
			t.Fatal(err)
		}
		if kind == "newer" {
			kind = "cookbooks"
		}
		if kind == "bags" {
			kind = "data_bags"
		}
		w.push("chef-solo/"+kind+"/"+name, packed(t, one))
	}
	for _, name := range []string{"apache2", "coopr_base", "coopr_service_manager"} {
		folder("cookbooks", name)
	}
	folder("bags", "people")
	role, err := fs.ReadFile(os.DirFS(dir), "web.rb")
	if err != nil {
		t.Fatal(err)
	}
	w.push("chef-solo/roles/web", bytes.NewBuffer(role))

	v := make("web", "web", 2)
	says(v.ID, map[string]bool{
		"Copying resource cookbooks/apache2@1 (":                                     true,
		"n1.base.install: base is told of " + v.ID:                                   true,
		"n1.base.install: data bags: people; roles: web.rb":                          true,
		"n1.base.install: cookbooks: apache2 coopr_base coopr_service_manager":       true,
		"n2.apache-httpd.install: apache2 listens on 8080":                           true,
		"n2.apache-httpd.start: ran apache2::default coopr_service_manager::default": true,
		"n2.apache-httpd.start: apache2 is made to start":                            true,
		"n1.apache-httpd.install: apache2 is made to start":                          false,
	})
	facts, err := w.server.Services.Execution.Facts.ClusterFacts(t.Context(), w.admin(""), v.ID)
	if err != nil {
		t.Fatal(err)
	}
	listens := 0
	for _, f := range facts {
		if f.Service == "apache-httpd" && f.Name == "listens" && f.Value == "8080" {
			listens++
		}
	}
	if listens != 2 {
		t.Errorf("%d nodes tell where Apache listens, want 2: %+v", listens, facts)
	}

	// A later push reaches existing and new nodes by an upgrade, which runs nothing for that alone.
	folder("cookbooks", "ntp")
	folder("newer", "apache2")
	w.updated(v.ID, cluster.Update{Kind: app.OperationRestart})
	w.updated(v.ID, cluster.Update{Kind: app.OperationResize, Size: 3})
	says(v.ID, map[string]bool{"a newer apache2": false, "cookbooks/ntp": false, "n3.apache-httpd.install: apache2 listens on 8080": true})
	w.updated(v.ID, cluster.Update{Kind: app.OperationUpgrade})
	says(v.ID, map[string]bool{"a newer apache2": false, "cookbooks/ntp": false})
	w.updated(v.ID, cluster.Update{Kind: app.OperationRestart})
	says(v.ID, map[string]bool{"a newer apache2": true, "cookbooks/ntp@1": true})

	// An action that names what it needs has that alone.
	named := make("named", "named", 1)
	says(named.ID, map[string]bool{"n1.named.configure: cookbooks: coopr_base\n": true, "data bags: ; roles: \n": true})

	// Of two that would lie in the same place, one is left out, and said to be.
	w.push("chef-solo/roles/apache2", bytes.NewBuffer(role))
	p, err := w.server.Services.Cluster.Creates.Preview(t.Context(), w.admin(""), cluster.CreateRequest{Name: "two", Request: layout.Request{Template: "web", Size: 1}})
	if err != nil || !strings.Contains(strings.Join(p.Warnings, " "), "roles/apache2 (beside cookbooks/apache2)") {
		t.Errorf("two of one name: %q, %v", p.Warnings, err)
	}
	w.updated(v.ID, cluster.Update{Kind: app.OperationStop})
	says(v.ID, map[string]bool{"n1.apache-httpd.stop: apache2 is made to stop": true})
}
