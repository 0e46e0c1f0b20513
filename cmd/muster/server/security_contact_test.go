package server

import "testing"

func TestSecurityContact(t *testing.T) {
	for _, c := range []struct {
		contact, policy, want string // "": refused
	}{
		{"security@example.org", "", "mailto:security@example.org"},
		{"mailto:security@example.org", "https://example.org/security", "mailto:security@example.org"},
		{"https://example.org/report", "", "https://example.org/report"},
		{"http://example.org/report", "", ""},
		{"https://", "", ""},
		{"someone", "", ""},
		{"security@example.org\nExpires: 2000-01-01T00:00:00Z", "", ""},
		{"https://example.org/\nContact: mailto:eve@example.org", "", ""},
		{"security@example.org", "example.org/security", ""},
		{"", "https://example.org/security", ""},
	} {
		env := map[string]string{"MUSTER_SECURITY_CONTACT": c.contact, "MUSTER_SECURITY_POLICY": c.policy}
		got, err := securityFlags{}.read(func(name string) (string, bool) { v, ok := env[name]; return v, ok })
		if (err == nil) != (c.want != "") || err == nil && (got.Contact != c.want || got.Policy != c.policy) {
			t.Errorf("%q with %q: %+v, %v", c.contact, c.policy, got, err)
		}
	}
	if got, err := (securityFlags{contact: "a@example.org"}).read(func(string) (string, bool) { return "b@example.org", true }); err == nil && got.Contact != "mailto:a@example.org" {
		t.Errorf("the flag counts less than the environment: %+v", got)
	}
}
