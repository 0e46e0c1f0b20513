package server

import (
	"context"
	"net/http"
	"runtime"
	"time"

	"muster/app/observe"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/observe/metrics"
)

// observe starts metrics and tracing. Store and queue must be open.
func (s *Server) observe() error {
	questions := append(s.Store.QueryMetrics(s.Observe.Tenants, s.TenantSlots), observe.Gauging{Name: "redis", Metrics: []*observe.Metric{observe.LevelQueueUp},
		Read: func(ctx context.Context) ([]observe.Reading, error) {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			up := observe.Reading{Metric: observe.LevelQueueUp, Value: 1}
			if s.queue.Ping(ctx) != nil {
				up.Value = 0
			}
			return []observe.Reading{up}, nil
		}})
	s.metrics = metrics.New(metrics.Config{Version: cli.VersionName(), Go: runtime.Version(), QueryMetrics: questions})
	tracer, end, err := s.Observe.tracer("muster-server", s.id, s.Log)
	if err != nil {
		return err
	}
	s.tracer = tracer
	s.onClose(end)
	return nil
}

// showSides opens the additional listeners.
func (s *Server) showSides() error {
	sides, err := OpenSides(s.Observe, s.metrics, s.Log)
	if err != nil {
		return err
	}
	s.Sides = sides
	s.onClose(sides.Close)
	return nil
}

// patternOf returns a handler's only route.
func patternOf(pattern string) func(*http.Request) string {
	return func(*http.Request) string { return pattern }
}
