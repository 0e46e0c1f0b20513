//go:build real

package docker_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/automators/automatortest"
	"muster/automators/docker"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

// One engine serves all of it: starting one takes the most time.
func TestRealEngine(t *testing.T) {
	e, r := startEngine(t), startRegistry(t)
	image := r.host + "/app:1"
	t.Run("suite", func(t *testing.T) {
		env := "PASSWORD=" + automatortest.Secret
		automatortest.Run(t, automatortest.Member{
			New:      func() family.Automator { return docker.New() },
			OK:       map[string]string{"image_name": image, "pull": "missing", "environment_variables": env, "settle_seconds": "0"},
			OKSays:   "runs",
			Fail:     map[string]string{"image_name": image, "command": "fail", "environment_variables": "DATABASE=db.example.org", "restart_policy": "no"},
			FailSays: []string{"failed with exit code 3", "no database at db.example.org"},
			Slow:     map[string]string{"image_name": image, "settle_seconds": "600", "environment_variables": env},
			SlowSays: "watching the container for 600 s",
			Invalid: []automatortest.Invalid{
				{Fields: map[string]string{"image_name": "--privileged"}, Field: "image_name"},
				{Fields: map[string]string{"image_name": "a", "publish_ports": "80:x"}, Field: "publish_ports"},
				{Fields: map[string]string{"image_name": "a", "volumes": "a b:/c"}, Field: "volumes"},
				{Fields: map[string]string{"image_name": "a", "environment_variables": "A"}, Field: "environment_variables"},
				{Fields: map[string]string{"image_name": "a", "links": "a:b:c"}, Field: "links"},
				{Fields: map[string]string{"image_name": "a", "command": "'"}, Field: "command"},
				{Fields: map[string]string{"image_name": "a", "memory": "much"}, Field: "memory"},
				{Fields: map[string]string{"image_name": "a", "registry_user": "me"}, Field: "registry_password"},
			},
			Changes: map[string]string{"image_name": image, "settle_seconds": "1", "environment_variables": "OUT=/out", "volumes": "{home}:/out"},
			ChangesSay: []string{
				"container c1-n1-dry: would be made", "container c1-n1-dry: would be started",
			},
			Env:  []string{"DOCKER_HOST=" + e.address},
			Call: func(c *family.ServiceCall) { c.Action = app.ActionStart },
		})
		e.docker(t, append([]string{"rm", "--force"}, strings.Fields(e.docker(t, "ps", "--all", "--quiet"))...)...)
	})

	s := remotetest.Start(t, remotetest.Options{Env: []string{"DOCKER_HOST=" + e.address}})
	sh, err := remote.Dial(t.Context(), s.Target())
	if err != nil {
		t.Fatal(err)
	}
	defer sh.Close()
	n := realNode{e, r, s, sh}
	t.Run("a service's life", n.life)
	t.Run("recreated", n.recreated)
	t.Run("closed registry", n.closed)
	t.Run("ports", n.ports)
	t.Run("neighbours", n.neighbours)
	t.Run("health", n.health)
	t.Run("another's container", n.foreign)
	t.Run("nothing is left", func(t *testing.T) {
		if left, _ := filepath.Glob(filepath.Join(s.State, ".run", "*")); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	})
}

type realNode struct {
	engine
	*registry
	node *remotetest.Server
	sh   family.Shell
}

func (n realNode) call(service string, action app.Action, fields ...string) family.ServiceCall {
	c := family.ServiceCall{NodeContext: family.NodeContext{Tenant: "acme", Cluster: "shop", Node: "n1", Hostname: "n1.example.org"}, Service: service, Action: action,
		Fields: map[string]string{"image_name": n.host + "/app:1", "settle_seconds": "0"}, Services: []string{"back", "front", "web"}}
	for i := 0; i < len(fields); i += 2 {
		c.Fields[fields[i]] = fields[i+1]
	}
	return c
}

