package site

import (
	"net"
	"net/http"
	"net/netip"
)

// Remote is the connection's remote address, without the port.
func Remote(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().WithZone("").String()
	}
	return host
}

// Address is a request's client address, without the port.
func Address(r *http.Request) string {
	if q := RequestOf(r.Context()); q.From != "" {
		return q.From
	}
	return Remote(r)
}

// Neighbourhood is the unit for counting attempts: the holder of one IPv6 address has 2^64 of them.
func Neighbourhood(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || a.Is4() || a.Is4In6() {
		return address
	}
	p, _ := a.Prefix(64)
	return p.String()
}
