//go:build linux

package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/resource"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/server"
	rest "muster/portal/client"
)

// cuttingProxy is a way to a server that counts the bytes of its answers, and cuts the first connection that has carried so many.
type cuttingProxy struct {
	to    string
	after int64

	mu       sync.Mutex
	came     int64
	cut      bool
	listener net.Listener
	work     sync.WaitGroup
}

func newCuttingProxy(t *testing.T, server string, after int64) (s *cuttingProxy, address string) {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	s = &cuttingProxy{to: u.Host, after: after}
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.work.Go(func() {
		for {
			in, err := s.listener.Accept()
			if err != nil {
				return
			}
			s.work.Go(func() { s.carry(in) })
		}
	})
	t.Cleanup(func() {
		_ = s.listener.Close()
		s.work.Wait()
	})
	u.Host = s.listener.Addr().String()
	return s, u.String()
}

func (s *cuttingProxy) carry(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", s.to)
	if err != nil {
		return
	}
	defer out.Close()
	ended := make(chan struct{})
	s.work.Go(func() {
		defer close(ended)
		_, _ = io.Copy(out, in)
		_ = out.Close()
	})
	var mine int64
	b := make([]byte, 32<<10)
	for {
		n, err := out.Read(b)
		mine += int64(n)
		s.mu.Lock()
		s.came += int64(n)
		now := !s.cut && s.after > 0 && mine > s.after
		s.cut = s.cut || now
		s.mu.Unlock()
		if err != nil {
			return
		}
		if _, err := in.Write(b[:n]); err != nil {
			return
		}
		if now {
			// A reset would throw away what the other end has not read yet, megabytes on a busy host.
			_ = in.(*net.TCPConn).CloseWrite()
			<-ended
			return
		}
	}
}

func (s *cuttingProxy) counted() (came int64, cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.came, s.cut
}

const bigService = `---
kind: service
name: big
actions:
  configure:
    automator: shell
    resources: [file/big]
    fields: {script: 'echo "it is $(sha256sum <"$MUSTER_RESOURCES/big")"'}
---
kind: template
name: big
defaults: {services: [big], provider: cloud}
constraints: {size: {min: 1, max: 5}}
`

// big pushes that many incompressible bytes, and returns them with the line that a node then logs.
func (w *fleetServer) big(size int) (content []byte, says string) {
	w.Helper()
	content = make([]byte, size)
	_, _ = rand.Read(content)
	sum := sha256.Sum256(content)
	w.push("shell/file/big", bytes.NewBuffer(content))
	return content, "n1.big.configure: it is " + hex.EncodeToString(sum[:])
}

func (w *fleetServer) order(name, template string) cluster.View {
	w.Helper()
	v, err := w.server.Services.Cluster.Creates.CreateCluster(w.Context(), w.admin(""), cluster.CreateRequest{Name: name, Request: layout.Request{Template: template, Size: 1}})
	if err != nil {
		w.Fatal(err)
	}
	return v
}

// A provisioner's host gets a content over HTTP once: if the connection is cut in the middle, the download resumes there, and the next cluster, whose node
// has nothing yet, has it from the disk.
func TestProvisionerFetchesAContentOnce(t *testing.T) {
	t.Parallel()
	const size, cutAt = 6 << 20, 5 << 19
	w := newFleetServer(t, bigService)
	way, address := newCuttingProxy(t, w.server.URL, cutAt)
	w.start("h1", "--server", address)
	_, says := w.big(size)

	v := w.order("first", "big")
	w.active("", v.ID)
	came, cut := way.counted()
	if said := w.said(v.ID); !strings.Contains(said, says) || !strings.Contains(said, "to the node, from the server") {
		t.Errorf("said %s, want %s", said, says)
	}
	// Only data in flight at the cut comes twice; a restarted download would repeat everything.
	if !cut || came < size || came > size+cutAt/2 {
		t.Errorf("of a content of %d bytes %d came, cut: %t", size, came, cut)
	}
	t.Logf("%d bytes came for a content of %d that was cut at %d", came, size, cutAt)

	v = w.order("second", "big")
	w.active("", v.ID)
	again, _ := way.counted()
	if said := w.said(v.ID); !strings.Contains(said, says) || !strings.Contains(said, "to the node, from this worker's disk") {
		t.Errorf("said %s, want %s", said, says)
	}
	if again-came > size/4 {
		t.Errorf("%d bytes came for a content that is there", again-came)
	}

	info, err := w.server.Services.Resource.Resource(t.Context(), w.admin(""), resource.ID{Family: resource.ForAutomator, Member: "shell", Type: "file", Name: "big"})
	if err != nil {
		t.Fatal(err)
	}
	if on := info.Versions[0].Held; len(on) != 1 || on[0].Provisioner != "h1" {
		t.Errorf("the content is said to be on the disks of %+v", on)
	}
}

