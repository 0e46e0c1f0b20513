package netguard

import (
	"net/netip"
	"net/url"
	"testing"

	"muster/app"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

func TestGuardRefusesWhatIsNotPublic(t *testing.T) {
	g := &Guard{}
	for _, text := range []string{
		"127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "169.254.0.1",
		"fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "224.0.0.1", "ff02::1", "255.255.255.255", "240.0.0.1", "100.64.0.1", "100.100.100.200",
		"168.63.129.16", "192.0.0.192", "198.18.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0.0.0.0", "::127.0.0.1",
		"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2001::1", "fec0::1", "0.1.2.3", "192.0.2.7", "2001:db8::1",
	} {
		a := netip.MustParseAddr(text)
		if err := g.check(text, a, false); app.CodeOf(err) != app.EForbidden {
			t.Errorf("%s is let through: %v", text, err)
		}
	}
	for _, text := range []string{"1.1.1.1", "93.184.215.14", "2606:4700::1111", "::ffff:8.8.8.8", "172.32.0.1", "11.0.0.1", "100.128.0.1"} {
		if err := g.check(text, netip.MustParseAddr(text), false); err != nil {
			t.Errorf("%s is refused: %v", text, err)
		}
		if err := g.check(text, netip.MustParseAddr(text), true); app.CodeOf(err) != app.EForbidden {
			t.Errorf("%s is spoken to over http: %v", text, err)
		}
	}
	some := &Guard{Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}
	for text, want := range map[string]app.Code{"10.1.2.3": "", "::ffff:10.1.2.3": "", "10.2.0.1": app.EForbidden, "127.0.0.1": app.EForbidden} {
		if got := app.CodeOf(some.check(text, netip.MustParseAddr(text), true)); got != want {
			t.Errorf("with 10.1.0.0/16 allowed, %s returns %q, want %q", text, got, want)
		}
	}
}

func TestGuardChecksURLs(t *testing.T) {
	for _, c := range []struct {
		url        string
		none, some app.Code // without and with 127.0.0.0/8 allowed
	}{
		{"https://hooks.example.com/x", "", ""},
		{"http://hooks.example.com/x", app.EInvalid, ""}, // a name: looked at when it is spoken to
		{"https://127.0.0.1/x", app.EForbidden, ""},
		{"http://127.0.0.1/x", app.EInvalid, ""},
		{"https://localhost/x", app.EForbidden, ""},
		{"https://LOCALHOST./x", app.EForbidden, ""},
		{"https://[::1]/", app.EForbidden, app.EForbidden},
		{"https://[::ffff:169.254.169.254]/latest", app.EForbidden, app.EForbidden},
		{"http://1.1.1.1/", app.EInvalid, app.EForbidden},
	} {
		u, err := url.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		if got := app.CodeOf((&Guard{}).CheckURL(u)); got != c.none {
			t.Errorf("%s: %q, want %q", c.url, got, c.none)
		}
		if got := app.CodeOf((&Guard{Allow: loopback}).CheckURL(u)); got != c.some {
			t.Errorf("%s with loopback allowed: %q, want %q", c.url, got, c.some)
		}
	}
}
