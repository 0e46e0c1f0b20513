package wire

import "muster/app/tunnel"

// TunnelAwaitMessage waits for a request for a connection to a node. ID is the provisioner's.
type TunnelAwaitMessage struct {
	ID string `json:"id"`
}

// TunnelAwaitAnswer is the answer; nil: none came.
type TunnelAwaitAnswer struct {
	Request *tunnel.Request `json:"request,omitempty"`
}

// TunnelFailureMessage says why there is no connection.
type TunnelFailureMessage struct {
	ID      string        `json:"id"`
	Request string        `json:"request"`
	Err     *ErrorMessage `json:"error"`
}

// Query parameters of a tunnel's address.
const (
	TunnelProvisioner = "id"
	TunnelRequest     = "request"
)
