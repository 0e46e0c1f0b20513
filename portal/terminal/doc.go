// Package terminal shows terminals on nodes in the browser: the page, its stream, and the REST operations.
package terminal
