package cluster

import (
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/secret"
	apptemplate "muster/app/template"
)

func TestMaskedValues(t *testing.T) {
	c := app.Cluster{ID: "c1", Name: "orders-db", Owner: "bob", Template: "web", Provider: "sandbox", Services: []string{"postgres"}}
	template := &apptemplate.Template{}
	template.Defaults.Config = map[string]any{"path": "/var/lib/orders", "key": map[string]any{"private": "default-key"}}
	was := Definition{Config: map[string]any{"greeting": "the one of yesterday", "path": "/var/lib/orders"}}
	is := Definition{Config: map[string]any{"greeting": "Copperfield 9", "path": "/var/lib/orders", "short": "tiny", "limit": 1234567, "on": true, "engine": "postgres", "title": "orders-db",
		"password": "hunter2-horse", "url": "postgres://app:swordfish@%host.service.postgres%:5432/orders_of_today", "token": "${secret:TOKEN}", "list": []any{"eleventh item"},
		"key": map[string]any{"private": "default-key"}}}
	all := []Definition{is, was}
	want := map[string][]string{
		"none of it": {"1234567", "Copperfield 9", "eleventh item", "the one of yesterday"},
		"all of it":  {"default-key", "hunter2-horse", "swordfish", ":5432/orders_of_today"},
	}
	stranger, owner := maskedValues(c, template, all, false), maskedValues(c, template, all, true)
	for _, v := range want["none of it"] {
		if !slices.Contains(stranger, v) || slices.Contains(owner, v) {
			t.Errorf("%q: stranger %q, owner %q", v, stranger, owner)
		}
	}
	for _, v := range want["all of it"] {
		if !slices.Contains(stranger, v) || !slices.Contains(owner, v) {
			t.Errorf("%q: stranger %q, owner %q", v, stranger, owner)
		}
	}
	for _, v := range []string{"/var/lib/orders", "postgres", "orders-db", "tiny", "true"} {
		if slices.Contains(stranger, v) {
			t.Errorf("%q is shown elsewhere, and hidden here", v)
		}
	}
	if slices.ContainsFunc(stranger, func(v string) bool { return strings.Contains(v, "TOKEN") }) {
		t.Errorf("the name of a secret is a value: %q", stranger)
	}
}

func TestMaskedTerms(t *testing.T) {
	terms := &UpdateTerms{Changes: []app.ValueChange{{Path: "config.greeting", Before: "hello", After: "Copperfield 9"}, {Path: "services.web.start", Before: "there", After: "changed"}, {Path: "config.new", After: "value"}}}
	masked := terms.masked()
	if masked.Changes[0].Before != secret.HiddenValue || masked.Changes[0].After != secret.HiddenValue || masked.Changes[1].After != "changed" || masked.Changes[2].Before != "" || masked.Changes[2].After != secret.HiddenValue {
		t.Errorf("%+v", masked.Changes)
	}
	if terms.Changes[0].After != "Copperfield 9" {
		t.Error("what others read is changed too")
	}
	if (*UpdateTerms)(nil).masked() != nil {
		t.Error("nothing is something")
	}
}
