package catalog

import (
	"strings"
	"testing"

	"muster/app"
)

func TestUnknownExtrasAreWarnings(t *testing.T) {
	o := Options{CheckExtra: func(typ string, image bool, extra map[string]string) error {
		if _, ok := extra["root_disk"]; !ok || typ != "cloudy" || image {
			return nil
		}
		return &app.Error{Code: app.EInvalid, Field: "extra.root_disk", Message: `accounts of type cloudy have no setting "root_disk" here`, Hint: `did you mean "root_disk_gb"?`}
	}}
	got := lint(o, "a.yaml", `kind: provider
name: c
type: cloudy
---
kind: hardware
name: small
providers:
  c:
    flavor: s
    extra: {root_disk: 20, spot: true}
`)
	if want := `a.yaml:10:24: warning: hardware "small": providers.c.extra.root_disk: accounts of type cloudy have no setting "root_disk" here; did you mean "root_disk_gb"?`; !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant %s", got, want)
	}
}
