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

// hookConfig says where tenants' webhooks may connect to.
type hookConfig struct {
	Allow []netip.Prefix // private addresses that are allowed, even over http
	Proxy *url.URL       // nil: none
}

// HookFlags are the flags of `muster serve` for webhooks.
type HookFlags struct {
	Allow  []string
	before []string // from the flag's former name
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
		return c, cli.Usagef("--hooks-proxy must be the URL of a proxy").Hint("For example: http://proxy.example.com:3128.")
	}
	c.Proxy = u
	return c, nil
}

// prefixes parses the networks of a flag.
func prefixes(flag string, texts []string) (list []netip.Prefix, err error) {
	for _, text := range texts {
		p, err := prefix(text)
		if err != nil {
			return nil, cli.Usagef("%s: %q isn't an address or a network", flag, text).Hint("For example: 10.1.0.0/16 or fd12::/48; separate several with commas.")
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

// guard limits where webhooks may connect to.
func (s *Server) guard() *netguard.Guard { return &netguard.Guard{Allow: s.Hooks.Allow} }

// callbacks notifies build systems, as deliverer notifies people.
func (s *Server) callbacks(name string) *webhook.Deliverer {
	d := s.deliverer(name)
	d.Store, d.Log = s.Store.BuildCallbacks(), s.Log.With("of", "builds")
	return d
}

// asker asks tenants' webhooks about requests.
func (s *Server) asker() *webhook.Asker {
	return webhook.NewAsker(webhook.AskerConfig{Store: s.Store, Log: s.Log, Now: time.Now,
		Sender: webhook.NewSender(webhook.SenderConfig{Guard: s.guard(), Proxy: s.Hooks.Proxy, Version: cli.VersionName()})})
}

// deliverer sends notifications to tenants' webhooks.
func (s *Server) deliverer(name string) *webhook.Deliverer {
	return &webhook.Deliverer{Name: name, Store: s.Store, Portal: func() webhook.Portal { return webhook.Portal{Base: cmp.Or(s.SignIn.URL, s.URL), Path: address.Of} }, Log: s.Log, Now: time.Now, Meter: s.metrics,
		Sender: webhook.NewSender(webhook.SenderConfig{Guard: s.guard(), Proxy: s.Hooks.Proxy, Version: cli.VersionName()})}
}
