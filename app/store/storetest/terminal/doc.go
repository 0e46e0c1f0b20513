// Package terminal is the part of the store's suite about terminals on nodes, and connections to nodes through provisioners.
package terminal
