package automators

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"muster/app"
	"muster/automators/executable"
)

// plugged are the members in programs of their own that this process was told of. They come when it starts, and none goes.
var plugged struct {
	sync.RWMutex
	members map[string]app.Automator
	paths   map[string]string
}

func pluggedAutomator(name string) app.Automator {
	plugged.RLock()
	defer plugged.RUnlock()
	return plugged.members[name]
}

func pluggedNames() []string {
	plugged.RLock()
	defer plugged.RUnlock()
	return slices.Collect(maps.Keys(plugged.members))
}

// Plugin is a program that was found, and why it was left out, if it was.
type Plugin struct {
	Name, Path string
	Err        error
}

// Plug adds a member for each program muster-automator-NAME of a directory, under that NAME. Programs are asked all at once what they are; one that does
// not answer in time, that others could have written, or whose name there is already, is left out, and said to be. Env names variables of ours that they get.
func Plug(ctx context.Context, dir string, env []string, log *slog.Logger) ([]Plugin, error) {
	names, paths, err := executable.Find(dir)
	if err != nil {
		return nil, app.Errorf(app.EInvalid, "the directory of automators' programs cannot be read: %w", err)
	}
	out := make([]Plugin, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { out[i] = PlugProgram(ctx, paths[name], env, log) })
	}
	all.Wait()
	return out, nil
}

// PlugProgram adds the member of one program, whose file is named muster-automator-NAME.
func PlugProgram(ctx context.Context, path string, env []string, log *slog.Logger) Plugin {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	p := Plugin{Name: strings.TrimPrefix(filepath.Base(path), executable.Prefix), Path: path}
	taken := app.Errorf(app.EConflict, "there is an automator %q already, which is never replaced", p.Name)
	if list[p.Name] != nil || pluggedAutomator(p.Name) != nil {
		p.Err = taken
		return p
	}
	program, err := executable.Inquire(ctx, p.Name, path, env, log)
	if err != nil {
		p.Err = err
		return p
	}
	plugged.Lock()
	defer plugged.Unlock()
	if plugged.members[p.Name] != nil {
		p.Err = taken
		return p
	}
	if plugged.members == nil {
		plugged.members, plugged.paths = map[string]app.Automator{}, map[string]string{}
	}
	plugged.paths[p.Name] = path
	plugged.members[p.Name] = executable.New(program, log)
	return p
}

// IsPlugged tells whether an automator is that of a program that was added before.
func IsPlugged(name, path string) bool {
	plugged.RLock()
	defer plugged.RUnlock()
	return path != "" && plugged.paths[name] == path
}
