package observe

import (
	"context"
	"time"
)

// Meter counts what happens, for operators who watch Muster. Its methods may be called from many goroutines and cost next to nothing.
type Meter interface {
	// Add adds n to a counter, or to a level, where it may be less than nothing. The labels are in the order of m.Labels.
	Add(m *Metric, n float64, labels ...string)
	// ObserveDuration notes how long something took, of a metric of durations.
	ObserveDuration(m *Metric, d time.Duration, labels ...string)
}

// MetricKind says what the figures of a metric mean.
type MetricKind string

// The kinds.
const (
	MetricCounter  MetricKind = "counter"   // what has happened since the process began
	MetricLevel    MetricKind = "gauge"     // how it is now
	MetricDuration MetricKind = "histogram" // how long things took, in seconds
)

// Metric is one thing that is counted. Its labels have few values each: no ids, no paths, no names that people choose without bound.
type Metric struct {
	Name   string // as Prometheus wants it: muster_, lower case, with the unit last
	Kind   MetricKind
	Help   string
	Labels []string
	// Bounds are upper limits in seconds, of durations; nil: those of short things, from 5 ms to 30 s.
	Bounds []float64
}

// longBounds are for what takes from a moment to half an hour.
var longBounds = []float64{.1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800}

// Reading is what a level that is asked for, rather than counted, was found to be. The labels are in the order of the metric's.
type Reading struct {
	Metric *Metric
	Value  float64
	Labels []string
}

// Gauging is one cheap question whose answer is the levels of some metrics.
type Gauging struct {
	Name    string // of the question, for people: it is named where it could not be answered
	Metrics []*Metric
	// Read returns the readings as they are now; a metric without one has none.
	Read func(ctx context.Context) ([]Reading, error)
}

// uncounted is no meter at all.
type uncounted struct{}

func (uncounted) Add(*Metric, float64, ...string) {}

func (uncounted) ObserveDuration(*Metric, time.Duration, ...string) {}

// MeterOf returns m, or where that is nil one that does nothing.
func MeterOf(m Meter) Meter {
	if m == nil {
		return uncounted{}
	}
	return m
}