// blobFile is the only content that the server keeps.
func (w *fleetServer) blobFile() string {
	w.Helper()
	var found []string
	err := filepath.WalkDir(filepath.Join(w.server.Data, "resources", "blobs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			found = append(found, path)
		}
		return err
	})
	if err != nil || len(found) != 1 {
		w.Fatalf("%q is kept, %v; want one content", found, err)
	}
	return found[0]
}

// A content that the server's disk has changed comes to no node: each try says so. When it's pushed again, it's correct again, and the step continues.
func TestContentChangedOnTheServerIsRefusedAndHealed(t *testing.T) {
	t.Parallel()
	w := newFleetServer(t, bigService)
	w.start("h1")
	content, says := w.big(1 << 20)
	file := w.blobFile()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "got")
	if said, err := w.muster("resource", "pull", "shell/file/big@1", "-O", out); err == nil || !strings.Contains(said, "its SHA-256 doesn't match") {
		t.Errorf("it is pulled: %v, %s", err, said)
	}

	v := w.order("first", "big")
	w.until("a node is refused the content", func() bool {
		steps, err := w.server.Services.Cluster.Activity.Steps(t.Context(), w.admin(""), v.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			if s.Action == app.ActionConfigure && strings.Contains(s.Error, "Resource file/big@1 doesn't match its recorded hash.") {
				return true
			}
		}
		return false
	})
	if said := w.said(v.ID); strings.Contains(said, "Copying resource") {
		t.Errorf("it came to the node: %s", said)
	}
	again := w.push("shell/file/big", bytes.NewBuffer(content))
	if again.Number != 1 {
		t.Errorf("the same content is version %d", again.Number)
	}
	w.active("", v.ID)
	if said := w.said(v.ID); !strings.Contains(said, says) {
		t.Errorf("said %s, want %s", said, says)
	}
	if said, err := w.muster("resource", "pull", "shell/file/big@1", "-O", out); err != nil {
		t.Errorf("healed, it is not pulled: %v, %s", err, said)
	}
	if got, _ := os.ReadFile(out); !bytes.Equal(got, content) {
		t.Error("what was pulled is something else")
	}
}

// muster runs the command line against the town's server.
func (w *fleetServer) muster(args ...string) (string, error) {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), "muster", append(args, "--data", w.server.Data)...)
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+w.TempDir())
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// put pushes over REST as a program would, and returns the status and what the answer says.
func (w *fleetServer) put(name, hash string, content []byte) (status int, says string) {
	w.Helper()
	s, err := cli.ReadClientSettings(w.server.Data)
	if err != nil {
		w.Fatal(err)
	}
	cl, err := rest.New(s)
	if err != nil {
		w.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.Context(), http.MethodPut, s.URL+"/api/v1/resources/shell:file:"+name+"/content?sha256="+hash, bytes.NewReader(content))
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.Token)
	req.Header.Set("Content-Type", "application/octet-stream")
	resp, err := cl.HTTP.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.Fatal(err)
	}
	var failure struct{ Code, Kind, Detail string }
	if err := json.Unmarshal(b, &failure); err != nil {
		w.Fatalf("%s: %v", b, err)
	}
	return resp.StatusCode, failure.Code + " " + failure.Kind + " " + failure.Detail
}

