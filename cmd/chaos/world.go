//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"muster/app/family"
	"muster/providers/fake"
)

// world is what lies outside of Muster: where the machines are, and what they have been made to do.
type world interface {
	// provider is the account in the catalog: the YAML of its type and settings, its image, and where the files of effects
	// are to lie, "" for each machine's home.
	provider() (yaml, image, effects string)
	// env is what the server needs beside the catalog.
	env() []string
	// machines are those that exist, known or not.
	machines() ([]family.Machine, error)
	// effects returns the files of effects of a cluster's nodes, whether or not their machines are still there.
	effects(cluster string) ([]string, error)
	// progress grows whenever something is asked of a machine or of the account.
	progress() int
	close()
}

// fakeWorld is a cloud in this process, with nodes that answer.
type fakeWorld struct {
	cloud  *fake.Cloud
	nodes  *fake.Nodes
	secret string
	dir    string
	url    string
	server *http.Server
	stop   context.CancelFunc
	work   sync.WaitGroup
}

var _ world = (*fakeWorld)(nil)

// keepEvery is how often nodes hear that their machines are gone.
const keepEvery = 50 * time.Millisecond

func newFakeWorld(dir string) (*fakeWorld, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	w := &fakeWorld{cloud: fake.New("chaos"), nodes: fake.NewNodes(filepath.Join(dir, "nodes")), secret: rand.Text(), dir: filepath.Join(dir, "nodes"),
		url: "http://" + l.Addr().String(), stop: stop}
	w.cloud.Bind(w.nodes.Bind)
	w.cloud.SetForgetful(true) // the worst of clouds: who asks twice for a machine gets two
	w.cloud.SetDelay(fake.Create, 20*time.Millisecond)
	w.cloud.SetBoot(50 * time.Millisecond)
	w.server = &http.Server{Handler: w.cloud.Serve(w.secret), ReadHeaderTimeout: 10 * time.Second}
	w.work.Go(func() { _ = w.server.Serve(l) })
	w.work.Go(func() {
		for ctx.Err() == nil {
			w.nodes.Keep(w.cloud.Machines())
			select {
			case <-ctx.Done():
			case <-time.After(keepEvery):
			}
		}
	})
	return w, nil
}

func (w *fakeWorld) provider() (yaml, image, effects string) {
	return fmt.Sprintf("type: fake\nsettings: {url: %q, secret: \"${env:CHAOS_SECRET}\"}", w.url), "any", ""
}

func (w *fakeWorld) env() []string { return []string{"CHAOS_SECRET=" + w.secret} }

func (w *fakeWorld) machines() ([]family.Machine, error) { return w.cloud.Machines(), nil }

func (w *fakeWorld) effects(cluster string) ([]string, error) {
	return filepath.Glob(filepath.Join(w.dir, cluster, "*", "home", "effects"))
}

func (w *fakeWorld) progress() int { return len(w.cloud.Calls()) + w.nodes.Commands() }

func (w *fakeWorld) close() {
	w.stop()
	_ = w.server.Close()
	_ = w.nodes.Close()
	w.work.Wait()
}
