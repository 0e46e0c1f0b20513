// Package run serves the commands that people run on nodes: the page with what they said, and the REST operations.
package run
