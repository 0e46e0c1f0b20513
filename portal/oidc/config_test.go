package oidc

import (
	"fmt"
	"testing"

	"muster/app"
	"muster/app/identity"
)

func TestSettings(t *testing.T) {
	good := Config{Name: "sso", Issuer: "https://sso.example", ClientID: "muster", RedirectURL: "https://muster.example/signin/sso/callback", Default: &identity.Grant{Tenant: "acme", Role: app.RoleUser}}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for field, spoil := range map[string]func(*Config){
		"name":      func(c *Config) { c.Name = "tenant" },
		"client_id": func(c *Config) { c.ClientID = "" },
		"issuer":    func(c *Config) { c.Issuer = "http://sso.example" },
		"rules":     func(c *Config) { c.Default = nil },
		"url":       func(c *Config) { c.RedirectURL = "http://10.0.0.1/signin/sso/callback" },
	} {
		c := good
		spoil(&c)
		if _, err := New(c); err == nil || app.AsError(err).Field != field {
			t.Errorf("bad %s: got %v", field, err)
		}
	}
}

func TestClaims(t *testing.T) {
	c := claims{"a.b": "whole", "realm": map[string]any{"roles": []any{"x", 7, "y"}}, "one": "single", "v": "true"}
	if c.text("a.b") != "whole" || c.text("realm.none") != "" || !c.yes("v") || c.yes("one") {
		t.Error("claims are misread")
	}
	if l, err := c.list("realm.roles"); err != nil || fmt.Sprint(l) != "[x y]" {
		t.Errorf("%v, %v", l, err)
	}
	if l, _ := c.list("one"); fmt.Sprint(l) != "[single]" {
		t.Errorf("%v", l)
	}
}
