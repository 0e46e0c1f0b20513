package account

import (
	"context"
	"net"
	"net/http"
)

// Network is how an account's API is reached. The zero value reaches whatever this host does, through the proxy of its environment.
type Network struct {
	// Dial connects where the account is a tenant's own, and only to where that may lead; nil: as the host does.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Transport returns a transport of its own for one account, with the defaults of net/http. One that is guarded uses no proxy: a proxy would look
// names up for itself.
func (n Network) Transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	if n.Dial != nil {
		t.Proxy, t.DialContext = nil, n.Dial
	}
	return t
}
