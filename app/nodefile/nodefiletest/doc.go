// Package nodefiletest has a node for tests of files: a folder of this host, over connections that can be cut.
package nodefiletest
