//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"muster/app/family"
)

// sandboxWorld are the machines that the server itself makes on this host, as folders behind SSH servers inside of it.
// They die and come back with it.
type sandboxWorld struct {
	dir     string // of the effects
	records string // a glob
	mu      sync.Mutex
	moved   int
	last    int64
}

var _ world = (*sandboxWorld)(nil)

func newSandboxWorld(dir, data string) (*sandboxWorld, error) {
	w := &sandboxWorld{dir: filepath.Join(dir, "effects"), records: filepath.Join(data, "providers", "cloud", "nodes", "*")}
	return w, os.MkdirAll(w.dir, 0o700)
}

func (w *sandboxWorld) title() string {
	return "sandbox machines: folders on this host with SSH servers in the server"
}

func (w *sandboxWorld) provider() (yaml, image, effects string) {
	return "type: sandbox\nsettings: {mode: process}", "host", w.dir
}

func (w *sandboxWorld) env() []string { return nil }

// machines reads the records that the sandbox keeps.
func (w *sandboxWorld) machines() ([]family.Machine, error) {
	dirs, err := filepath.Glob(w.records)
	if err != nil {
		return nil, err
	}
	var all []family.Machine
	for _, d := range dirs {
		var r struct {
			ID   string
			Tags map[string]string
		}
		b, err := os.ReadFile(filepath.Join(d, "machine.json"))
		if err != nil {
			continue // being made, or being removed
		}
		if err := json.Unmarshal(b, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", d, err)
		}
		all = append(all, family.Machine{ID: filepath.Base(d), Tags: r.Tags})
	}
	return all, nil
}

func (w *sandboxWorld) effects(cluster string) ([]string, error) {
	return filepath.Glob(filepath.Join(w.dir, cluster, "*", "effects"))
}

// progress grows with what is written: machines that come and go, and effects.
func (w *sandboxWorld) progress() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	var now int64
	dirs, _ := filepath.Glob(w.records)
	now += int64(len(dirs))
	files, _ := filepath.Glob(filepath.Join(w.dir, "*", "*", "effects"))
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			now += info.Size()
		}
	}
	if now != w.last {
		w.last = now
		w.moved++
	}
	return w.moved
}

func (w *sandboxWorld) close() {}
