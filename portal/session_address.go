package portal

import (
	"net/http"
	"net/netip"
	"strings"

	"muster/portal/site"
)

// proxies are the addresses of trusted proxies in front of the portal.
type proxies []netip.Prefix

const maxHops = 32

// visitor returns the client's address. X-Forwarded-For counts only if the request comes from a trusted proxy. It's read from its end, where
// the nearest proxy writes, to the first address that isn't a trusted proxy's: anything before that can be forged.
func (p proxies) visitor(r *http.Request) string {
	here := site.Remote(r)
	if len(p) == 0 || !p.believes(here) {
		return here
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := 0; i < maxHops && i < len(hops); i++ {
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

// hopAddress parses one entry, which some proxies write with a port.
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
