// Package update has the cases of every store about updates of clusters, and of creates that continue with fewer nodes: grown, shrunk,
// repaired and rolled back clusters keep exactly the nodes and the money that they should. It uses kit.
package update
