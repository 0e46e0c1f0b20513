// Package tunnel connects the server to nodes for people: directly where a provisioner inside this server reaches the node, or else through a
// provisioner elsewhere, which connects to the node and hands the connection to this server. A provisioner connects only to the SSH port of nodes
// that the server names; what goes through is SSH, end to end between the server and the node.
package tunnel
