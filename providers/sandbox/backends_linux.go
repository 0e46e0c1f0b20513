package sandbox

import "log/slog"

func backends(l layout, s settings, u *usage, log *slog.Logger) map[string]backend {
	return map[string]backend{
		ModeNamespaces: newNamespaces(l, s, log),
		ModeProcess:    newProcess(l, u, log),
	}
}
