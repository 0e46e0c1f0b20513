package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/demo"
	rest "muster/portal/client"
)

const hangs = 5 * time.Minute // reached only where something hangs

// process is a server as a process of its own, on a data directory of the test's.
type process struct {
	listen  string
	t       *testing.T
	program string // "": this test binary
	data    string
	catalog []string
	env     []string
	cmd     *exec.Cmd
	out     *safeBuffer
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// newProcess prepares a server whose machines are folders (namespaces are tried by the sandbox's own tests and by the
// demo). When the test ends its clusters are deleted and the server is stopped.
func newProcess(t *testing.T, env ...string) *process {
	t.Helper()
	return newProcessAt(t, "127.0.0.1:0", env...)
}

// newProcessAt is newProcess at an address, where it also is after a restart.
func newProcessAt(t *testing.T, listen string, env ...string) *process {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil && os.Getenv("CI") == "" {
		t.Skip("the example's services are written in python3, which is not here")
	}
	mode := t.TempDir()
	err := os.WriteFile(filepath.Join(mode, "mode.yaml"), []byte("kind: provider\nname: sandbox\ntype: sandbox\nsettings: {mode: process}\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, data: filepath.Join(t.TempDir(), "data"), catalog: []string{"../../examples/catalog", mode}, env: env, listen: listen}
	t.Cleanup(p.tidy)
	p.start()
	return p
}

// start begins the server and waits until it answers.
func (p *process) start() {
	p.t.Helper()
	args := []string{"serve", "--listen", cmp.Or(p.listen, "127.0.0.1:0"), "--data", p.data}
	for _, c := range p.catalog {
		args = append(args, "--catalog", c)
	}
	p.out = &safeBuffer{}
	p.cmd = exec.Command(cmp.Or(p.program, "muster"), args...) // this test binary is put on the PATH by testscript
	p.cmd.Env = append(os.Environ(), p.env...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	deadline := time.Now().Add(hangs)
	for {
		if cl, err := p.connect(); err == nil {
			if _, err := cl.Clusters.List(context.WithoutCancel(p.t.Context()), app.ClusterFilter{}); err == nil { // also while tidying
				return
			}
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("the server does not answer:\n%s", p.out)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (p *process) connect() (*cli.Client, error) {
	s, err := cli.ReadClientSettings(p.data)
	if err != nil {
		return nil, err
	}
	cl, err := rest.New(s)
	if err != nil {
		return nil, err
	}
	cl.Reload = func() (cli.ClientSettings, error) { return cli.ReadClientSettings(p.data) }
	return &cli.Client{Client: cl, Home: filepath.Join(p.data, "client")}, nil
}

func (p *process) client() *cli.Client {
	p.t.Helper()
	cl, err := p.connect()
	if err != nil {
		p.t.Fatal(err)
	}
	return cl
}

// kill ends the server as a power cut does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	p.cmd = nil
}

// await waits for the end of the cluster's latest operation.
func (p *process) await(id string) cluster.View {
	p.t.Helper()
	for deadline := time.Now().Add(hangs); ; time.Sleep(50 * time.Millisecond) {
		v, err := p.client().Clusters.Get(p.t.Context(), id)
		if err == nil && v.Operations[0].Status.Ended() {
			return v
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("not done after %s: %+v %v\n%s", hangs, v.Operations, err, p.out)
		}
	}
}

func (p *process) tidy() {
	if p.cmd == nil {
		p.start()
	}
	cl := p.client()
	ctx := context.WithoutCancel(p.t.Context())
	list, err := cl.Clusters.List(ctx, app.ClusterFilter{})
	if err != nil {
		p.t.Error(err)
	}
	for _, c := range list {
		if _, err := cl.Clusters.Delete(ctx, c.ID); err != nil {
			p.t.Error(err)
		}
	}
	for deadline := time.Now().Add(hangs); len(list) > 0 && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if list, err = cl.Clusters.List(ctx, app.ClusterFilter{}); err != nil {
			p.t.Error(err)
			break
		}
	}
	if len(list) > 0 {
		p.t.Errorf("%d clusters are left\n%s", len(list), p.out)
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the server did not end well: %v\n%s", err, p.out)
	}
	machines, _ := filepath.Glob(filepath.Join(p.data, "providers", "*", "nodes", "*"))
	if len(machines) > 0 {
		p.t.Errorf("machines are left: %v", machines)
	}
}

func (p *process) create(size int) cluster.View {
	p.t.Helper()
	v, err := p.client().Create(p.t.Context(), cluster.CreateRequest{Name: "web", Request: layout.Request{Template: "web", Size: size}})
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

func (p *process) page(v cluster.View) string {
	p.t.Helper()
	page, err := demo.FetchPage(p.t.Context(), v.Links[0].URL)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, n := range v.Nodes {
		if n.Services[0] == demo.Service && !strings.Contains(page, n.Hostname) {
			p.t.Errorf("the page does not name %s", n.Hostname)
		}
	}
	return page
}

func TestServerKilledInTheMiddleOfACreate(t *testing.T) {
	t.Parallel()
	p := newProcess(t)
	v := p.create(6)
	// Kill it again and again, a little later each time, until a run gets to the end.
	for i := range 6 {
		time.Sleep(time.Duration(60+40*i) * time.Millisecond)
		p.kill()
		p.start()
	}
	v = p.await(v.ID)
	if v.Status != app.ClusterActive {
		t.Fatalf("cluster is %s: %s\n%s", v.Status, v.Message, p.out)
	}
	p.page(v)
	machines, _ := filepath.Glob(filepath.Join(p.data, "providers", "sandbox", "nodes", "*"))
	if len(machines) != 6 {
		t.Errorf("%d machines, want 6: %v", len(machines), machines)
	}
	// Machines and services live on through one more death, and are known again afterwards.
	p.kill()
	p.start()
	p.page(p.await(v.ID))
}

func TestSecondServerOnTheSameDataIsRefused(t *testing.T) {
	t.Parallel()
	p := newProcess(t)
	cmd := exec.Command("muster", "serve", "--data", p.data, "--catalog", p.catalog[0])
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another server uses the data directory") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestTakenPort(t *testing.T) {
	p := newProcess(t)
	address := strings.TrimPrefix(p.client().Settings().URL, "http://")
	cmd := exec.Command("muster", "serve", "--data", t.TempDir(), "--catalog", p.catalog[0], "--listen", address)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "can't listen on "+address) {
		t.Errorf("%v: %s", err, out)
	}
}

func TestAPIRejectsUnauthorizedAndInvalidCalls(t *testing.T) {
	p := newProcess(t)
	cl := p.client()
	for _, c := range []struct {
		method, path, token, body string
		status                    int
		code                      string
	}{
		{"GET", "/api/v1/clusters", "", "", 401, "unauthorized"},
		{"GET", "/api/v1/clusters", "wrong", "", 401, "unauthorized"},
		{"GET", "/api/v1/clusters/nope", cl.Settings().Token, "", 404, "not_found"},
		{"POST", "/api/v1/clusters", cl.Settings().Token, `{"template":"web","size":5,"colour":"red"}`, 422, ""},
		{"POST", "/api/v1/clusters", cl.Settings().Token, `{"template":`, 400, ""},
		{"POST", "/api/v1/clusters", cl.Settings().Token, `{"template":"wbe","size":5,"name":"x"}`, 404, "not_found"},
		{"POST", "/api/v1/preview", cl.Settings().Token, `{"template":"web","size":2,"name":"x"}`, 422, ""},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, cl.Settings().URL+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		if c.token != "" {
			req.Header.Set("Authorization", "Bearer "+c.token)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		var problem struct{ Code string }
		_ = json.Unmarshal(body, &problem)
		if resp.StatusCode != c.status || c.code != "" && problem.Code != c.code {
			t.Errorf("%s %s %s returns %d %s, want %d %s", c.method, c.path, c.body, resp.StatusCode, body, c.status, c.code)
		}
	}
}
