package automators

import (
	"context"
	"log/slog"

	"muster/app/family"
	"muster/app/program"
	"muster/automators/executable"
)

// plugged are the members in programs of their own.
var plugged = &program.Host[family.Automator]{Prefix: executable.Prefix, Family: "automators", Each: "an automator",
	Own: func(name string) bool { return list[name] != nil },
	Inquire: func(ctx context.Context, name, path string, env []string, log *slog.Logger) (family.Automator, error) {
		p, err := executable.Inquire(ctx, name, path, env, log)
		return executable.New(p, log), err
	}}

// Plug adds a member for each program muster-automator-NAME of a directory, under that NAME: see program.Host.
func Plug(ctx context.Context, dir string, env []string, log *slog.Logger) ([]program.Plugin, error) {
	return plugged.Plug(ctx, dir, env, log)
}

// PlugProgram adds the member of one program, whose file is named muster-automator-NAME.
func PlugProgram(ctx context.Context, path string, env []string, log *slog.Logger) program.Plugin {
	return plugged.PlugProgram(ctx, path, env, log)
}

// IsPlugged reports whether an automator is that of a program that was added before.
func IsPlugged(name, path string) bool { return plugged.IsPlugged(name, path) }

// Removed says why an automator isn't used any more, if its program was removed: see program.CheckRemoved.
func Removed(name string) error {
	if list[name] != nil {
		return nil
	}
	return program.CheckRemoved(executable.Prefix + name)
}

// IsOwn reports whether an automator is one of the family itself, which no program replaces.
func IsOwn(name string) bool { return list[name] != nil }
