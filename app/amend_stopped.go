package app

import "slices"

// IsStopped tells whether somebody has stopped a service on a node, and nobody has started it since.
func (d Definition) IsStopped(node, service string) bool {
	return slices.Contains(d.Stopped[node], service)
}
