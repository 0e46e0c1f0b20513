// Package examples_test tests the example catalog: that it loads, and that its scripts work.
package examples_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/file/catalog"
	"muster/app/file/catalog/form"
	"muster/app/template"
)

func load(t *testing.T) *template.Catalog {
	t.Helper()
	c, err := catalog.Load(catalog.Options{
		Automators:    []string{"shell"},
		ProviderTypes: []string{"sandbox"},
		Warn:          func(p form.Problem) { t.Errorf("the examples should have no warnings: %s", p) },
	}, "catalog")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestExamplesLoad(t *testing.T) {
	c := load(t)
	web := c.Templates["web"]
	if s := web.Constraints.Size; s.Min != 3 || s.Max != 50 {
		t.Errorf("size of web = %+v", s)
	}
	if web.Lease.Initial != 8*time.Hour {
		t.Errorf("lease of web = %v", web.Lease.Initial)
	}
	for _, name := range []string{"tiny", "web", "site", "etcd", "redis", "postgresql", "rabbitmq"} {
		if c.Templates[name] == nil {
			t.Errorf("template %s doesn't exist", name)
		}
	}
	if got := slices.Sorted(maps.Keys(c.Templates)); len(got) < 7 {
		t.Errorf("templates = %v", got)
	}
}

// node represents a machine: it runs the scripts as the shell automator would.
type node struct {
	t       *testing.T
	c       *template.Catalog
	name    string
	address string
	state   string // of the machine; each service has a directory in it
	env     []string
}

// command runs one service action.
func (n *node) command(ctx context.Context, sh, service string, action app.Action) *exec.Cmd {
	cmd := exec.CommandContext(ctx, sh, "-eu", "-c", n.c.Services[service].Actions[action].Fields["script"])
	cmd.Env = append(slices.Clone(n.env),
		"MUSTER_STATE="+n.state+"/"+service, "MUSTER_SERVICE="+service, "MUSTER_ACTION="+string(action))
	return cmd
}

func (n *node) try(service string, action app.Action) (string, error) {
	if n.c.Services[service].Actions[action] == nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(n.t.Context(), 5*time.Minute)
	defer cancel()
	out, err := n.command(ctx, "sh", service, action).CombinedOutput()
	return string(out), err
}

func (n *node) run(service string, actions ...app.Action) {
	n.t.Helper()
	for _, action := range actions {
		if out, err := n.try(service, action); err != nil {
			n.t.Fatalf("%s.%s.%s: %v\n%s", n.name, service, action, err, out)
		}
	}
}

const subnet = "127.77.251."

// newNodes returns nodes that share one network namespace and one file system, the hardest environment for the scripts.
func newNodes(t *testing.T, c *template.Catalog, apps []int, store, size int) []*node {
	t.Helper()
	for _, program := range []string{"sh", "python3", "setsid"} {
		if _, err := exec.LookPath(program); err != nil || runtime.GOOS != "linux" {
			if os.Getenv("CI") == "true" {
				t.Fatalf("this needs Linux with %s", program)
			}
			t.Skipf("this needs Linux with %s", program)
		}
	}
	port := freePorts(t, 3)
	var backends []string
	for _, i := range apps {
		backends = append(backends, fmt.Sprintf("%s%d:%s", subnet, i, port[1]))
	}
	state := t.TempDir()
	nodes := make([]*node, size)
	for i := range nodes {
		n := &node{t: t, c: c, name: app.NodeName(i + 1), address: fmt.Sprintf("%s%d", subnet, i+1), state: state}
		n.env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + state,
			"MUSTER_TENANT=default", "MUSTER_CLUSTER=c1", "MUSTER_OWNER=someone",
			"MUSTER_NODE=" + n.name, "MUSTER_HOSTNAME=web1-" + n.name + ".local",
			"CONFIG_SELF_ADDRESS=" + n.address,
			"CONFIG_LB_PORT=" + port[0], "CONFIG_LB_BACKENDS=" + strings.Join(backends, " "),
			"CONFIG_APP_PORT=" + port[1],
			fmt.Sprintf("CONFIG_STORE_ADDRESS=%s%d", subnet, store), "CONFIG_STORE_PORT=" + port[2],
		}
		nodes[i] = n
	}
	t.Cleanup(func() {
		for _, n := range nodes {
			for _, service := range []string{"app", "lb", "store"} {
				// The test's own context has ended by now.
				if out, err := n.command(context.Background(), "sh", service, app.ActionStop).CombinedOutput(); err != nil {
					t.Errorf("stop %s on %s: %v\n%s", service, n.name, err, out)
				}
			}
		}
	})
	return nodes
}

