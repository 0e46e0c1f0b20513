package portal

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestSecurityText checks security.txt by RFC 9116, today and in years.
func TestSecurityText(t *testing.T) {
	const path = "/.well-known/security.txt"
	if a := visit(t).get(path); a.status != http.StatusNotFound {
		t.Errorf("without a contact it is answered %d: %s", a.status, a.body)
	}
	s := visit(t, func(c *Config) {
		c.SecurityContact, c.SecurityPolicy, c.URL = "mailto:security@example.org", "https://example.org/security", "https://muster.example.org/"
	})
	for range 3 {
		a := s.get(path)
		if a.status != http.StatusOK || a.header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Fatalf("%d %v", a.status, a.header)
		}
		fields := map[string]string{}
		for line := range strings.Lines(a.body) {
			name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			if _, twice := fields[name]; twice || !ok {
				t.Errorf("the line %q", line)
			}
			fields[name] = value
		}
		expires, err := time.Parse(time.RFC3339, fields["Expires"])
		if left := expires.Sub(s.clock.now()); err != nil || left < 90*24*time.Hour || left > 365*24*time.Hour {
			t.Errorf("it expires in %s: %v", left, err)
		}
		delete(fields, "Expires")
		want := map[string]string{"Contact": "mailto:security@example.org", "Policy": "https://example.org/security", "Preferred-Languages": "en",
			"Canonical": "https://muster.example.org" + path}
		for name, value := range want {
			if fields[name] != value {
				t.Errorf("%s is %q", name, fields[name])
			}
		}
		if len(fields) != len(want) {
			t.Errorf("the fields are %v", fields)
		}
		s.clock.pass(400 * 24 * time.Hour)
	}
	plain := visit(t, func(c *Config) { c.SecurityContact = "https://example.org/report" }).get(path)
	if plain.status != http.StatusOK || strings.Contains(plain.body, "Canonical") || strings.Contains(plain.body, "Policy") {
		t.Errorf("without an address of its own: %s", plain.body)
	}
}
