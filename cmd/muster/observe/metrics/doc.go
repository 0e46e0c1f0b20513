// Package metrics exports what Muster counts to Prometheus. It alone uses the client library of Prometheus; all other
// packages count through app.Meter. There is no global registry: each Metrics has its own.
//
// The labels of a metric have few values. If one gets too many, later values are counted together as "other", so that
// neither a bug nor a stranger can make the server use memory without limit.
//
// Gauges of what is in the database are read when they are scraped: all at once, within a time limit, and cached for
// ten seconds. A gauge that can't be read is left out and counted in muster_scrape_errors; the others are still
// returned.
package metrics
