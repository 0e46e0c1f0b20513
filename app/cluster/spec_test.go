package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/template"
	"pgregory.net/rapid"
)

func TestExportedSpec(t *testing.T) {
	created := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := app.Cluster{Name: "shop", Template: "web", Provider: "cloud", Services: []string{"db", "nginx"}, DNSSuffix: "internal", CreatedAt: created, ExpiresAt: created.Add(20 * time.Hour)}
	d := Definition{Overrides: map[string]any{"nginx": map[string]any{"port": 80.0, "since": "2026-01-01", "admin_password": "hunter2"},
		"db": map[string]any{"password": "${secret:DB}", "url": "postgres://u:pw@h/x"}}, Parameters: map[string]any{"flavour": "yes"}}
	nodes := []app.Node{{Name: "n1", Hardware: "small", Image: "debian", Services: []string{"nginx"}}, {Name: "n2", Hardware: "small", Image: "debian", Services: []string{"db"}},
		{Name: "n3", Hardware: "large", Image: "debian", Services: []string{"db"}}}
	e := specOf(c, d, nodes, &template.Template{Lease: template.Lease{Initial: 8 * time.Hour}})
	e.Spec.Config = withoutSecrets("config", e.Spec.Config, &e.Omitted)
	if got := strings.Join(e.Omitted, " "); got != "config.db.url config.nginx.admin_password" {
		t.Errorf("left out: %s", got)
	}
	s := e.Spec
	if s.Lease != "8h" || s.Size != 3 || s.Hardware != "" || s.Image != "debian" || len(e.Groups) != 3 || s.Parameters["flavour"] != "yes" {
		t.Errorf("spec %+v of %+v", s, e.Groups)
	}
	if text := fmt.Sprint(s); strings.Contains(text, "hunter2") || strings.Contains(text, ":pw@") || !strings.Contains(text, "${secret:DB}") {
		t.Errorf("what is secret: %s", text)
	}
}

func TestLeasesAreWrittenAsTheyAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(1, 60*24*400).Draw(t, "minutes")) * time.Minute
		if got, err := template.ParseLength(leaseText(d)); err != nil || got != d {
			t.Fatalf("%s is written %s and read as %s, %v", d, leaseText(d), got, err)
		}
	})
}
