package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/a-h/templ/cmd/templ/generatecmd/proxy"
)

const (
	binary   = "bin/muster-dev"
	catalog  = "examples/catalog"
	password = "development-only" // it listens on loopback only
	readyIn  = time.Minute
)

// server is a Muster that is built and started again after changes, behind a proxy that reloads pages.
type server struct {
	data    string
	port    int
	pages   *templates
	proxy   *proxy.Handler
	process *exec.Cmd
	ended   chan error
	crashed atomic.Bool
}

func newServer(data string, port int) *server {
	s := &server{data: data, port: port, pages: newTemplates()}
	s.proxy = proxy.New(slog.New(slog.DiscardHandler), "127.0.0.1", port, &url.URL{Scheme: "http", Host: s.address()})
	return s
}

// address is where the server itself listens.
func (s *server) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port+1)) }

func (s *server) serve(ctx context.Context) error {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)))
	if err != nil {
		return fmt.Errorf("%w; choose another port with PORT=", err)
	}
	front := &http.Server{Handler: http.HandlerFunc(s.pass), ReadHeaderTimeout: time.Minute}
	go func() { _ = front.Serve(listener) }()
	defer front.Close()
	changes, err := watch(ctx)
	if err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.stop()
	fmt.Printf("\nPortal:  %s   user admin, password %s\nCommand: MUSTER_DATA=%s %s cluster list\nCtrl-C stops the server; its clusters keep running. `make dev-clean` deletes them.\n\n",
		s.proxy.URL, password, s.data, binary)
	if err := s.firstCluster(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-s.ended:
			s.hasEnded()
			fmt.Printf("The server has ended: %v. The next change starts it again.\n", err)
		case names := <-changes:
			if err := s.change(ctx, names); err != nil && ctx.Err() == nil {
				fmt.Println(err)
				if s.process == nil {
					fmt.Println("The next change starts the server again.")
				} else {
					fmt.Println("The server keeps running the last build that worked.")
				}
			}
		}
	}
}

// pass passes a request on. It hides that a browser accepts compressed pages: templ's proxy (v0.3.977) loses those of unknown length. While
// the server starts again, that proxy waits for it, but it would wait for minutes for one that has crashed.
func (s *server) pass(w http.ResponseWriter, r *http.Request) {
	if s.crashed.Load() && !strings.HasPrefix(r.URL.Path, "/_templ/") {
		http.Error(w, "The server has ended. The terminal of make dev says why; the next change starts it again.", http.StatusBadGateway)
		return
	}
	r.Header.Del("Accept-Encoding")
	s.proxy.ServeHTTP(w, r)
}

// begin generates, builds and starts.
func (s *server) begin(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Join(s.data, "pages"), 0o700); err != nil {
		return err
	}
	if err := os.Setenv("TEMPL_DEV_MODE_ROOT", filepath.Join(s.data, "pages")); err != nil {
		return err
	}
	if _, err := s.pages.generateAll(); err != nil {
		return err
	}
	if err := build(ctx); err != nil {
		return err
	}
	if err := s.pages.writeTexts(); err != nil {
		return err
	}
	return s.start(ctx)
}

// change makes changed files visible in the portal.
func (s *server) change(ctx context.Context, names []string) error {
	begin := time.Now()
	var pages []string
	code := false
	for _, name := range names {
		if _, err := os.Stat(name); err == nil && filepath.Ext(name) == ".templ" {
			pages = append(pages, name)
		} else {
			code = true // a removed page too: its code is removed below
		}
	}
	_, textOnly, err := s.pages.generate(pages...)
	if err == nil && code {
		_, err = s.pages.generateAll()
	}
	if err != nil {
		return err
	}
	restart := code || !textOnly || s.process == nil
	if restart {
		if err := build(ctx); err != nil {
			return err
		}
	}
	built := time.Now()
	if restart {
		s.stop()
	}
	if err := s.pages.writeTexts(); err != nil {
		return err
	}
	if restart {
		if err := s.start(ctx); err != nil {
			return err
		}
	}
	s.proxy.SendSSE("message", "reload")
	fmt.Printf("%s: built in %.1f s, restarted in %.1f s\n", summary(names), built.Sub(begin).Seconds(), time.Since(built).Seconds())
	return nil
}

func summary(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

// build compiles the small build with the flags of make, so that both share the compiler's cache.
func build(ctx context.Context) error {
	c := exec.CommandContext(ctx, "go", "build", "-o", binary, "-tags", "small", "-ldflags", "-s -w", "./cmd/muster")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c.Run()
}

// start starts the server and waits until it answers.
func (s *server) start(ctx context.Context) error {
	s.process = s.muster(context.WithoutCancel(ctx), "serve", "--catalog", catalog, "--listen", s.address(), "--log-level", "warn")
	s.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for us; we stop it
	s.process.Stdout, s.process.Stderr = io.Discard, os.Stderr
	if err := s.process.Start(); err != nil {
		return err
	}
	s.ended = make(chan error, 1)
	go func(c *exec.Cmd, ended chan<- error) { ended <- c.Wait() }(s.process, s.ended)
	for end := time.Now().Add(readyIn); ; time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-s.ended:
			s.hasEnded()
			return fmt.Errorf("the server ended before it was ready: %w", err)
		default:
		}
		res, err := http.Get("http://" + s.address() + "/readyz")
		if err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				s.crashed.Store(false)
				return nil
			}
		}
		if time.Now().After(end) {
			return errors.New("the server isn't ready after a minute")
		}
	}
}

func (s *server) hasEnded() {
	s.process = nil
	s.crashed.Store(true)
}

func (s *server) stop() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(10 * time.Second):
		_ = s.process.Process.Kill()
		<-s.ended
	}
	s.process = nil
}

// muster is the built program with the server's data.
func (s *server) muster(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, binary, args...)
	c.Env = append(os.Environ(), "MUSTER_DATA="+s.data, "TEMPL_DEV_MODE=true")
	if _, err := os.Stat(filepath.Join(s.data, "muster.db")); err != nil {
		c.Env = append(c.Env, "MUSTER_ADMIN_PASSWORD="+password)
	}
	c.Stderr = os.Stderr
	return c
}

// clusters are the names of those that live.
func (s *server) clusters(ctx context.Context) ([]string, error) {
	out, err := s.muster(ctx, "cluster", "list", "--format", "json").Output()
	if err != nil {
		return nil, err
	}
	var list struct{ Clusters []struct{ Name string } }
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("the list of clusters: %w", err)
	}
	names := make([]string, len(list.Clusters))
	for i, c := range list.Clusters {
		names[i] = c.Name
	}
	return names, nil
}

// firstCluster requests the demo's cluster where there is none.
func (s *server) firstCluster(ctx context.Context) error {
	names, err := s.clusters(ctx)
	if err != nil || len(names) > 0 {
		return err
	}
	return s.muster(ctx, "cluster", "create", "shop", "--template", "web", "--size", "5").Run()
}

// clean deletes the clusters, with their machines, and then the data.
func (s *server) clean(ctx context.Context) error {
	if _, err := os.Stat(s.data); errors.Is(err, os.ErrNotExist) {
		fmt.Println("Nothing to delete: " + s.data + " doesn't exist.")
		return nil
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.stop()
	names, err := s.clusters(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		c := s.muster(ctx, "cluster", "delete", name, "--yes", "--wait")
		c.Stdout = os.Stdout
		if err := c.Run(); err != nil {
			return err
		}
	}
	s.stop()
	return os.RemoveAll(s.data)
}
