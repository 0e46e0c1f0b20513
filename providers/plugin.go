package providers

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"

	"muster/app"
	"muster/providers/executable"
)

// plugged are the members in programs of their own that this process was told of. They come when it starts, and none goes.
var plugged struct {
	sync.RWMutex
	members map[string]member
	paths   map[string]string
}

// memberOf gives a member by its name, and the zero member where there is none. Those of the family itself come first.
func memberOf(kind string) member {
	m, _ := lookUp(kind)
	return m
}

func lookUp(kind string) (member, bool) {
	if m, ok := members[kind]; ok {
		return m, true
	}
	plugged.RLock()
	defer plugged.RUnlock()
	m, ok := plugged.members[kind]
	return m, ok
}

// Plugin is a program that was found, and why it was left out, if it was.
type Plugin struct {
	Name, Path string
	Err        error
}

// Plug adds a member for each program muster-provider-NAME of a directory, under the type NAME. Programs are asked all at once what they are; one that does
// not answer in time, that others could have written, or whose type there is already, is left out, and said to be. Env names variables of ours that they get.
func Plug(ctx context.Context, dir string, env []string, log *slog.Logger) ([]Plugin, error) {
	names, paths, err := executable.Find(dir)
	if err != nil {
		return nil, app.Errorf(app.EInvalid, "the directory of providers' programs cannot be read: %w", err)
	}
	out := make([]Plugin, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { out[i] = PlugProgram(ctx, paths[name], env, log) })
	}
	all.Wait()
	return out, nil
}

// PlugProgram adds the member of one program, whose file is named muster-provider-NAME.
func PlugProgram(ctx context.Context, path string, env []string, log *slog.Logger) Plugin {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	p := Plugin{Name: strings.TrimPrefix(filepath.Base(path), executable.Prefix), Path: path}
	if _, had := lookUp(p.Name); had {
		p.Err = app.Errorf(app.EConflict, "there is a type of provider %q already, which is never replaced", p.Name)
		return p
	}
	program, err := executable.Inquire(ctx, p.Name, path, env, log)
	if err != nil {
		p.Err = err
		return p
	}
	plugged.Lock()
	defer plugged.Unlock()
	if _, had := plugged.members[p.Name]; had {
		p.Err = app.Errorf(app.EConflict, "there is a type of provider %q already, which is never replaced", p.Name)
		return p
	}
	if plugged.members == nil {
		plugged.members, plugged.paths = map[string]member{}, map[string]string{}
	}
	plugged.paths[p.Name] = path
	plugged.members[p.Name] = member{Descriptor: program.Descriptor, Rate: program.Rate,
		Constructor: func(_ context.Context, name string, settings map[string]any, env Env) (app.Provider, error) {
			return executable.Open(program, name, settings, executable.Env{DataDir: env.DataDir, Logger: env.Logger})
		}}
	return p
}

// IsPlugged tells whether a type is that of a program that was added before.
func IsPlugged(name, path string) bool {
	plugged.RLock()
	defer plugged.RUnlock()
	return path != "" && plugged.paths[name] == path
}
