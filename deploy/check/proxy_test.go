package check

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// freePort returns a port of this host that no one listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// TestProxies runs nginx and Caddy as the examples set them up, before a server in place of Muster, and asks through them.
func TestProxies(t *testing.T) {
	t.Run("nginx", func(t *testing.T) {
		nginx := program(t, "nginx")
		dir := t.TempDir()
		certificate(t, dir)
		tryProxy(t, func(upstream string) (string, *exec.Cmd) {
			plain, port := freePort(t), freePort(t)
			text := example(t, "../proxy/nginx.conf", "/etc/ssl/muster", dir, "127.0.0.1:8420", upstream, "listen 80;", "listen 127.0.0.1:"+plain+";",
				"listen 443 ssl;", "listen 127.0.0.1:"+port+" ssl;")
			whole := "error_log stderr;\npid " + dir + "/pid;\ndaemon off;\nmaster_process off;\nevents {}\nhttp {\naccess_log off;\n"
			for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
				whole += kind + "_temp_path " + dir + "/" + kind + ";\n"
			}
			return "https://127.0.0.1:" + port, exec.Command(nginx, "-p", dir, "-c", write(t, dir, "nginx.conf", whole+text+"}\n"))
		})
	})
	t.Run("caddy", func(t *testing.T) {
		caddy := program(t, "caddy")
		dir := t.TempDir()
		home := append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
		validate := exec.Command(caddy, "validate", "--adapter", "caddyfile", "--config", "../proxy/Caddyfile")
		validate.Env = home
		if out, err := validate.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		tryProxy(t, func(upstream string) (string, *exec.Cmd) {
			// A certificate would be fetched from elsewhere.
			port := freePort(t)
			text := example(t, "../proxy/Caddyfile", "127.0.0.1:8420", upstream, "muster.example.org {", "http://muster.example.org:"+port+" {\n\tbind 127.0.0.1")
			cmd := exec.Command(caddy, "run", "--adapter", "caddyfile", "--config", write(t, dir, "Caddyfile", "{\n\tadmin off\n}\n"+text))
			cmd.Env = home
			return "http://127.0.0.1:" + port, cmd
		})
	})
}

// tryProxy starts a proxy and asks through it: streams come line by line, and who asks says nothing about where they come from.
func tryProxy(t *testing.T, set func(upstream string) (url string, cmd *exec.Cmd)) {
	t.Helper()
	more := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /who", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s from %s", r.Host, strings.Join(r.Header.Values("X-Forwarded-For"), "+"))
	})
	mux.HandleFunc("POST /size", func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n, err)
	})
	mux.HandleFunc("GET /stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintln(w, "one")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-more:
		case <-r.Context().Done():
		}
		fmt.Fprintln(w, "two")
	})
	mux.HandleFunc("GET /upgrade", upgrade)
	muster := httptest.NewServer(mux)
	defer muster.Close()
	url, cmd := set(strings.TrimPrefix(muster.URL, "http://"))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		if t.Failed() {
			t.Logf("%s", said.String())
		}
	}()

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{ServerName: "muster.example.org", InsecureSkipVerify: true}}} // a certificate of the test's own
	defer client.CloseIdleConnections()
	ask := func(method, path string, body io.Reader, change ...func(*http.Request)) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, method, url+path, body)
		if err != nil {
			return nil, err
		}
		r.Host = "muster.example.org"
		r.Header.Set("X-Forwarded-For", "192.0.2.6")
		for _, c := range change {
			c(r)
		}
		return client.Do(r)
	}
	text := func(method, path string, body io.Reader) string {
		t.Helper()
		resp, err := ask(method, path, body)
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
	for {
		resp, err := ask("GET", "/who", nil)
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				break
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the proxy does not answer: %v", err)
		case err := <-ended:
			ended <- err
			t.Fatalf("the proxy has ended: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	if got := text("GET", "/who", nil); got != "muster.example.org from 127.0.0.1" {
		t.Errorf("Muster hears of %q", got)
	}
	if got := text("POST", "/size", bytes.NewReader(make([]byte, 3<<20))); got != fmt.Sprint(3<<20, error(nil)) {
		t.Errorf("of 3 MiB %s came", got)
	}
	tryUpgrade(t, func(change func(*http.Request)) (*http.Response, error) { return ask("GET", "/upgrade", nil, change) })
	resp, err := ask("GET", "/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	if !lines.Scan() || lines.Text() != "one" {
		t.Errorf("the first line of a stream is %q, %v", lines.Text(), lines.Err())
	}
	close(more)
	if !lines.Scan() || lines.Text() != "two" {
		t.Errorf("the second line of a stream is %q, %v", lines.Text(), lines.Err())
	}
}

// upgrade is the other side of a WebSocket, as far as proxies see: it sends back what comes.
func upgrade(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "websocket" || !strings.EqualFold(r.Header.Get("Connection"), "upgrade") {
		http.Error(w, "no WebSocket", http.StatusBadRequest)
		return
	}
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
	_, _ = io.Copy(conn, rw)
}

// tryUpgrade sends something through a WebSocket and back.
func tryUpgrade(t *testing.T, ask func(change func(*http.Request)) (*http.Response, error)) {
	t.Helper()
	resp, err := ask(func(r *http.Request) {
		r.Header.Set("Upgrade", "websocket")
		r.Header.Set("Connection", "Upgrade")
	})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	both, ok := resp.Body.(io.ReadWriter)
	if resp.StatusCode != http.StatusSwitchingProtocols || !ok {
		t.Fatalf("a WebSocket answers %s", resp.Status)
	}
	b := make([]byte, 5)
	if _, err := both.Write([]byte("typed")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(both, b); err != nil || string(b) != "typed" {
		t.Errorf("%q came back, %v", b, err)
	}
}

// example reads an example with some of its texts replaced, in pairs; one that is not there is an error.
func example(t *testing.T, path string, pairs ...string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(pairs); i += 2 {
		if !bytes.Contains(b, []byte(pairs[i])) {
			t.Fatalf("%s has no %q", path, pairs[i])
		}
		b = bytes.ReplaceAll(b, []byte(pairs[i]), []byte(pairs[i+1]))
	}
	return string(b)
}

func write(t *testing.T, dir, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// certificate makes one that holds for an hour.
func certificate(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"muster.example.org"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, leaf, leaf, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "fullchain.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(t, dir, "privkey.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
}