func freePorts(t *testing.T, n int) []string {
	t.Helper()
	ports := make([]string, n)
	for i := range ports {
		l, err := net.Listen("tcp", subnet+"1:0")
		if err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("no loopback addresses beyond 127.0.0.1: %v", err)
			}
			t.Skipf("no loopback addresses beyond 127.0.0.1: %v", err)
		}
		defer l.Close()
		_, ports[i], _ = net.SplitHostPort(l.Addr().String())
	}
	return ports
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

func (n *node) url(variable, path string) string {
	for _, e := range n.env {
		if v, ok := strings.CutPrefix(e, variable+"="); ok {
			return "http://" + n.address + ":" + v + path
		}
	}
	return ""
}

var bringUp = []app.Action{app.ActionInstall, app.ActionConfigure, app.ActionInitialize, app.ActionStart}

func TestWebSiteWorks(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes")
	}
	nodes := newNodes(t, load(t), []int{1, 2, 3}, 5, 5)
	lb, store := nodes[3], nodes[4]
	store.run("store", bringUp...)
	for _, n := range nodes[:3] {
		n.run("app", bringUp...)
	}
	lb.run("lb", bringUp...)

	status, page := get(t, lb.url("CONFIG_LB_PORT", "/"))
	if status != 200 {
		t.Fatalf("the load balancer's page: %d\n%s", status, page)
	}
	for _, n := range nodes[:3] {
		if !strings.Contains(page, "web1-"+n.name+".local") {
			t.Errorf("one fetch of the page should name %s:\n%s", n.name, page)
		}
	}
	if !strings.Contains(page, `<span class="count">3</span>`) {
		t.Errorf("each of three servers counts a visit:\n%s", page)
	}

	seen := map[string]bool{}
	for range 3 {
		_, page := get(t, lb.url("CONFIG_LB_PORT", "/app"))
		for _, n := range nodes[:3] {
			if strings.Contains(page, "<h1>web1-"+n.name+".local</h1>") {
				seen[n.name] = true
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("three visits to /app should reach three servers in turn, not %v", seen)
	}

	t.Run("starting and stopping twice is harmless", func(t *testing.T) {
		for range 2 {
			store.run("store", app.ActionStart)
		}
		for range 2 {
			nodes[0].run("app", app.ActionStop)
		}
		status, page := get(t, lb.url("CONFIG_LB_PORT", "/"))
		if status != 200 || !strings.Contains(page, "not responding") || !strings.Contains(page, "web1-n2.local") {
			t.Errorf("with one server down the page still names the others: %d\n%s", status, page)
		}
		for range 3 {
			if status, _ := get(t, lb.url("CONFIG_LB_PORT", "/app")); status != 200 {
				t.Errorf("/app should pass over the server that is down, not answer %d", status)
			}
		}
	})

	t.Run("the store remembers", func(t *testing.T) {
		store.run("store", app.ActionStop)
		if status, _ := get(t, lb.url("CONFIG_LB_PORT", "/")); status != http.StatusBadGateway {
			t.Errorf("without the store no server can answer, but the page gave %d", status)
		}
		store.run("store", app.ActionStart)
		_, visits := get(t, store.url("CONFIG_STORE_PORT", "/visits"))
		if visits != "11" {
			t.Errorf("visits = %q, want 11: 3 on the page, 3 in turn, 2 with one down, 3 in turn", visits)
		}
	})

	t.Run("removing leaves nothing", func(t *testing.T) {
		store.run("store", app.ActionStop, app.ActionRemove, app.ActionRemove, app.ActionStop)
	})
}

func TestEverythingOnOneNode(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes")
	}
	n := newNodes(t, load(t), []int{1}, 1, 1)[0]
	for _, s := range []string{"store", "app", "lb"} {
		n.run(s, bringUp...)
	}
	if status, page := get(t, n.url("CONFIG_LB_PORT", "/")); status != 200 || !strings.Contains(page, "web1-n1.local") {
		t.Errorf("%d\n%s", status, page)
	}
}

func TestScriptsReportErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes")
	}
	c := load(t)
	n := newNodes(t, c, nil, 1, 1)[0]

	bare := *n
	bare.env = append(slices.Clone(n.env), "PATH="+t.TempDir())
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"app", "lb", "store"} {
		out, err := bare.command(t.Context(), sh, s, app.ActionInstall).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "has no python3") {
			t.Errorf("%s without python3: %v\n%s", s, err, out)
		}
	}

	l, err := net.Listen("tcp", strings.TrimPrefix(n.url("CONFIG_STORE_PORT", ""), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	n.run("store", app.ActionInstall)
	out, err := n.try("store", app.ActionStart)
	if err == nil || !strings.Contains(out, "Address already in use") {
		t.Errorf("start on a port that is taken: %v\n%s", err, out)
	}
}
