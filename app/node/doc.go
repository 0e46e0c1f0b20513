// Package node lists the nodes of all clusters that a person may see.
package node
