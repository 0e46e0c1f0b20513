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
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/fleet"
	"muster/app/layout"
	"muster/app/plan"
	rest "muster/portal/client"
)

// newWalk starts a server on the example of real software. Its machines are namespaces, each with its own OpenSSH.
func newWalk(t *testing.T) *process {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("machines of the sandbox with an address of their own are made by root only")
	}
	for _, tool := range []string{"haproxy", "nginx", "etcd", "etcdctl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%s is not here: see deploy/ci/setup.sh", tool)
		}
	}
	p := &process{t: t, data: filepath.Join(t.TempDir(), "data"), catalog: []string{"../../examples/catalog"}}
	t.Cleanup(p.tidy)
	p.start()
	return p
}

// made creates a cluster and waits until it runs.
func (p *process) made(name, template string, size int) cluster.View {
	p.t.Helper()
	v, err := p.client().Create(p.t.Context(), cluster.CreateRequest{Name: name, Request: layout.Request{Template: template, Size: size}})
	if err != nil {
		p.t.Fatal(err)
	}
	return p.stands(v.ID)
}

func (p *process) stands(id string) cluster.View {
	p.t.Helper()
	v := p.await(id)
	if v.Status != app.ClusterActive {
		p.t.Fatalf("%s is %s: %s\n%s\n%s", v.Name, v.Status, v.Message, p.lines(id), p.out)
	}
	return v
}

// lines are the last ones of the cluster's log.
func (p *process) lines(id string) string {
	found, err := p.client().Clusters.Logs(context.WithoutCancel(p.t.Context()), id, cluster.LogFilter{Tail: true, Limit: 60})
	var b strings.Builder
	for _, l := range found.Lines {
		fmt.Fprintf(&b, "%s %s: %s\n", l.Node, l.Step, l.Text)
	}
	return b.String() + fmt.Sprint(err)
}

// update shows what an update would do, does just that, waits for its end, and finds that what ran is what was shown.
func (p *process) update(id string, m cluster.Update) (cluster.View, cluster.UpdatePreview) {
	p.t.Helper()
	cl, ctx := p.client(), p.t.Context()
	var shown cluster.UpdatePreview
	if err := cl.Call(ctx, http.MethodPost, rest.ClusterPath(id, "operations", "preview"), nil, m, &shown); err != nil {
		p.t.Fatalf("preview of %s: %v", m.Kind, err)
	}
	m.PlanHash = shown.PlanHash
	var answer cluster.UpdateAnswer
	if err := cl.Call(ctx, http.MethodPost, rest.ClusterPath(id, "operations"), nil, m, &answer); err != nil {
		p.t.Fatalf("%s: %v", m.Kind, err)
	}
	v := p.stands(id)
	op := v.Operations[0]
	if op.Kind != m.Kind || op.Status != app.OperationSucceeded {
		p.t.Fatalf("the %s is a %s that has %s: %s\n%s", m.Kind, op.Kind, op.Status, op.Message, p.lines(id))
	}
	ran, err := cl.Operations.Steps(ctx, id, op.ID)
	if err != nil {
		p.t.Fatal(err)
	}
	var was, is []string
	for _, s := range shown.Plan.Steps {
		if !s.Join {
			was = append(was, s.ID)
		}
	}
	for _, s := range ran {
		is = append(is, s.ID)
	}
	if !slices.Equal(was, is) {
		p.t.Errorf("%s: shown %v, ran %v", m.Kind, was, is)
	}
	return v, shown
}

// of returns the nodes that have a service.
func of(v cluster.View, service string) (nodes []app.Node) {
	for _, n := range v.Nodes {
		if slices.Contains(n.Services, service) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// visitors ask a page again and again until stop is called, which tells how often they did, and what went wrong.
func visitors(url string) (stop func() (asked int64, wrong []string)) {
	ctx, cancel := context.WithCancel(context.Background())
	var asked atomic.Int64
	faults, done := make(chan string, 1000), make(chan struct{})
	const many = 4
	for range many {
		go func() {
			defer func() { done <- struct{}{} }()
			h := &http.Client{Timeout: hangs, Transport: &http.Transport{DisableKeepAlives: true}}
			for ctx.Err() == nil {
				asked.Add(1)
				if _, err := page(h, url); err != nil && len(faults) < cap(faults) {
					faults <- err.Error()
				}
				time.Sleep(5 * time.Millisecond)
			}
		}()
	}
	return func() (int64, []string) {
		cancel()
		for range many {
			<-done
		}
		close(faults)
		var wrong []string
		for f := range faults {
			wrong = append(wrong, f)
		}
		return asked.Load(), wrong
	}
}

func page(h *http.Client, url string) (string, error) {
	resp, err := h.Get(url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, b)
	}
	return string(b), err
}

// answers waits until so many servers have answered behind the load balancer, each with such a title, and no other.
func (p *process) answers(url, title string, nodes []app.Node) {
	p.t.Helper()
	var seen map[string]bool
	for deadline := time.Now().Add(hangs); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		seen = map[string]bool{}
		for range 4 * len(nodes) {
			if text, err := page(http.DefaultClient, url); err == nil {
				seen[strings.TrimSpace(text)] = true
			}
		}
		all := len(seen) == len(nodes)
		for _, n := range nodes {
			all = all && seen[title+" from "+n.Name]
		}
		if all {
			return
		}
	}
	p.t.Errorf("%v answer, want %q from each of %d", seen, title, len(nodes))
}

