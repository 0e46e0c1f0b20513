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

// otlpEnv is OpenTelemetry's own variable for the trace endpoint.
const otlpEnv = "OTEL_EXPORTER_OTLP_ENDPOINT"

// ObserveConfig is a process's observability: logs, metrics, profiles and traces.
type ObserveConfig struct {
	Metrics         string // host:port; "": no separate listener
	MetricsAnywhere bool
	Tenants         bool   // metrics have a tenant label
	Pprof           string // host:port; "": none
	PprofAnywhere   bool
	OTLP            string // base URL of a collector; "": no tracing
	Format          string // "text" or "json"
	Level           string // "": set by --verbose
}

func (o *ObserveConfig) declare(flags *pflag.FlagSet, server bool) {
	flags.StringVar(&o.Metrics, "metrics-listen", "", "`address` to serve Prometheus metrics on at /metrics, without a token, such as 127.0.0.1:9464 (default: off)")
	flags.BoolVar(&o.MetricsAnywhere, "metrics-anywhere", false, "allow --metrics-listen on addresses reachable from other hosts, which can then read the metrics")
	if server {
		flags.BoolVar(&o.Tenants, "metrics-tenants", false, "label some metrics by tenant, for up to 200 tenants")
	}
	flags.StringVar(&o.Pprof, "pprof-listen", "", "`address` to serve profiles on at /debug/pprof/, such as 127.0.0.1:6060 (default: off)")
	flags.BoolVar(&o.PprofAnywhere, "pprof-anywhere", false, "allow --pprof-listen on addresses reachable from other hosts; profiles can expose secrets and slow down the process")
	flags.StringVar(&o.OTLP, "otlp-endpoint", "", "`URL` of an OpenTelemetry collector for traces over HTTP, such as http://127.0.0.1:4318 (default $"+otlpEnv+", or no tracing)")
	flags.StringVar(&o.Format, "log-format", "text", "log `format`: text or json")
	flags.StringVar(&o.Level, "log-level", "", "log `level`: debug, info, warn or error (default info, or debug with --verbose)")
}

// Check completes the settings from the environment, and validates them.
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
			return cli.Usagef("%s %s is reachable from other hosts and needs no token", l.flag, l.address).
				Hint("Listen on 127.0.0.1 or, if your network restricts access, allow it with %s.", l.allow)
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

// tracer opens the tracer of a process, or returns nil without tracing. Close may be called in either case.
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
