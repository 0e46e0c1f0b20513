// Package build holds the pages and the REST operations of builds: build hooks, their rules and statuses, deliveries,
// and how each build ended. It uses package webhook, which shows deliveries in the same way, and package page.
package build
