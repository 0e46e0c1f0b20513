// Package metrics is where what Muster counts becomes what Prometheus reads. It alone speaks to the client library of Prometheus;
// everything else counts by app.Meter, in app's words. There is no registry of the whole process: whoever makes a Metrics has it.
//
// The labels of a metric have few values each. Should one get more than there is any use for, those that come later are counted
// together under "other", so that no mistake, and nobody from outside, can make the server remember without end.
//
// Levels that stand in the database are asked for when somebody looks: all at once, within a time limit, and kept for ten seconds. One that
// cannot be read is left out, and counted in muster_scrape_errors; the rest is answered all the same.
package metrics
