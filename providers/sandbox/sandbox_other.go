//go:build !unix

package sandbox

import (
	"context"
	"log/slog"

	"muster/app"
	"muster/app/family"
)

// Env is what the sandbox needs from the process that it runs in.
type Env struct {
	DataDir string
	Logger  *slog.Logger
}

// Open tells that this operating system has no sandbox.
func Open(context.Context, string, map[string]any, Env) (family.Provider, error) {
	return nil, app.Errorf(app.EInvalid, "the sandbox requires Linux or another Unix")
}
