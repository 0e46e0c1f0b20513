package server

import (
	"io"
	"log/slog"
	"net"
	"os"

	"muster/app/observe"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/observe/trace"

	"github.com/spf13/pflag"
)

// otlpEnv is OpenTelemetry's own name for where spans go.
const otlpEnv = "OTEL_EXPORTER_OTLP_ENDPOINT"

// ObserveConfig says how a process is watched from outside: what it logs, what it measures, and whom it tells of what it does.
type ObserveConfig struct {
	Metrics         string // host:port; "": no listener of their own
	MetricsAnywhere bool
	Tenants         bool   // metrics tell tenants apart
	Pprof           string // host:port; "": none
	PprofAnywhere   bool
	OTLP            string // base URL of a collector; "": nothing is traced
	Format          string // "text" or "json"
	Level           string // "" leaves it to --verbose
}

func (o *ObserveConfig) declare(flags *pflag.FlagSet, server bool) {
	flags.StringVar(&o.Metrics, "metrics-listen", "", "`address` that shows metrics to Prometheus at /metrics without a token, such as 127.0.0.1:9464; without it nothing does")
	flags.BoolVar(&o.MetricsAnywhere, "metrics-anywhere", false, "let --metrics-listen be an address that other hosts reach: whoever can reach it reads them")
	if server {
		flags.BoolVar(&o.Tenants, "metrics-tenants", false, "let some metrics tell tenants apart; of the 200 with most")
	}
	flags.StringVar(&o.Pprof, "pprof-listen", "", "`address` that shows profiles of the process at /debug/pprof/, such as 127.0.0.1:6060; without it nothing does")
	flags.BoolVar(&o.PprofAnywhere, "pprof-anywhere", false, "let --pprof-listen be an address that other hosts reach: profiles may show secrets, and cost time")
	flags.StringVar(&o.OTLP, "otlp-endpoint", "", "`URL` of an OpenTelemetry collector that takes traces over HTTP, such as http://127.0.0.1:4318 (default $"+otlpEnv+"); without it nothing is traced")
	flags.StringVar(&o.Format, "log-format", "text", "`format` of the log: text or json")
	flags.StringVar(&o.Level, "log-level", "", "`level` of the log: debug, info, warn or error (default info, debug with --verbose)")
}

// Check completes and refuses. The environment counts where a flag does not say.
func (o *ObserveConfig) Check(lookup func(string) (string, bool)) error {
	if o.OTLP == "" {
		o.OTLP, _ = lookup(otlpEnv)
	}
	if o.OTLP != "" {
		if err := trace.CheckEndpoint(o.OTLP); err != nil {
			return err
		}
	}
	if o.Format != "text" && o.Format != "json" && o.Format != "" {
		return cli.Usagef("--log-format must be text or json, not %q", o.Format)
	}
	if _, ok := logLevels[o.Level]; !ok {
		return cli.Usagef("--log-level must be debug, info, warn or error, not %q", o.Level)
	}
	for _, l := range []struct {
		flag, address, allow string
		anywhere             bool
	}{{"--metrics-listen", o.Metrics, "--metrics-anywhere", o.MetricsAnywhere}, {"--pprof-listen", o.Pprof, "--pprof-anywhere", o.PprofAnywhere}} {
		if l.address == "" {
			continue
		}
		host, _, err := net.SplitHostPort(l.address)
		if err != nil {
			return cli.Usagef("%s must be HOST:PORT, not %q", l.flag, l.address)
		}
		if !Loopback(host) && !l.anywhere {
			return cli.Usagef("%s %s would be open to other hosts, without a token", l.flag, l.address).
				Hint("Listen on 127.0.0.1, or allow it with %s where the network lets nobody else in.", l.allow)
		}
	}
	return nil
}

var logLevels = map[string]slog.Level{"": slog.LevelInfo, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// Logger writes the log to w.
func (o *ObserveConfig) Logger(w io.Writer, verbose bool) *slog.Logger {
	level := logLevels[o.Level]
	if o.Level == "" && verbose {
		level = slog.LevelDebug
	}
	if o.Format == "json" {
		return cli.NewJSONLogger(w, level)
	}
	return cli.NewLogger(w, level)
}

// tracer opens the tracer of a process, or returns nil where nothing is traced. Close may be called in either case.
func (o *ObserveConfig) tracer(service, instance string, log *slog.Logger) (observe.Tracer, func() error, error) {
	if o.OTLP == "" {
		return nil, func() error { return nil }, nil
	}
	if host, err := os.Hostname(); err == nil && instance == "" {
		instance = host
	}
	t, err := trace.Open(trace.Config{Endpoint: o.OTLP, Service: service, Version: cli.VersionName(), Instance: instance, Log: log})
	if err != nil {
		return nil, nil, err
	}
	return t, t.Close, nil
}
