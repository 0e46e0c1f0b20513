// Package demodata sets up a Muster with demo data, for measuring and for pictures: a database, the use cases and the portal, with the
// people, rules and clusters of a company in it, created by the use cases as those people would. Nothing runs by
// itself, no machine is ever created, and the caller controls the clock. Benchmarks of pages, tests that count their
// queries, and screenshots use it.
package demodata
