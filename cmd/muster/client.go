package main

import (
	"fmt"
	"runtime"

	rest "muster/portal/client"
)

// client is that of the REST API, for one user of this host.
type client struct {
	*rest.Client
	home string // the client's own directory; "" means that of the user
}

// connect gives a client for the server that flags, environment or data directory name. It does not reach out yet.
func (c *cli) connect() (*client, error) {
	s, err := c.settings()
	if err != nil {
		return nil, err
	}
	cl, err := newClient(s)
	if err != nil {
		return nil, err
	}
	cl.Reload, cl.ActIn = c.settings, c.tenant
	return &client{Client: cl}, nil
}

// newClient gives a client that says what it is.
func newClient(s rest.Settings) (*rest.Client, error) {
	cl, err := rest.New(s)
	if err == nil {
		cl.Agent = fmt.Sprintf("muster %s on %s", version, runtime.GOOS)
	}
	return cl, err
}
