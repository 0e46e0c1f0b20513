//go:build unix && !linux

package sandbox

import "log/slog"

func backends(l layout, _ settings, u *usage, log *slog.Logger) map[string]backend {
	return map[string]backend{ModeProcess: newProcess(l, u, log)}
}
