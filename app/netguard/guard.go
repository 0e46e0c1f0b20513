package netguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/webhook"
)

// Resolver looks names up; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Guard says which addresses may be spoken to. The zero value lets through what is public, over https.
type Guard struct {
	// Allow are addresses that may be spoken to although they are not public, and over http too.
	Allow    []netip.Prefix
	Resolver Resolver // nil: that of the system
}

var _ webhook.Guard = (*Guard)(nil)

// Addresses that are no one's on the Internet, or lead somewhere else than they say, beside those that netip names itself.
var special = []struct {
	prefix netip.Prefix
	word   string
}{
	{netip.MustParsePrefix("168.63.129.16/32"), "a metadata address"}, // of Azure
	{netip.MustParsePrefix("0.0.0.0/8"), "an address of the server itself"},
	{netip.MustParsePrefix("100.64.0.0/10"), "a carrier-grade NAT address"}, // 100.100.100.200 is metadata of Alibaba
	{netip.MustParsePrefix("192.0.0.0/24"), "a reserved address"},           // 192.0.0.192 is metadata of Oracle
	{netip.MustParsePrefix("192.0.2.0/24"), "a documentation address"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a relay's address"},
	{netip.MustParsePrefix("198.18.0.0/15"), "a benchmarking address"},
	{netip.MustParsePrefix("198.51.100.0/24"), "a documentation address"},
	{netip.MustParsePrefix("203.0.113.0/24"), "a documentation address"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved address"},
	{netip.MustParsePrefix("::/96"), "a reserved address"}, // with an IPv4 address inside
	{netip.MustParsePrefix("64:ff9b::/96"), "a translated address"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "a translated address"},
	{netip.MustParsePrefix("100::/64"), "a reserved address"},
	{netip.MustParsePrefix("2001::/23"), "a reserved address"}, // Teredo and others
	{netip.MustParsePrefix("2001:db8::/32"), "a documentation address"},
	{netip.MustParsePrefix("2002::/16"), "a relay's address"},
	{netip.MustParsePrefix("3fff::/20"), "a documentation address"},
	{netip.MustParsePrefix("5f00::/16"), "a reserved address"},
	{netip.MustParsePrefix("fec0::/10"), "a private address"},
}

// kind says what is special about an address, "" for a public one. It is unmapped already.
func kind(a netip.Addr) string {
	switch {
	case !a.IsValid(), a.IsUnspecified():
		return "an invalid address"
	case a.Zone() != "":
		return "an interface-local address"
	case a.IsLoopback():
		return "an address of the server itself"
	case a.IsLinkLocalUnicast():
		return "a link-local address, where clouds serve metadata"
	case a.IsMulticast():
		return "a multicast address"
	case a.IsPrivate():
		return "a private address"
	}
	for _, s := range special {
		if s.prefix.Contains(a) {
			return s.word
		}
	}
	return ""
}

// named reports whether the server's setting allows an address by name.
func (g *Guard) named(a netip.Addr) bool {
	for _, p := range g.Allow {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

const allowHint = "Only the operator can allow the address, with --tenant-networks."

// check returns EForbidden for an address that may not be spoken to; plain says that it would be over http.
func (g *Guard) check(host string, a netip.Addr, plain bool) error {
	a = a.Unmap()
	if g.named(a) {
		return nil
	}
	what := host
	if host != a.String() {
		what = fmt.Sprintf("%s, which is %s,", host, a)
	}
	if k := kind(a); k != "" {
		return &app.Error{Code: app.EForbidden, Reason: "address", Message: fmt.Sprintf("Tenants can't connect to %s: it is %s.", what, k), Hint: allowHint}
	}
	if plain {
		return &app.Error{Code: app.EForbidden, Reason: "plain", Message: fmt.Sprintf("Connections to %s must use https.", what),
			Hint: "Over http, anyone on the network could read the traffic. " + allowHint}
	}
	return nil
}

func (g *Guard) CheckURL(u *url.URL) error {
	plain := u.Scheme != "https"
	if plain && len(g.Allow) == 0 {
		return &app.Error{Code: app.EInvalid, Reason: "plain", Field: "url", Message: "The URL must start with https://: over http, anyone on the network could read notifications.",
			Hint: "For example https://hooks.example.com/muster."}
	}
	a, err := literal(u.Hostname())
	if err != nil {
		return nil //nolint:nilerr // a name, which is looked at when it is spoken to
	}
	if err := g.check(a.Unmap().String(), a, plain); err != nil {
		e := *app.AsError(err)
		e.Field = "url"
		return &e
	}
	return nil
}

// literal returns the address that a host is. localhost is one too.
func literal(host string) (netip.Addr, error) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
	}
	return netip.ParseAddr(host)
}

// LookUp returns the addresses of a host that tenants may reach; an error if there is none.
func (g *Guard) LookUp(ctx context.Context, host string, plain bool) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, g.check(a.Unmap().String(), a, plain)
	}
	var r Resolver = net.DefaultResolver
	if g.Resolver != nil {
		r = g.Resolver
	}
	all, err := r.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, failedLookUp(host, err)
	}
	var good []netip.Addr
	var refused error
	for _, a := range all {
		if err := g.check(host, a, plain); err != nil {
			refused = err
			continue
		}
		good = append(good, a.Unmap())
	}
	if len(good) == 0 {
		if refused == nil {
			refused = failedLookUp(host, nil)
		}
		return nil, refused
	}
	return good, nil
}

// oneDial is how long one of several addresses is tried.
const oneDial = 3 * time.Second

type plainKey struct{}

// Plain says for the dials of a context whether they will be without TLS.
func Plain(ctx context.Context, plain bool) context.Context {
	return context.WithValue(ctx, plainKey{}, plain)
}

// DialContext speaks to addresses that it has looked up and checked itself: a name that leads elsewhere a moment later changes
// nothing.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	plain, _ := ctx.Value(plainKey{}).(bool)
	all, err := g.LookUp(ctx, host, plain)
	if err != nil {
		return nil, err
	}
	for i, a := range all {
		d := net.Dialer{Timeout: oneDial}
		if i == len(all)-1 {
			d.Timeout = 0 // whatever the request has left
		}
		var conn net.Conn
		if conn, err = d.DialContext(ctx, "tcp", net.JoinHostPort(a.String(), port)); err == nil {
			return conn, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

// Dial connects as deliveries do, for others who speak to addresses that tenants name; plain says that it will be without TLS.
func (g *Guard) Dial(ctx context.Context, plain bool, address string) (net.Conn, error) {
	return g.DialContext(Plain(ctx, plain), "tcp", address)
}

func failedLookUp(host string, err error) error {
	e := &app.Error{Code: app.ETransient, Reason: "name", Message: "Host " + humanize.CutText(host, 200) + " has no address."}
	var d *net.DNSError
	if errors.As(err, &d) && !d.IsNotFound {
		e.Message = "The DNS lookup of " + humanize.CutText(host, 200) + " failed."
	}
	return e
}