// TestRealWalkOfASite takes HAProxy and nginx through all that can be asked of a cluster, while people visit it.
func TestRealWalkOfASite(t *testing.T) {
	t.Parallel()
	p := newWalk(t)
	v := p.made("site", "site", 3)
	url := "http://" + of(v, "haproxy")[0].Address(app.AddressAccess) + ":8080/"
	p.answers(url, "Hello", of(v, "nginx"))
	stop := visitors(url)

	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 5})
	p.answers(url, "Hello", of(v, "nginx"))
	if n := len(of(v, "nginx")); n != 4 {
		t.Errorf("%d nodes have nginx after growing, want 4", n)
	}

	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationAddServices, Services: []string{"etcd"}})
	if len(of(v, "etcd")) == 0 {
		t.Errorf("etcd is on no node: %+v", v.Nodes)
	}

	v, shown := p.update(v.ID, cluster.Update{Kind: app.OperationReconfigure, Batch: 1, Config: map[string]any{"nginx": map[string]any{"title": "Welcome"}}})
	for _, n := range shown.Nodes {
		if _, worked := n.Work["haproxy"]; worked {
			t.Errorf("HAProxy reads nothing of what changed, and is touched: %+v", n)
		}
	}
	p.answers(url, "Welcome", of(v, "nginx"))

	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationRestart, Services: []string{"nginx"}, Batch: 1})
	p.answers(url, "Welcome", of(v, "nginx"))

	taken := of(v, "nginx")[0]
	p.announces(v.ID, taken)
	v, shown = p.update(v.ID, cluster.Update{Kind: app.OperationRepair})
	var drained []string
	for _, s := range shown.Plan.Steps {
		if plan.Drains(s.ID, s.Node, s.Service, s.Action) {
			drained = append(drained, s.ID)
		}
	}
	lb := of(v, "haproxy")[0].Name
	want := []string{lb + ".haproxy.drain.configure", lb + ".haproxy.drain.reload"}
	for _, s := range slices.Sorted(slices.Values(taken.Services)) {
		want = append(want, taken.Name+"."+s+".drain.stop")
	}
	if !slices.Equal(drained, want) {
		t.Errorf("%s is drained by %v, want %v", taken.Name, drained, want)
	}
	p.answers(url, "Welcome", of(v, "nginx"))
	if n := node(v, taken.Name); n.MachineID == taken.MachineID || n.Hostname != taken.Hostname || !n.LeavesAt.IsZero() {
		t.Errorf("interrupted and replaced: %+v, it was %+v", n, taken)
	}

	// Until here no one may have noticed anything; a machine that dies may cost someone an answer.
	asked, wrong := stop()
	t.Logf("%d visits", asked)
	if len(wrong) > 0 || asked < 100 {
		t.Errorf("of %d visits %d went wrong: %v", asked, len(wrong), wrong[:min(len(wrong), 3)])
	}

	victim := of(v, "nginx")[1]
	p.dies(victim)
	v, shown = p.update(v.ID, cluster.Update{Kind: app.OperationRepair, Nodes: []string{victim.Name}})
	for _, n := range shown.Nodes {
		if (n.Change == plan.NodeReplaced) != (n.Name == victim.Name) {
			t.Errorf("%s is %q in the repair of %s", n.Name, n.Change, victim.Name)
		}
	}
	p.answers(url, "Welcome", of(v, "nginx"))
	if n := node(v, victim.Name); n.Hostname != victim.Hostname || n.HostKey != victim.HostKey || n.MachineID == victim.MachineID {
		t.Errorf("repaired: %+v, it was %+v", n, victim)
	}

	stop = visitors(url)
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationRemoveServices, Services: []string{"etcd"}})
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 3})
	p.answers(url, "Welcome", of(v, "nginx"))
	if asked, wrong := stop(); len(wrong) > 0 {
		t.Errorf("while it shrank, of %d visits %d went wrong: %v", asked, len(wrong), wrong[:min(len(wrong), 3)])
	}
	if len(v.Nodes) != 3 {
		t.Errorf("%d nodes are left, want 3", len(v.Nodes))
	}
	p.goes(v, 7)
}

