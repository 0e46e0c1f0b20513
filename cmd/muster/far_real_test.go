//go:build real && linux

package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/terminal"
	"muster/cmd/muster/server"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

// farNode is a node whose machine, with OpenSSH, only a provisioner in another network reaches.
type farNode struct {
	*fleetServer
	id      string
	network *remotetest.Network
}

func newFarNode(t *testing.T) farNode {
	t.Helper()
	network := remotetest.NewNetwork(t)
	w := newFleetServer(t, "", func(c *server.Config) {
		c.TLS, c.Password = server.TLSConfig{}, "correct-horse-battery"
		c.SignIn.URL, c.SignIn.Apps = "http://muster.example.com", "apps.example.com"
	})
	n := network.OpenSSH()
	_, ca := remotetest.NewKey(t)
	node, err := remote.Dial(t.Context(), n.Target())
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	if err := remote.EnsureAuthority(t.Context(), node, n.Target().User, ca); err != nil {
		t.Fatal(err)
	}
	far := apptest.NewCluster(app.DefaultTenant, "far", 1, time.Now(), apptest.Chain(1))
	far.PrivateKey = ca
	if _, err := w.server.Store.CreateCluster(t.Context(), far); err != nil {
		t.Fatal(err)
	}
	network.Admit(w.address())
	w.command = network.Command
	f := farNode{w, far.Cluster.ID, network}
	f.isReady(n.Target())
	return f
}

// isReady ends the creation of the cluster, by the ledger alone: its node is a machine.
func (f farNode) isReady(at remote.Target) {
	f.Helper()
	w := app.WorkerID{Name: "idle", Tenant: app.DefaultTenant}
	for range 100 {
		now := time.Now()
		steps, err := f.server.Store.ClaimSteps(f.Context(), execution.ClaimQuery{Worker: w, Now: now, For: time.Minute, Most: 100})
		if err != nil {
			f.Fatal(err)
		}
		if v, err := f.server.Services.Cluster.Views.Cluster(f.Context(), f.admin(""), f.id); err != nil || v.Status == app.ClusterActive {
			return
		}
		var ends []execution.Finish
		for _, s := range steps {
			end := execution.Finish{Fence: app.Fence{Operation: s.Step.Operation, Index: s.Step.Index, Attempt: s.Step.Attempt}, Now: now}
			switch s.Step.Action {
			case app.ActionCreate:
				end.Node = &execution.NodeUpdate{Status: app.NodeCreated, HostKey: at.HostKey,
					Machine: &family.Machine{ID: "m-1", SSHUser: at.User, SSHPort: at.Port,
						Addresses: map[string]string{app.AddressAccess: at.Address}}}
			case app.ActionConfirm:
				end.Node = &execution.NodeUpdate{Status: app.NodeReady, HostKey: at.HostKey}
			}
			ends = append(ends, end)
		}
		if _, err := f.server.Store.FinishSteps(f.Context(), w, ends); err != nil {
			f.Fatal(err)
		}
	}
	f.Fatal("the creation doesn't end")
}

// address is where the server listens.
func (w *fleetServer) address() string {
	w.Helper()
	u, err := url.Parse(w.server.URL)
	if err != nil {
		w.Fatal(err)
	}
	return u.Host
}

// dial reaches the server under any name.
func (f farNode) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, network, f.address())
}

// A server without workers reaches a machine through a provisioner in another network, which alone can: a terminal, a forwarded port, a page of the
// machine with its WebSocket.
func TestRealProvisionerInAnotherNetwork(t *testing.T) {
	t.Parallel()
	f := newFarNode(t)
	a := f.server.Services
	open := terminal.Open{Cluster: f.id, Node: "n1", Size: family.TerminalSize{Columns: 99, Rows: 33}}
	if _, err := a.Terminal.OpenTerminal(t.Context(), f.admin(""), open); app.AsError(err).Reason != "no_provisioner" {
		t.Errorf("without a provisioner: %v", err)
	}
	l := f.network.Listen("127.0.0.1:0")
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
		_ = c.Close()
		t.Fatal("the test's own network reaches the machine")
	}
	served := &http.Server{Handler: http.HandlerFunc(echoServer), ReadHeaderTimeout: time.Minute}
	go func() { _ = served.Serve(l) }()
	t.Cleanup(func() { _ = served.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	f.start("h1")

	c, err := a.Terminal.OpenTerminal(t.Context(), f.admin(""), open)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Quit()
	if err := c.Write([]byte("echo a$((20+3))b $(tput cols)\n")); err != nil {
		t.Fatal(err)
	}
	for got := ""; !strings.Contains(got, "a23b 99"); {
		p, err := c.Next(t.Context(), 4096)
		if err != nil {
			t.Fatalf("%v after %q", err, got)
		}
		got += string(p)
	}
	f.forwards(port)
	f.showsPage(port)
}

// echoServer answers with the request's path, or what comes through a WebSocket.
func echoServer(w http.ResponseWriter, r *http.Request) {
	if !websocket.IsWebSocketUpgrade(r) {
		_, _ = io.WriteString(w, "this is "+r.URL.Path)
		return
	}
	ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer ws.Close()
	for {
		kind, b, err := ws.ReadMessage()
		if err != nil || ws.WriteMessage(kind, b) != nil {
			return
		}
	}
}

// forwards opens the port by muster cluster forward.
func (f farNode) forwards(port string) {
	f.Helper()
	out := &safeBuffer{}
	cmd := exec.Command("muster", "cluster", "forward", "far", "0:n1:"+port, "--data", f.server.Data)
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+f.TempDir())
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		f.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	defer func() { _ = cmd.Process.Kill(); <-ended }()
	f.until("the port is forwarded", func() bool {
		select {
		case <-ended:
			f.Fatalf("forward ended: %s", out)
		default:
		}
		return strings.Contains(out.String(), "→")
	})
	at := strings.Fields(out.String())[0]
	if got := body(f.T, &http.Client{}, "http://"+at+"/by/command"); got != "this is /by/command" {
		f.Errorf("through %s: %s", out, got)
	}
	f.talks(&websocket.Dialer{}, "ws://"+at+"/ws")
}

// showsPage opens a page of the machine as a browser does.
func (f farNode) showsPage(port string) {
	f.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		f.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Transport: &http.Transport{DialContext: f.dial, DisableKeepAlives: true}}
	in, err := browser.PostForm("http://muster.example.com/signin", url.Values{"user": {"admin"}, "password": {"correct-horse-battery"}})
	if err != nil {
		f.Fatal(err)
	}
	_ = in.Body.Close()
	site := port + "--n1--" + f.id + ".apps.example.com"
	if got := body(f.T, browser, "http://"+site+"/by/page"); got != "this is /by/page" {
		f.Errorf("the page of the machine: %s", got)
	}
	f.talks(&websocket.Dialer{NetDialContext: f.dial, Jar: jar}, "ws://"+site+"/ws", "Origin", "http://"+site)
}

// talks sends messages through a WebSocket that echoServer.
func (f farNode) talks(d *websocket.Dialer, address string, header ...string) {
	f.Helper()
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	ws, _, err := d.DialContext(f.Context(), address, h)
	if err != nil {
		f.Fatalf("%s: %v", address, err)
	}
	defer ws.Close()
	for i := range 3 {
		text := "message " + strconv.Itoa(i)
		if err := ws.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
			f.Fatal(err)
		}
		if _, b, err := ws.ReadMessage(); err != nil || string(b) != text {
			f.Errorf("%s: %s, %v", address, b, err)
		}
	}
}

// body is what an address answers.
func body(t *testing.T, c *http.Client, address string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
