package providers

import (
	"context"
	"log/slog"

	"muster/app/family"
	"muster/app/program"
	"muster/providers/executable"
)

// plugged are the members in programs of their own.
var plugged = newHost()

func newHost() *program.Host[registration] {
	return &program.Host[registration]{Prefix: executable.Prefix, Family: "providers", Each: "a provider type",
		Own: func(name string) bool { _, own := registry[name]; return own },
		Inquire: func(ctx context.Context, name, path string, env []string, log *slog.Logger) (registration, error) {
			p, err := executable.Inquire(ctx, name, path, env, log)
			return registration{Descriptor: p.Descriptor, Rate: p.Rate,
				Constructor: func(_ context.Context, name string, settings map[string]any, env Env) (family.Provider, error) {
					return executable.Open(p, name, settings, executable.Env{DataDir: env.DataDir, Logger: env.Logger})
				}}, err
		}}
}

// memberOf returns a member by its name, and the zero member where there is none. Those of the family itself come first.
func memberOf(kind string) registration {
	m, _ := lookUp(kind)
	return m
}

func lookUp(kind string) (registration, bool) {
	if m, ok := registry[kind]; ok {
		return m, true
	}
	return plugged.Member(kind)
}

// Plug adds a member for each program muster-provider-NAME of a directory, under the type NAME: see program.Host.
func Plug(ctx context.Context, dir string, env []string, log *slog.Logger) ([]program.Plugin, error) {
	return plugged.Plug(ctx, dir, env, log)
}

// PlugProgram adds the member of one program, whose file is named muster-provider-NAME.
func PlugProgram(ctx context.Context, path string, env []string, log *slog.Logger) program.Plugin {
	return plugged.PlugProgram(ctx, path, env, log)
}

// IsPlugged reports whether a type is that of a program that was added before.
func IsPlugged(name, path string) bool { return plugged.IsPlugged(name, path) }

// Removed says why a type isn't used any more, if its program was removed: see program.CheckRemoved.
func Removed(name string) error {
	if _, own := registry[name]; own {
		return nil
	}
	return program.CheckRemoved(executable.Prefix + name)
}

// IsOwn reports whether a type is one of the family itself, which no program replaces.
func IsOwn(name string) bool { return plugged.Own(name) }
