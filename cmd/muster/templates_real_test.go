//go:build real

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
)

// These tests use the clusters of examples/catalog as their users would: real software on machines that are namespaces. Each is made, written
// to through one node and read through another, changed while it holds something, and given back.

// newTemplates starts a server on the catalog. Programs are those that the cluster and the test need on this host.
func newTemplates(t *testing.T, programs ...string) *process {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("machines of the sandbox with an address of their own are made by root only")
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			if _, err := os.Stat("/usr/sbin/" + p); err != nil {
				t.Fatalf("%s is not here: see deploy/ci/setup.sh", p)
			}
		}
	}
	p := &process{t: t, data: filepath.Join(t.TempDir(), "data"), catalog: []string{"../../examples/catalog"}}
	t.Cleanup(p.tidy)
	p.start()
	return p
}

// on runs a command line on a node as its owner would, over SSH with a certificate.
func (p *process) on(v cluster.View, n app.Node, line string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), hangs)
	defer cancel()
	cmd := exec.CommandContext(ctx, "muster", "--data", p.data, "cluster", "ssh", v.Name, n.Name, "--", line)
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+p.data)
	var wrong strings.Builder
	cmd.Stderr = &wrong
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("on %s: %s: %v\n%s%s", n.Name, line, err, out, wrong.String())
	}
	return strings.TrimSpace(string(out))
}

// output is what the cluster's owner reads of one of its outputs.
func (p *process) output(v cluster.View, name string) string {
	p.t.Helper()
	list, err := p.client().Outputs.Reveal(p.t.Context(), v.ID, name)
	if err != nil || len(list.Outputs) != 1 || list.Outputs[0].Value == "" {
		p.t.Fatalf("output %s of %s: %+v, %v", name, v.Name, list, err)
	}
	return list.Outputs[0].Value
}

// publishes checks an output that names nodes, in their order.
func (p *process) publishes(v cluster.View, name, format, separator string, nodes []app.Node) {
	p.t.Helper()
	var want []string
	for _, n := range nodes {
		want = append(want, fmt.Sprintf(format, address(n)))
	}
	if got := p.output(v, name); got != strings.Join(want, separator) {
		p.t.Errorf("output %s is %q, want %q", name, got, want)
	}
}

// password is what people read of a cluster's password, which is what its service was given.
func (p *process) password(v cluster.View, service string) string {
	p.t.Helper()
	text := p.output(v, "password")
	if given := p.on(v, of(v, service)[0], "cat /var/lib/muster/"+service+"/*/password"); len(text) != 26 || given != text {
		p.t.Fatalf("the password has %d characters, and the node's is the same: %t", len(text), given == text)
	}
	if strings.Contains(p.lines(v.ID)+fmt.Sprint(p.out), text) {
		p.t.Error("the password is in a log")
	}
	return text
}

func address(n app.Node) string { return n.Address(app.AddressAccess) }

// tool runs a program of this host's with secrets in its environment, and returns what it says.
func tool(ctx context.Context, env []string, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, hangs)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// until asks again until the answer is the wanted one.
func (p *process) until(what, want string, ask func() (string, error)) {
	p.t.Helper()
	var got string
	var err error
	for deadline := time.Now().Add(hangs); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if got, err = ask(); err == nil && got == want {
			return
		}
	}
	p.t.Fatalf("%s: %q (%v), want %q", what, got, err, want)
}

func TestRealTemplateRedis(t *testing.T) {
	t.Parallel()
	p := newTemplates(t, "redis-server", "redis-sentinel", "redis-cli")
	v := p.made("cache", "redis", 3)
	env := []string{"REDISCLI_AUTH=" + p.password(v, "redis")}
	p.publishes(v, "sentinels", "%s:26379", ",", v.Nodes)
	redis := func(n app.Node, args ...string) (string, error) {
		return tool(t.Context(), env, "redis-cli", append([]string{"-h", address(n)}, args...)...)
	}
	primary := func() app.Node {
		t.Helper()
		for _, n := range v.Nodes {
			if out, err := redis(n, "role"); err == nil && strings.HasPrefix(out, "master") {
				return n
			}
		}
		return app.Node{}
	}
	if out, err := tool(t.Context(), nil, "redis-cli", "-h", address(v.Nodes[0]), "get", "word"); !strings.Contains(out, "NOAUTH") {
		t.Errorf("without a password: %q %v", out, err)
	}
	first := primary()
	if out, err := redis(first, "set", "word", "kept"); err != nil || out != "OK" {
		t.Fatal(out, err)
	}
	for _, n := range v.Nodes {
		p.until("on "+n.Name, "kept", func() (string, error) { return redis(n, "get", "word") })
	}

	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 4})
	for _, n := range v.Nodes {
		p.until("on "+n.Name, "kept", func() (string, error) { return redis(n, "get", "word") })
	}

	// The primary's machine dies: the sentinels choose another one, which takes writes. Made again, it follows.
	p.dies(first)
	var second app.Node
	p.until("a new primary takes writes", "OK", func() (string, error) {
		if second = primary(); second.Name == "" || second.Name == first.Name {
			return "", nil
		}
		return redis(second, "set", "word", "newer")
	})
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationRepair, Nodes: []string{first.Name}})
	p.until("the repaired node", "newer", func() (string, error) { return redis(node(v, first.Name), "get", "word") })

	// It shrinks by the one that is primary now: that hands over first, and the others forget it.
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Nodes: []string{second.Name}})
	for _, n := range v.Nodes {
		p.until("on "+n.Name, "newer", func() (string, error) { return redis(n, "get", "word") })
		p.until("sentinels that "+n.Name+" knows", "2", func() (string, error) {
			out, err := tool(t.Context(), nil, "redis-cli", "-h", address(n), "-p", "26379", "--json", "sentinel", "master", "main")
			var m map[string]string
			if err == nil {
				err = json.Unmarshal([]byte(out), &m)
			}
			return m["num-other-sentinels"], err
		})
	}
	p.goes(v, 5)
}

