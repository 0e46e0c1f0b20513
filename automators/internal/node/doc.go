// Package node has what members of the family do alike on a node: where state is kept, a private directory that goes away with the command, root rights
// where they can be had, and the last words of a tool as the reason why it failed. It knows no tool.
package node
