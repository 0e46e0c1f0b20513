// Package tunnel keeps the requests for connections to nodes that wait for a provisioner.
package tunnel
