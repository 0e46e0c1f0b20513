//go:build unix && !linux

package sandbox

import "log/slog"

func backends(l layout, _ settings, log *slog.Logger) map[string]backend {
	return map[string]backend{ModeProcess: newProcess(l, log)}
}