// do carries out an action, and returns what it found out.
func (n realNode) do(t *testing.T, c family.ServiceCall) (facts map[string]string) {
	t.Helper()
	c.Tell = func(f map[string]string) { facts = f }
	if err := docker.New().Run(t.Context(), n.sh, c, func(_ app.Stream, line string) { t.Log(line) }); err != nil {
		t.Fatal(err)
	}
	return facts
}

func (n realNode) refuses(t *testing.T, c family.ServiceCall, want string) {
	t.Helper()
	err := docker.New().Run(t.Context(), n.sh, c, nil)
	if app.CodeOf(err) != app.EScript || !strings.Contains(app.AsError(err).Message, want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func (n realNode) would(t *testing.T, c family.ServiceCall) string {
	t.Helper()
	w, err := docker.New().DryRun(t.Context(), n.sh, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(strings.Join(w.Texts, "; "), "shop-n1-", "")
}

func (n realNode) life(t *testing.T) {
	for range 2 {
		n.do(t, n.call("web", app.ActionInstall))
	}
	if got := n.would(t, n.call("web", app.ActionStart)); got != "container web: would be made; container web: would be started" {
		t.Error(got)
	}
	n.do(t, n.call("web", app.ActionConfigure))
	if got := n.docker(t, "inspect", "--format", "{{.State.Running}}", "shop-n1-web"); got != "false" {
		t.Errorf("configure started it: %s", got)
	}
	for range 2 {
		facts := n.do(t, n.call("web", app.ActionStart, "memory", "64m", "cpus", "0.5", "restart_policy", "on-failure:3"))
		if facts["container_name"] != "shop-n1-web" || facts["image_digest"] != n.manifests["app:1"] || len(facts["container_id"]) != 64 {
			t.Errorf("facts %v", facts)
		}
	}
	if got := n.docker(t, "inspect", "--format", "{{.HostConfig.Memory}} {{.HostConfig.NanoCpus}} {{.HostConfig.RestartPolicy.MaximumRetryCount}}", "shop-n1-web"); got != "67108864 500000000 3" {
		t.Errorf("limits are %s", got)
	}
	n.do(t, n.call("web", app.ActionReload))
	n.do(t, n.call("web", app.ActionCheck))
	if got := n.would(t, n.call("web", app.ActionStop)); got != "container web: would be stopped" {
		t.Error(got)
	}
	for range 2 {
		n.do(t, n.call("web", app.ActionStop))
	}
	if got := n.docker(t, "logs", "shop-n1-web"); !strings.Contains(got, "read again") {
		t.Errorf("it wasn't signalled to reload: %s", got)
	}
	n.refuses(t, n.call("web", app.ActionCheck), "exited with code 0")
	if got := n.would(t, n.call("web", app.ActionRemove)); got != "container web: would be removed" {
		t.Error(got)
	}
	for range 2 {
		n.do(t, n.call("web", app.ActionRemove))
	}
	if got := n.would(t, n.call("web", app.ActionRemove)); got != "" {
		t.Error(got)
	}
	n.refuses(t, n.call("web", app.ActionStart, "image_name", n.host+"/nothing:1"), "web start failed with exit code")
	n.refuses(t, n.call("web", app.ActionStart, "image_name", "nothing:1", "pull", "never"), "is not to be pulled")
	if err := docker.New().Run(t.Context(), n.sh, n.call("web", app.ActionHook), nil); app.CodeOf(err) != app.EInvalid {
		t.Error(err)
	}
}

func (n realNode) recreated(t *testing.T) {
	values := "GREETING=it's \"$HOME\" # 1\nMORE=a,b"
	first := n.do(t, n.call("web", app.ActionStart, "environment_variables", values))["container_id"]
	if again := n.do(t, n.call("web", app.ActionStart, "environment_variables", values))["container_id"]; again != first {
		t.Error("it was recreated though nothing has changed")
	}
	multi := n.call("web", app.ActionConfigure, "environment_variables", `{"GREETING": "two\nlines 'here'", "PATH": "/nowhere"}`)
	if got := n.would(t, multi); got != "container web: would be recreated, for another environment" {
		t.Error(got)
	}
	second := n.do(t, multi)["container_id"] // it ran, so it runs again
	if second == first {
		t.Error("it wasn't recreated")
	}
	if got := n.docker(t, "inspect", "--format", "{{.State.Running}} {{json .Config.Env}}", "shop-n1-web"); !strings.HasPrefix(got, "true ") || !strings.Contains(got, `"GREETING=two\nlines 'here'"`) ||
		!strings.Contains(got, `"PATH=/nowhere"`) {
		t.Error(got)
	}
	n.do(t, n.call("web", app.ActionRemove))
}

func (n realNode) closed(t *testing.T) {
	image := n.registry.closed + "/app:1"
	n.refuses(t, n.call("web", app.ActionInstall, "image_name", image), "web install failed with exit code")
	n.refuses(t, n.call("web", app.ActionInstall, "image_name", image, "registry_user", realUser, "registry_password", "wrong"), "the registry "+n.registry.closed+" does not let us in")
	n.do(t, n.call("web", app.ActionInstall, "image_name", n.registry.closed+"/app@"+n.manifests["app:1"], "registry_user", realUser, "registry_password", realPassword))
	for _, dir := range []string{n.node.Home, n.node.Temp, n.node.State} {
		_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
			if b, _ := os.ReadFile(p); strings.Contains(string(b), realPassword) || d.Name() == "config.json" {
				t.Errorf("credentials are in %s", p)
			}
			return nil
		})
	}
}

func (n realNode) ports(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	publish := "127.0.0.1:" + port + ":8080, :9000"
	n.refuses(t, n.call("web", app.ActionStart, "publish_ports", publish), "port "+port+" of the node is taken by another program")
	_ = l.Close()
	facts := n.do(t, n.call("web", app.ActionStart, "publish_ports", publish, "environment_variables", "GREETING=hello"))
	if facts["port_8080"] != port || facts["port_9000"] == "" {
		t.Errorf("facts %v", facts)
	}
	answer, err := http.Get("http://127.0.0.1:" + port)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if string(b) != "hello" {
		t.Errorf("it answers %q", b)
	}
	n.refuses(t, n.call("front", app.ActionStart, "publish_ports", "127.0.0.1:"+port+":8080"), "port "+port+"/tcp of the node is taken by the container shop-n1-web")
	n.do(t, n.call("front", app.ActionRemove))
	n.do(t, n.call("web", app.ActionRemove))
}

func (n realNode) neighbours(t *testing.T) {
	n.do(t, n.call("back", app.ActionStart))
	n.do(t, n.call("front", app.ActionStart, "links", "back:db", "environment_variables", "NEEDS=db", "settle_seconds", "1"))
	n.do(t, n.call("front", app.ActionRemove))
	n.do(t, n.call("back", app.ActionRemove))
	for range 2 { // a network that is not there is made, once
		n.do(t, n.call("back", app.ActionStart, "network", "shop"))
		n.do(t, n.call("front", app.ActionStart, "network", "shop", "environment_variables", "NEEDS=shop-n1-back", "settle_seconds", "1"))
		n.do(t, n.call("front", app.ActionRemove))
	}
	n.do(t, n.call("back", app.ActionRemove))
}

func (n realNode) health(t *testing.T) {
	n.do(t, n.call("web", app.ActionStart, "image_name", n.host+"/app:well"))
	if got := n.docker(t, "inspect", "--format", "{{.State.Health.Status}}", "shop-n1-web"); got != "healthy" {
		t.Errorf("its start ended while it is %s", got)
	}
	n.refuses(t, n.call("web", app.ActionStart, "image_name", n.host+"/app:unhealthy"), "the container shop-n1-web is unhealthy")
	n.do(t, n.call("web", app.ActionRemove))
}

func (n realNode) foreign(t *testing.T) {
	n.docker(t, "run", "--detach", "--name", "shop-n1-web", n.host+"/app:1")
	for _, action := range []app.Action{app.ActionStart, app.ActionStop, app.ActionRemove} {
		n.refuses(t, n.call("web", action), "Muster has not made it")
	}
	n.docker(t, "rm", "--force", "shop-n1-web")
}
