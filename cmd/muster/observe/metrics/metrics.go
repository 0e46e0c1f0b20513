package metrics

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
	"muster/app/observe"
)

// maxSeries is how many label combinations of one metric are kept apart.
const maxSeries = 2000

// other is the label for values beyond maxSeries.
const other = "other"

var shortBounds = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// Config is the metrics' settings.
type Config struct {
	Version, Go  string
	QueryMetrics []observe.Gauging // read at each scrape; nil: none
}

// Metrics counts and exports metrics. It implements app.Meter.
type Metrics struct {
	registry *prometheus.Registry
	series   map[string]*series // by name
	http     http.Handler
}

var _ observe.Meter = (*Metrics)(nil)

// series is one metric with all of its labels.
type series struct {
	metric   *observe.Metric
	counter  *prometheus.CounterVec
	level    *prometheus.GaugeVec
	duration *prometheus.HistogramVec
	known    sync.Map // label values, joined
	mu       sync.Mutex
	n        int
}

// New returns empty Metrics.
func New(c Config) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), series: map[string]*series{}}
	for _, one := range observe.AllMetrics {
		s := &series{metric: one}
		switch one.Kind {
		case observe.MetricCounter:
			s.counter = prometheus.NewCounterVec(prometheus.CounterOpts{Name: one.Name, Help: one.Help}, one.Labels)
			m.registry.MustRegister(s.counter)
		case observe.MetricLevel:
			s.level = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: one.Name, Help: one.Help}, one.Labels)
			m.registry.MustRegister(s.level)
		case observe.MetricDuration:
			bounds := one.Bounds
			if bounds == nil {
				bounds = shortBounds
			}
			s.duration = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: one.Name, Help: one.Help, Buckets: bounds}, one.Labels)
			m.registry.MustRegister(s.duration)
		}
		m.series[one.Name] = s
		if len(one.Labels) == 0 { // start at 0, not unknown
			m.Add(one, 0)
		}
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "muster_build_info", Help: "Always 1; its labels describe the build.",
		ConstLabels: prometheus.Labels{"version": c.Version, "go_version": c.Go}})
	build.Set(1)
	m.registry.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if len(c.QueryMetrics) > 0 {
		m.registry.MustRegister(newGauges(c.QueryMetrics))
	}
	m.http = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4})
	return m
}

// values returns the label values to count under.
func (s *series) values(labels []string) []string {
	if len(labels) != len(s.metric.Labels) {
		panic("metrics: " + s.metric.Name + " has other labels")
	}
	if len(labels) == 0 {
		return labels
	}
	key := strings.Join(labels, "\x00")
	if _, known := s.known.Load(key); known {
		return labels
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n < maxSeries {
		if _, known := s.known.LoadOrStore(key, true); !known {
			s.n++
		}
		for i, l := range labels {
			labels[i] = strings.ToValidUTF8(l, "�")
		}
		return labels
	}
	if _, known := s.known.Load(key); known {
		return labels
	}
	others := make([]string, len(labels))
	for i := range others {
		others[i] = other
	}
	return others
}

func (m *Metrics) Add(what *observe.Metric, n float64, labels ...string) {
	s := m.series[what.Name]
	switch {
	case s == nil:
	case s.counter != nil && n >= 0:
		s.counter.WithLabelValues(s.values(labels)...).Add(n)
	case s.level != nil:
		s.level.WithLabelValues(s.values(labels)...).Add(n)
	}
}

func (m *Metrics) ObserveDuration(what *observe.Metric, d time.Duration, labels ...string) {
	if s := m.series[what.Name]; s != nil && s.duration != nil {
		s.duration.WithLabelValues(s.values(labels)...).Observe(d.Seconds())
	}
}

// ServeHTTP exports everything in the requested format.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.http.ServeHTTP(w, r) }

// Expose writes everything in the text format.
func (m *Metrics) Expose(_ context.Context, to io.Writer) error {
	families, err := m.registry.Gather()
	if err != nil && len(families) == 0 {
		return err
	}
	enc := expfmt.NewEncoder(to, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, f := range families {
		if err := enc.Encode(f); err != nil {
			return err
		}
	}
	return nil
}