// Both limits hold over REST and on the command line, as does the hash that the sender tells. What was refused is not kept, and counts for nothing.
func TestResourceLimitsAndHashes(t *testing.T) {
	t.Parallel()
	w := newFleetServer(t, "", func(c *server.Config) { c.Resources.File, c.Resources.Tenant = 64<<10, 100<<10 })
	w.until("the command line can be used", func() bool {
		_, err := cli.ReadClientSettings(w.server.Data)
		return err == nil
	})
	some := func(kib int, with byte) []byte { return bytes.Repeat([]byte{with}, kib<<10) }
	push := func(name string, content []byte) (string, error) {
		t.Helper()
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return w.muster("resource", "push", "shell/file/"+name, file)
	}
	want := func(what string, status, wanted int, says string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(says, part) {
				t.Errorf("%s: %q does not say %q", what, says, part)
			}
		}
		if status != wanted {
			t.Errorf("%s: %d %s, want %d", what, status, says, wanted)
		}
	}
	fails := func(what string, says string, err error, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if err == nil || !strings.Contains(says, part) {
				t.Errorf("%s: %v, %q does not say %q", what, err, says, part)
			}
		}
	}

	status, says := w.put("one", "", some(65, 'a'))
	want("too large over REST", status, http.StatusRequestEntityTooLarge, says, "too_large", "larger than 64 KiB")
	said, err := push("one", some(65, 'a'))
	fails("too large", said, err, "larger than 64 KiB", "--resource-limit")

	wrong := sha256.Sum256([]byte("another"))
	status, says = w.put("one", hex.EncodeToString(wrong[:]), some(60, 'a'))
	right := sha256.Sum256(some(60, 'a'))
	want("other content than announced", status, http.StatusUnprocessableEntity, says, "wrong_hash", hex.EncodeToString(right[:]))
	status, says = w.put("one", "xyz", some(60, 'a'))
	want("no hash", status, http.StatusUnprocessableEntity, says, "64 hex digits")

	status, says = w.put("one", hex.EncodeToString(right[:]), some(60, 'a'))
	want("what fits", status, http.StatusCreated, says)
	status, says = w.put("two", "", some(60, 'b'))
	want("more than all may be, over REST", status, http.StatusConflict, says, "resource_quota", "would use 120 KiB", "the quota is 100 KiB")
	said, err = push("two", some(60, 'b'))
	fails("more than all may be", said, err, "would use 120 KiB", "--resource-quota")
	// The same content once more takes no room, and what is just as much as there is room for does.
	if said, err := push("three", some(60, 'a')); err != nil {
		t.Errorf("the same content: %v, %s", err, said)
	}
	if said, err := push("two", some(40, 'b')); err != nil {
		t.Errorf("what fits just: %v, %s", err, said)
	}
	said, err = push("four", []byte("x"))
	fails("when it is full", said, err, "use 100 KiB, the whole quota", "--resource-quota")
	status, says = w.put("four", "", []byte("x"))
	want("when it is full, over REST", status, http.StatusConflict, says, "resource_quota")

	list, err := w.muster("resource", "list", "--format", "json")
	if err != nil {
		t.Fatal(err, list)
	}
	for name, there := range map[string]bool{"one": true, "two": true, "three": true, "four": false} {
		if strings.Contains(list, fmt.Sprintf("%q", name)) != there {
			t.Errorf("%s is listed: %t", name, !there)
		}
	}
	kept := 0
	_ = filepath.WalkDir(filepath.Join(w.server.Data, "resources"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			kept++
		}
		return nil
	})
	if kept != 2 {
		t.Errorf("%d files are kept, want 2", kept)
	}
}
