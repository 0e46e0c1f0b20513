// Package health holds the pages and the REST operations of health checks, of a cluster's health, and of drift. It uses
// packages page and site only.
package health
