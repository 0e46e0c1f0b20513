package server

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"muster/app"
)

// sideServers are additional listeners for metrics and profiles. Close them.
type sideServers struct {
	log     *slog.Logger
	servers []*http.Server
	done    []chan struct{}
	Metrics string // the address of metrics; "" for none
	Pprof   string
}

// OpenSides opens the listeners for metrics, if any, and profiles.
func OpenSides(o ObserveConfig, metrics http.Handler, log *slog.Logger) (*sideServers, error) {
	s := &sideServers{log: log}
	if o.Metrics != "" && metrics != nil {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", metrics)
		at, err := s.open("--metrics-listen", o.Metrics, mux, 30*time.Second)
		if err != nil {
			return nil, err
		}
		s.Metrics = at
	}
	if o.Pprof != "" {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
		// The command line is left out: it has no secrets, but isn't useful either.
		at, err := s.open("--pprof-listen", o.Pprof, mux, 5*time.Minute)
		if err != nil {
			_ = s.Close()
			return nil, err
		}
		s.Pprof = at
	}
	return s, nil
}

func (s *sideServers) open(flag, address string, h http.Handler, longest time.Duration) (string, error) {
	if err := checkAddress(strings.TrimPrefix(flag, "--"), address); err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", &app.Error{Code: app.EConflict, Message: "can't listen on " + address, Err: err, Hint: "Choose another address with " + flag + "."}
	}
	srv := &http.Server{Handler: sameHost(l.Addr(), h), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: longest,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)}
	done := make(chan struct{})
	s.servers, s.done = append(s.servers, srv), append(s.done, done)
	go func() {
		defer close(done)
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("a listener has stopped", "address", l.Addr().String(), "error", err)
		}
	}()
	return l.Addr().String(), nil
}

// sameHost rejects requests of a browser on this host under another host name (DNS rebinding).
func sameHost(at net.Addr, next http.Handler) http.Handler {
	host, _, err := net.SplitHostPort(at.String())
	if err != nil || !Loopback(host) {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			name = r.Host
		}
		if !Loopback(name) {
			http.Error(w, "Only programs on this host can use this, under its own address.", http.StatusForbidden)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// Close closes them. It may be called twice.
func (s *sideServers) Close() error {
	if s == nil {
		return nil
	}
	for i, srv := range s.servers {
		_ = srv.Close()
		<-s.done[i]
	}
	return nil
}
