// Package plan draws plans: graph, timeline, Gantt chart and matrix of steps, expected durations, and the preview of a
// change with its machines, policies and explanation. The pages of clusters, operations, requests and the catalog use
// it; it knows none of them.
package plan
