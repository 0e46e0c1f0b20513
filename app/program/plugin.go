package program

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"muster/app"
)

// Plugin is a program that was found, and why it was left out, if it was.
type Plugin struct {
	Name, Path string
	Err        error
}

// Host holds the members of a family in programs of their own that this process knows. They come when it starts, and none goes.
type Host[Member any] struct {
	Prefix string // of the programs' names; the rest is the name of the member
	Family string // "providers", "automators"
	Each   string // what a name is of: "a type of provider", "an automator"
	// Own reports whether the family itself has a member of a name, which is never replaced.
	Own func(name string) bool
	// Inquire starts a program, asks what it is, and ends it.
	Inquire func(ctx context.Context, name, path string, env []string, log *slog.Logger) (Member, error)

	mu      sync.RWMutex
	members map[string]Member
	paths   map[string]string
}

// Plug adds a member for each program of a directory whose name begins with the prefix. Programs are asked all at once what they are; one that does
// not answer in
// time, that others could have written, or whose name there is already, is left out, and said to be. Env names variables of ours that they get.
func (h *Host[Member]) Plug(ctx context.Context, dir string, env []string, log *slog.Logger) ([]Plugin, error) {
	names, paths, err := Find(dir, h.Prefix)
	if err != nil {
		return nil, app.Errorf(app.EInvalid, "can't read the directory of %s programs: %w", h.Family, err)
	}
	out := make([]Plugin, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { out[i] = h.PlugProgram(ctx, paths[name], env, log) })
	}
	all.Wait()
	return out, nil
}

// PlugProgram adds the member of one program.
func (h *Host[Member]) PlugProgram(ctx context.Context, path string, env []string, log *slog.Logger) Plugin {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	p := Plugin{Name: strings.TrimPrefix(filepath.Base(path), h.Prefix), Path: path}
	taken := app.Errorf(app.EConflict, "%s %q already exists and can't be replaced", h.Each, p.Name)
	if _, had := h.Member(p.Name); had || h.Own(p.Name) {
		p.Err = taken
		return p
	}
	m, err := h.Inquire(ctx, p.Name, path, env, log)
	if err != nil {
		p.Err = err
		return p
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, had := h.members[p.Name]; had {
		p.Err = taken
		return p
	}
	if h.members == nil {
		h.members, h.paths = map[string]Member{}, map[string]string{}
	}
	h.paths[p.Name], h.members[p.Name] = path, m
	return p
}

// Member returns a member by its name.
func (h *Host[Member]) Member(name string) (Member, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	m, ok := h.members[name]
	return m, ok
}

// Names are those of the members, sorted.
func (h *Host[Member]) Names() []string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return slices.Sorted(maps.Keys(h.members))
}

// IsPlugged reports whether a member is that of a program that was added before.
func (h *Host[Member]) IsPlugged(name, path string) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return path != "" && h.paths[name] == path
}
