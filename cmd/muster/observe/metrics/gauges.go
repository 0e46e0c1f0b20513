package metrics

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"muster/app/observe"
)

const (
	levelsKept = 10 * time.Second // however often metrics are scraped
	levelTime  = 3 * time.Second  // for one query
)

// gauges reads levels at each scrape. It's a collector that describes its metrics beforehand.
type gauges struct {
	all    []observe.Gauging
	descs  map[*observe.Metric]*prometheus.Desc
	failed *prometheus.Desc
	took   *prometheus.Desc
	kept   time.Duration

	mu    sync.Mutex
	at    time.Time
	found []prometheus.Metric
}

func newGauges(all []observe.Gauging) *gauges {
	g := &gauges{all: all, descs: map[*observe.Metric]*prometheus.Desc{}, kept: levelsKept,
		failed: prometheus.NewDesc("muster_scrape_errors", "1 if a query for gauges failed at the last scrape: its gauges are missing.", []string{"metric"}, nil),
		took:   prometheus.NewDesc("muster_scrape_seconds", "Duration of a query for gauges at the last scrape.", []string{"metric"}, nil)}
	for _, q := range all {
		for _, m := range q.Metrics {
			g.descs[m] = prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)
		}
	}
	return g
}

func (g *gauges) Describe(to chan<- *prometheus.Desc) {
	to <- g.failed
	to <- g.took
	for _, d := range g.descs {
		to <- d
	}
}

// Collect implements prometheus.Collector. Concurrent scrapes wait for the same results.
func (g *gauges) Collect(to chan<- prometheus.Metric) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.at.IsZero() || time.Since(g.at) >= g.kept {
		g.found, g.at = g.look(), time.Now()
	}
	for _, m := range g.found {
		to <- m
	}
}

// look runs all queries concurrently.
func (g *gauges) look() (found []prometheus.Metric) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, q := range g.all {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), levelTime)
			defer cancel()
			began := time.Now()
			readings, err := read(ctx, q)
			took := time.Since(began)
			mu.Lock()
			defer mu.Unlock()
			failed := 0.0
			for _, r := range readings {
				m, e := prometheus.NewConstMetric(g.descs[r.Metric], prometheus.GaugeValue, r.Value, r.Labels...)
				if e != nil {
					err = e
					continue
				}
				found = append(found, m)
			}
			if err != nil {
				failed = 1
			}
			found = append(found, prometheus.MustNewConstMetric(g.failed, prometheus.GaugeValue, failed, q.Name),
				prometheus.MustNewConstMetric(g.took, prometheus.GaugeValue, took.Seconds(), q.Name))
		})
	}
	wg.Wait()
	return found
}

// read runs one query. It doesn't wait for one that hangs or panics.
func read(ctx context.Context, q observe.Gauging) ([]observe.Reading, error) {
	type answer struct {
		readings []observe.Reading
		err      error
	}
	got := make(chan answer, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				got <- answer{err: fmt.Errorf("panic: %v", r)}
			}
		}()
		readings, err := q.Read(ctx)
		got <- answer{readings, err}
	}()
	select {
	case a := <-got:
		return a.readings, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