// TestRealWalkOfAnEnsemble takes etcd from three nodes to five and back, with a value that must outlive it all.
func TestRealWalkOfAnEnsemble(t *testing.T) {
	t.Parallel()
	p := newWalk(t)
	v := p.made("ensemble", "etcd", 3)
	everyone := func() {
		t.Helper()
		for i, n := range of(v, "etcd") {
			word := fmt.Sprintf("of %s, %d", n.Name, i)
			etcdAt(t, []app.Node{n}, "put", "said", word)
			for _, o := range of(v, "etcd") {
				if out := etcdAt(t, []app.Node{o}, "get", "--print-value-only", "said"); strings.TrimSpace(out) != word {
					t.Errorf("written through %s, read through %s it is %q", n.Name, o.Name, out)
				}
			}
		}
	}
	etcdAt(t, v.Nodes[:1], "put", "word", "kept")
	everyone()

	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 5})
	members(t, v, 5)
	everyone()
	victim := v.Nodes[1]
	p.dies(victim)
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationRepair, Nodes: []string{victim.Name}})
	members(t, v, 5)
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationRestart, Batch: 1})
	for _, n := range v.Nodes {
		if out := etcdAt(t, []app.Node{n}, "get", "--print-value-only", "word"); strings.TrimSpace(out) != "kept" {
			t.Errorf("the word is %q at %s", out, n.Name)
		}
	}
	everyone()
	p.goes(v, 6)
}

func node(v cluster.View, name string) app.Node {
	for _, n := range v.Nodes {
		if n.Name == name {
			return n
		}
	}
	return app.Node{}
}

// announces has a machine be taken away in two minutes, and waits until that is noticed.
func (p *process) announces(id string, n app.Node) {
	p.t.Helper()
	file := filepath.Join(p.data, "providers", "sandbox", "nodes", n.MachineID, "interrupt")
	at := time.Now().Add(2 * time.Minute).UTC().Truncate(time.Second)
	if err := os.WriteFile(file, []byte(at.Format(time.RFC3339)), 0o600); err != nil {
		p.t.Fatal(err)
	}
	for deadline := at; time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		v, err := p.client().Clusters.Get(p.t.Context(), id)
		if err != nil {
			p.t.Fatal(err)
		}
		if node(v, n.Name).LeavesAt.Equal(at) {
			return
		}
	}
	p.t.Fatalf("no one notices that %s is about to be interrupted\n%s", n.Name, p.out)
}

// dies ends a machine as a power cut does: its first process is killed, and with it all others.
func (p *process) dies(n app.Node) {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.data, "providers", "sandbox", "nodes", n.MachineID, "machine.json"))
	if err != nil {
		p.t.Fatal(err)
	}
	var machine struct {
		Init struct{ PID int }
	}
	if err := json.Unmarshal(b, &machine); err != nil || machine.Init.PID < 2 {
		p.t.Fatalf("%s: no first process (%v)", b, err)
	}
	if err := syscall.Kill(machine.Init.PID, syscall.SIGKILL); err != nil {
		p.t.Fatal(err)
	}
}

// goes deletes a cluster, and finds on its receipt that nothing of it is left.
func (p *process) goes(v cluster.View, machines int) {
	p.t.Helper()
	if _, err := p.client().Clusters.Delete(p.t.Context(), v.ID); err != nil {
		p.t.Fatal(err)
	}
	if v = p.await(v.ID); v.Status != app.ClusterDeleted {
		p.t.Fatalf("%s is %s: %s", v.Name, v.Status, v.Message)
	}
	var r fleet.Receipt
	for deadline := time.Now().Add(hangs); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if err := p.client().CallInto(p.t.Context(), rest.ClusterPath(v.ID, "receipt"), nil, &r); err != nil {
			p.t.Fatal(err)
		}
		if !r.Proof.At.IsZero() {
			break
		}
	}
	if r.Proof.At.IsZero() || r.Remaining != 0 || len(r.Lines) != machines {
		p.t.Errorf("the receipt has %d lines, want %d; %d left, proven %s", len(r.Lines), machines, r.Remaining, r.Proof.At)
	}
}

// etcd asks the first member that answers.
func etcd(t *testing.T, v cluster.View, args ...string) string {
	t.Helper()
	return etcdAt(t, of(v, "etcd"), args...)
}

// etcdAt asks the first of these members that answers.
func etcdAt(t *testing.T, nodes []app.Node, args ...string) string {
	t.Helper()
	var ends []string
	for _, n := range nodes {
		ends = append(ends, "http://"+n.Address(app.AddressAccess)+":2379")
	}
	cmd := exec.Command("etcdctl", append([]string{"--endpoints", strings.Join(ends, ","), "--command-timeout", "20s"}, args...)...)
	cmd.Env = append(os.Environ(), "ETCDCTL_API=3")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("etcdctl %v: %v: %s", args, err, out)
	}
	return string(out)
}

// members finds as many members as there are nodes, all of them started.
func members(t *testing.T, v cluster.View, want int) {
	t.Helper()
	out := etcd(t, v, "member", "list")
	if started := strings.Count(out, ", started, "); started != want || strings.Count(out, "\n") != want {
		t.Errorf("%d of %d members have started, want %d:\n%s", started, strings.Count(out, "\n"), want, out)
	}
}
