package portal

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// proxies are the addresses of proxies before the portal that are believed when they say whom they ask for.
type proxies []netip.Prefix

const mostHops = 32

// visitor gives the address of whoever asks. X-Forwarded-For counts only where the request comes from a believed proxy; it is
// read from its end, where the nearest proxy writes, up to the first address that is not a believed proxy's: what stands before
// that can be anybody's invention.
func (p proxies) visitor(r *http.Request) string {
	here := remote(r)
	if len(p) == 0 || !p.believes(here) {
		return here
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := 0; i < mostHops && i < len(hops); i++ {
		hop, ok := hopAddress(hops[len(hops)-1-i])
		if !ok {
			break
		}
		if here = hop; !p.believes(hop) {
			break
		}
	}
	return here
}

func (p proxies) believes(address string) bool {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	for _, prefix := range p {
		if prefix.Contains(a.Unmap()) {
			return true
		}
	}
	return false
}

// hopAddress reads one entry, which some proxies write with a port.
func hopAddress(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return a.Unmap().WithZone("").String(), true
	}
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone("").String(), true
	}
	return "", false
}

// remote is the other end of the connection, without the port.
func remote(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().WithZone("").String()
	}
	return host
}

// address is where a request comes from, without the port.
func address(r *http.Request) string {
	if q := requestOf(r.Context()); q.from != "" {
		return q.from
	}
	return remote(r)
}

// neighbourhood is what counts as one address when attempts are counted: whoever has an IPv6 address has 2^64 of them.
func neighbourhood(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || a.Is4() || a.Is4In6() {
		return address
	}
	p, _ := a.Prefix(64)
	return p.String()
}
