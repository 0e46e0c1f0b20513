package server

import (
	"cmp"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"muster/app/netguard"
	"muster/cmd/muster/cli"
	"muster/jobs/webhook"
	"muster/portal/address"
)

// hookConfig says where the hooks of tenants may lead.
type hookConfig struct {
	Allow []netip.Prefix // addresses that are not public, and may be spoken to all the same, over http too
	Proxy *url.URL       // nil: none
}

// HookFlags are the flags of `muster serve` about hooks, as they were given.
type HookFlags struct {
	Allow  []string
	before []string // by the flag's former name
	Proxy  string
}

func (f HookFlags) Config() (c hookConfig, err error) {
	if c.Allow, err = prefixes("--tenant-networks", append(f.Allow, f.before...)); err != nil {
		return c, err
	}
	if f.Proxy == "" {
		return c, nil
	}
	u, err := url.Parse(f.Proxy)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
		return c, cli.Usagef("--hooks-proxy is not the URL of a proxy").Hint("It looks like http://proxy.example.com:3128.")
	}
	c.Proxy = u
	return c, nil
}

// prefixes reads the networks of a flag.
func prefixes(flag string, texts []string) (list []netip.Prefix, err error) {
	for _, text := range texts {
		p, err := prefix(text)
		if err != nil {
			return nil, cli.Usagef("%s: %q is neither an address nor a network", flag, text).Hint("Such as 10.1.0.0/16 or fd12::/48; several with commas between.")
		}
		list = append(list, p)
	}
	return list, nil
}

func prefix(text string) (netip.Prefix, error) {
	text = strings.TrimSpace(text)
	if a, err := netip.ParseAddr(text); err == nil {
		return a.Unmap().Prefix(a.Unmap().BitLen())
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}

// guard says where hooks may lead.
func (s *Server) guard() *netguard.Guard { return &netguard.Guard{Allow: s.Hooks.Allow} }

// callbacks tells builds how they stand, as deliverer tells people.
func (s *Server) callbacks(name string) *webhook.Deliverer {
	d := s.deliverer(name)
	d.Store, d.Log = s.Store.BuildCallbacks(), s.Log.With("of", "builds")
	return d
}

// deliverer sends what people are to be told to the hooks of their tenants.
func (s *Server) deliverer(name string) *webhook.Deliverer {
	return &webhook.Deliverer{Name: name, Store: s.Store, Portal: func() webhook.Portal { return webhook.Portal{Base: cmp.Or(s.SignIn.URL, s.URL), Path: address.Of} }, Log: s.Log, Now: time.Now, Meter: s.metrics,
		Sender: webhook.NewSender(webhook.SenderConfig{Guard: s.guard(), Proxy: s.Hooks.Proxy, Version: cli.VersionName()})}
}
