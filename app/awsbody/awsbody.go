package awsbody

import (
	"io"
	"net/http"
)

// Doer is what the SDK asks of an HTTP client.
type Doer interface {
	Do(r *http.Request) (*http.Response, error)
}

// Client returns a client whose requests have plain bodies. It is not a client of the SDK's own any more, so what is to be set about that has to be set
// before; nil is
// http.DefaultClient.
func Client(c Doer) Doer {
	if c == nil {
		c = http.DefaultClient
	}
	return client{c}
}

type client struct{ inner Doer }

func (c client) Do(r *http.Request) (*http.Response, error) { return c.inner.Do(Plain(r)) }

// CloseIdleConnections passes on, where there are connections to close.
func (c client) CloseIdleConnections() {
	if i, ok := c.inner.(interface{ CloseIdleConnections() }); ok {
		i.CloseIdleConnections()
	}
}

// Plain returns a request with the same body, as a reader and no more. The one that is given stays as it is.
func Plain(r *http.Request) *http.Request {
	if r.Body == nil || r.Body == http.NoBody {
		return r
	}
	r = r.WithContext(r.Context()) // a copy, which may be changed
	r.Body = struct{ io.ReadCloser }{r.Body}
	return r
}
