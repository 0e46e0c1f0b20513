package app

import "slices"

// AllWork says what is done to a service on a node, unless more is done to it already.
func (n *AmendedNode) AllWork(service string, w ServiceWork) {
	if n.Work == nil {
		n.Work = map[string]ServiceWork{}
	}
	if slices.Index(serviceWorks, n.Work[service]) < slices.Index(serviceWorks, w) {
		n.Work[service] = w
	}
}

// Stays tells whether the node is there before and after, on the same machine.
func (n *AmendedNode) Stays() bool { return n.Change == "" }
