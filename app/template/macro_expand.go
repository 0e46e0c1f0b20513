package template

import "muster/app"

// NewMacroCluster prepares a cluster for macros, at a cost that grows with the number of its nodes and their services.
func NewMacroCluster(owner string, nodes []app.Node) app.MacroCluster {
	c := app.MacroCluster{Owner: owner, Nodes: nodes}
	c.Index = c.Services()
	return c
}
