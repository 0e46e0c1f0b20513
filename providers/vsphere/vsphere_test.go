package vsphere

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"muster/providers/internal/account"
	"muster/providers/providertest"
)

func TestMain(m *testing.M) {
	if os.Getenv(simVariable) != "" {
		if err := simMain(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

var quick = timing{late: 20 * time.Millisecond, look: 2 * time.Millisecond, fresh: time.Minute, shutdown: 300 * time.Millisecond, keep: time.Minute}

// world is a vCenter with a proxy in front of it, which spoils answers.
type world struct {
	url, cert string // the proxy's
	faults    *providertest.Faults
	control   func(t testing.TB, o orders) report
}

type report struct {
	Left     []string `json:"left"`
	Sessions int      `json:"sessions"`
}

// newWorld starts a simulator in a process of its own.
func newWorld(t *testing.T) *world {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^$")
	// Races of vcsim are its own.
	c.Env = append(os.Environ(), simVariable+"=1", "TMPDIR="+t.TempDir(),
		"GORACE=exitcode=0 log_path="+filepath.Join(t.TempDir(), "race"))
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	var said struct{ URL, Cert string }
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &said) != nil {
		t.Fatalf("the simulator doesn't start: %v: %s", err, line)
	}
	return front(t, said.URL, said.Cert)
}

// front puts the proxy in front of a simulator.
func front(t *testing.T, to, cert string) *world {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(cert))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(transport.CloseIdleConnections)
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{faults: &providertest.Faults{Creates: calls("CloneVM_Task")}}
	proxy := &httputil.ReverseProxy{Transport: transport, ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	srv := httptest.NewUnstartedServer(w.faults.Wrap(proxy))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // some tests don't trust it
	srv.StartTLS()
	t.Cleanup(srv.Close)
	w.url = srv.URL
	w.cert = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}))
	w.control = func(t testing.TB, o orders) (r report) {
		t.Helper()
		b, _ := json.Marshal(o)
		answer, err := (&http.Client{Transport: transport}).Post(to+"/control", "application/json", bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		if err := json.NewDecoder(answer.Body).Decode(&r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	return w
}

var bodyForm = regexp.MustCompile(`<(?:\w+:)?Body[^>]*>\s*<(?:\w+:)?(\w+)`)

// method is what a call is for. The body is put back.
func method(r *http.Request) string {
	b, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(b))
	if m := bodyForm.FindSubmatch(b); m != nil {
		return string(m[1])
	}
	return ""
}

func calls(name string) func(*http.Request) bool {
	return func(r *http.Request) bool { return method(r) == name }
}

// reads are calls that change nothing.
func reads(r *http.Request) bool {
	m := method(r)
	return m == "" || strings.HasPrefix(m, "Retrieve") || strings.HasPrefix(m, "Continue") || strings.HasPrefix(m, "Find") || m == "Login" || m == "Logout"
}

func (w *world) settings(more ...string) map[string]any {
	s := map[string]any{"url": w.url, "ca_certificate": w.cert, "username": simUser, "password": simPassword, "datastore": "LocalDS_0", "cluster": "DC0_C0"}
	for i := 0; i+1 < len(more); i += 2 {
		s[more[i]] = more[i+1]
	}
	return s
}

func (w *world) open(t *testing.T, more ...string) *cloud {
	t.Helper()
	return w.openWith(t, quick, more...)
}

func (w *world) openWith(t *testing.T, times timing, more ...string) *cloud {
	t.Helper()
	if err := Check(w.settings(more...)); err != nil {
		t.Fatal(err)
	}
	c, err := open(w.settings(more...), times, account.Network{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestTheSuite(t *testing.T) {
	w := newWorld(t)
	for name, more := range map[string][]string{
		"bare":                          nil,
		"with a data disk and networks": {"root_disk_gb", "20", "data_disk_gb", "10", "network", "DC0_DVPG0", "resource_pool", "DC0_C0_RP1", "folder", "tools"},
	} {
		t.Run(name, func(t *testing.T) {
			h := w.harness(t, more)
			if more != nil {
				h.Judge = "vcsim"
			}
			providertest.Run(t, h)
		})
	}
}
