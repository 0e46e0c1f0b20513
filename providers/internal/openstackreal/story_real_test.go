//go:build real && openstack && linux

package openstackreal

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app/family"
)

// storyCatalog is a cluster with a firewall, whose service is installed on its machines.
const storyCatalog = `
kind: provider
name: stack
type: openstack
settings:
  {auth_url: 'http://127.0.0.1:5000/v3',
  username: demo, password: '${env:DEMO_SECRET}', project: demo, region: RegionOne, networks: private, floating_network: public}
---
kind: hardware
name: small
providers: {stack: {flavor: tiny, cost_per_hour: 0.01}}
---
kind: image
name: debian
providers: {stack: {image: debian}}
---
kind: service
name: web
actions:
  install: "echo $MUSTER_CLUSTER >/srv/installed"
  start: "test -s /srv/installed"
  stop: "true"
---
kind: template
name: shop
firewall: {open: [443]}
defaults: {provider: stack, hardware: small, image: debian, services: [web]}
constraints: {size: {min: 1, max: 10}}
`

// muster is a server, and the command line that uses it.
type muster struct {
	t       *testing.T
	program string
	env     []string
}

func serve(t *testing.T) *muster {
	t.Helper()
	p, err := program()
	must(t, err)
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "catalog"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "catalog", "catalog.yaml"), []byte(storyCatalog), 0o600))
	data := filepath.Join(dir, "data")
	m := &muster{t: t, program: p, env: append(os.Environ(), "MUSTER_DATA="+data, "MUSTER_HOME="+filepath.Join(dir, "home"),
		"MUSTER_ADMIN_PASSWORD=correct-horse-battery", "DEMO_SECRET="+demoSecret)}
	s, err := launch(cloud.dir, "muster", m.env, p, "serve", "--catalog", filepath.Join(dir, "catalog"), "--workers", "4", "--listen", "127.0.0.1:18420")
	must(t, err)
	t.Cleanup(func() {
		s.stop(time.Minute)
		if t.Failed() {
			t.Log(tail(s.log))
		}
	})
	must(t, s.until("client.json", func() error {
		_, err := os.Stat(filepath.Join(data, "client.json"))
		return err
	}))
	return m
}

// run runs a command and returns what it prints.
func (m *muster) run(args ...string) string {
	m.t.Helper()
	c := exec.Command(m.program, args...)
	c.Env = m.env
	out, err := c.CombinedOutput()
	if err != nil {
		logs := exec.Command(m.program, "cluster", "logs", "shop")
		logs.Env = m.env
		text, _ := logs.CombinedOutput()
		m.t.Fatalf("muster %s: %v\n%s\nlogs of the cluster:\n%s", strings.Join(args, " "), err, out, text)
	}
	m.t.Logf("muster %s:\n%s", strings.Join(args, " "), out)
	return string(out)
}

// nodes returns the servers of nodes, by Nova's own word.
func nodes(t *testing.T) map[string]string {
	t.Helper()
	all, err := cloud.list("admin", "compute", "/servers/detail?all_tenants=1", "servers")
	must(t, err)
	out := map[string]string{}
	for _, s := range all {
		if metadata, _ := s["metadata"].(object); s["status"] == "ACTIVE" && metadata[family.TagNode] != nil {
			out[metadata[family.TagNode].(string)] = s["id"].(string)
		}
	}
	return out
}

// TestCluster is the life of a cluster over the real binary: created, grown, repaired after a server was deleted by other means, and deleted.
func TestCluster(t *testing.T) {
	m := serve(t)
	wait := []string{"--wait", "--timeout", "15m"}
	m.run(append([]string{"cluster", "create", "shop", "--template", "shop", "--size", "2"}, wait...)...)
	first := nodes(t)
	if len(first) != 2 {
		t.Fatalf("servers %v", first)
	}
	m.run(append([]string{"cluster", "resize", "shop", "3", "--yes"}, wait...)...)
	grown := nodes(t)
	if len(grown) != 3 || grown["n1"] != first["n1"] || grown["n2"] != first["n2"] {
		t.Fatalf("servers %v, before %v", grown, first)
	}
	for name, id := range grown {
		if groups := behind(t, id); len(groups) != 1 {
			t.Errorf("%s is behind %q", name, groups)
		}
		if b, err := os.ReadFile(cloud.path("machines", id, "upper", "srv", "installed")); err != nil || len(b) == 0 {
			t.Errorf("the service isn't installed on %s: %v", name, err)
		}
	}
	must(t, cloud.deleteServer(grown["n2"]))
	m.run(append([]string{"cluster", "repair", "shop", "n2", "--yes"}, wait...)...)
	repaired := nodes(t)
	if len(repaired) != 3 || repaired["n1"] != grown["n1"] || repaired["n2"] == grown["n2"] {
		t.Fatalf("servers %v, before %v", repaired, grown)
	}
	m.run(append([]string{"cluster", "delete", "shop", "--yes"}, wait...)...)
	// What clusters share is deleted by the server, once no machine is listed any more.
	var left []string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Second) {
		var err error
		left, err = cloud.left()
		must(t, err)
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("left in the project: %q", left)
	fmt.Println(m.run("cluster", "list"))
}