func TestRealTemplatePostgreSQL(t *testing.T) {
	t.Parallel()
	p := newTemplates(t, "psql")
	v := p.made("db", "postgresql", 2)
	env := []string{"PGPASSWORD=" + p.password(v, "postgresql"), "PGCONNECT_TIMEOUT=3"}
	sql := func(n app.Node, text string) (string, error) {
		return tool(t.Context(), env, "psql", "-qtAX", "-h", address(n), "-U", "app", "-c", text, "app")
	}
	primary := of(v, "postgresql")[0]
	if out, err := tool(t.Context(), nil, "psql", "-qtAX", "-c", "select current_user", p.output(v, "url")); err != nil || out != "app" {
		t.Fatal(out, err)
	}
	if out, err := sql(primary, "create table words (w text); insert into words values ('kept')"); err != nil {
		t.Fatal(out, err)
	}
	followed := func(want string) {
		t.Helper()
		for _, n := range of(v, "postgresql-replica") {
			p.until(n.Name, want, func() (string, error) { return sql(n, "select string_agg(w, ' ' order by w) from words") })
			if out, err := sql(n, "insert into words values ('wrong')"); err == nil || !strings.Contains(out, "read-only") {
				t.Errorf("a replica takes writes: %s %v", out, err)
			}
		}
	}
	followed("kept")
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 3})
	followed("kept")

	// The primary's machine dies with its disk. Made again, it has its data from a replica, and both follow it.
	p.dies(primary)
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationRepair, Nodes: []string{primary.Name}})
	if out, err := sql(of(v, "postgresql")[0], "insert into words values ('newer')"); err != nil {
		t.Fatal(out, err)
	}
	followed("kept newer")
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationReconfigure, Parameters: map[string]any{"connections": 50}})
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 1})
	if out, err := sql(v.Nodes[0], "select count(*) from words"); err != nil || out != "2" {
		t.Error(out, err)
	}
	p.goes(v, 4)
}

func TestRealTemplateRabbitMQ(t *testing.T) {
	t.Parallel()
	p := newTemplates(t, "rabbitmqctl")
	v := p.made("mq", "rabbitmq", 3)
	password := p.password(v, "rabbitmq")
	p.publishes(v, "page", "http://%s:15672/", "", v.Nodes[:1])
	h := &http.Client{Timeout: hangs}
	api := func(n app.Node, method, path, body string, into any) error {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+address(n)+":15672/api/"+path, strings.NewReader(body))
		if err != nil {
			return err
		}
		req.SetBasicAuth("app", password)
		req.Header.Set("Content-Type", "application/json")
		resp, err := h.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode/100 != 2 {
			err = fmt.Errorf("%s: %s", resp.Status, b)
		}
		if err == nil && into != nil {
			err = json.Unmarshal(b, into)
		}
		return err
	}
	if err := api(v.Nodes[0], "PUT", "queues/%2f/words", `{"durable":true,"arguments":{"x-queue-type":"quorum"}}`, nil); err != nil {
		t.Fatal(err)
	}
	var sent struct{ Routed bool }
	if err := api(v.Nodes[0], "POST", "exchanges/%2f/amq.default/publish",
		`{"properties":{"delivery_mode":2},"routing_key":"words","payload":"kept","payload_encoding":"string"}`, &sent); err != nil || !sent.Routed {
		t.Fatal(sent, err)
	}
	get := func(n app.Node) (string, error) {
		var got []struct{ Payload string }
		err := api(n, "POST", "queues/%2f/words/get", `{"count":1,"ackmode":"ack_requeue_true","encoding":"auto"}`, &got)
		if err != nil || len(got) == 0 {
			return "", err
		}
		return got[0].Payload, nil
	}
	running := func(n app.Node) (string, error) {
		var nodes []struct{ Running bool }
		err := api(n, "GET", "nodes", "", &nodes)
		up := 0
		for _, n := range nodes {
			if n.Running {
				up++
			}
		}
		return fmt.Sprintf("%d of %d", up, len(nodes)), err
	}
	p.until("read through another node", "kept", func() (string, error) { return get(v.Nodes[2]) })
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 4})
	p.until("after growing", "4 of 4", func() (string, error) { return running(v.Nodes[3]) })

	// One that holds the queue dies: the others still have it. Made again, it is one of them again.
	victim := v.Nodes[0]
	p.dies(victim)
	p.until("without the first", "kept", func() (string, error) { return get(v.Nodes[1]) })
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationRepair, Nodes: []string{victim.Name}})
	p.until("after the repair", "4 of 4", func() (string, error) { return running(v.Nodes[0]) })
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 3})
	p.until("after shrinking", "3 of 3", func() (string, error) { return running(v.Nodes[1]) })
	p.until("after it all", "kept", func() (string, error) { return get(v.Nodes[2]) })
	p.goes(v, 5)
}
