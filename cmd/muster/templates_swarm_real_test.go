//go:build real

package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
)

// TestRealTemplateSwarm runs a service that is asked for at the manager on workers: Docker Engines within machines of the sandbox.
func TestRealTemplateSwarm(t *testing.T) {
	t.Parallel()
	p := newTemplates(t, "dockerd", "docker", "iptables", "curl")
	v := p.made("sea", "swarm", 3)
	manager := of(v, "swarm-manager")[0]
	p.publishes(v, "manager", "%s", "", of(v, "swarm-manager"))
	if token := p.output(v, "join_token"); token != p.on(v, manager, "docker swarm join-token --quiet worker") {
		t.Errorf("the token has %d characters, and isn't the manager's", len(token))
	}
	image := p.image()
	give := func(n app.Node) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "muster", "--data", p.data, "cluster", "ssh", v.Name, n.Name, "--", `docker import --change 'ENTRYPOINT ["/app"]' - app:1`)
		cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+p.data)
		f, err := os.Open(image)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd.Stdin = f
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", n.Name, err, out)
		}
	}
	for _, n := range of(v, "swarm-worker") {
		give(n)
	}
	// Ports are those of the node that runs it: the routing mesh needs IPVS in the kernel.
	p.on(v, manager, "timeout 50 docker service create --quiet --detach=false --no-resolve-image --name word --env GREETING=kept --constraint node.role==worker"+
		" --publish mode=host,published=8000,target=8080 app:1")
	runs := func() (n app.Node) {
		t.Helper()
		var host string
		p.until("the one task runs", "true", func() (string, error) {
			out := p.on(v, manager, "docker service ps --filter desired-state=running --format '{{.Node}} {{.CurrentState}}' word")
			var state string
			host, state, _ = strings.Cut(out, " ")
			return strconv.FormatBool(strings.HasPrefix(state, "Running") && !strings.Contains(out, "\n")), nil
		})
		for _, w := range of(v, "swarm-worker") {
			if w.Hostname == host {
				return w
			}
		}
		t.Fatalf("it runs on %q, which is no worker", host)
		return app.Node{}
	}
	answers := func(n app.Node) {
		t.Helper()
		p.until(n.Name+" answers", "kept", func() (string, error) { return page(http.DefaultClient, "http://"+address(n)+":8000/") })
		p.forgetGroups(p.on(v, n, "docker ps --quiet --no-trunc"))
	}
	ready := func(want int) {
		t.Helper()
		p.until("nodes that are ready", strconv.Itoa(want), func() (string, error) {
			return p.on(v, manager, "docker node ls --format '{{.Status}} {{.Availability}}' | grep -c '^Ready Active$'"), nil
		})
	}
	ready(3)
	first := runs()
	answers(first)

	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 4})
	ready(4)
	give(v.Nodes[len(v.Nodes)-1])

	// The worker that runs it dies: another one does.
	p.dies(first)
	var second app.Node
	p.until("another worker runs it", "true", func() (string, error) {
		second = runs()
		return strconv.FormatBool(second.Name != first.Name), nil
	})
	answers(second)
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationRepair, Nodes: []string{first.Name}})
	ready(4)

	// The worker that runs it now is given back.
	give(node(v, first.Name))
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Nodes: []string{second.Name}})
	ready(3)
	p.until("another worker runs it", "true", func() (string, error) { return strconv.FormatBool(runs().Name != second.Name), nil })
	answers(runs())
	// The one that died is forgotten, the one that left will be when the manager hears of other nodes next.
	if out := p.on(v, manager, "docker node ls --quiet | wc -l"); out != "4" {
		t.Errorf("the manager knows %s nodes, want 4", out)
	}

	// Without its manager there is another swarm, which all workers join. What ran in the old one is gone with it.
	p.dies(manager)
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationRepair, Nodes: []string{manager.Name}})
	manager = of(v, "swarm-manager")[0]
	ready(3)
	p.on(v, manager, "timeout 50 docker service create --quiet --detach=false --no-resolve-image --name word --env GREETING=kept --constraint node.role==worker"+
		" --publish mode=host,published=8000,target=8080 app:1")
	answers(runs())
	p.goes(v, 6)
}

// image packs a program that answers, and nothing else, as an image is imported.
func (p *process) image() string {
	p.t.Helper()
	dir := p.t.TempDir()
	build := exec.CommandContext(p.t.Context(), "go", "build", "-o", filepath.Join(dir, "app"), "../../automators/docker/testdata/app")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	file := filepath.Join(dir, "app.tar")
	if out, err := exec.CommandContext(p.t.Context(), "tar", "-C", dir, "-cf", file, "app").CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	return file
}

// forgetGroups removes, when the test ends, the empty control groups of containers: they are the host's, and of a machine that died no one is left to do it.
func (p *process) forgetGroups(containers string) {
	p.t.Cleanup(func() {
		for _, id := range strings.Fields(containers) {
			groups, _ := filepath.Glob("/sys/fs/cgroup/*/docker/" + id)
			more, _ := filepath.Glob("/sys/fs/cgroup/docker/" + id)
			for _, g := range append(groups, more...) {
				_ = os.Remove(g)
			}
		}
	})
}
