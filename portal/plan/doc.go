// Package plan holds the pictures of plans: graph, timeline, Gantt chart and matrix of steps, what is known about
// durations, and the preview of a change with its machines, policies and explanation. It knows no page; the pages of
// clusters, operations, requests and the catalog show its pictures.
package plan

//go:generate go run ../page/generate.go
