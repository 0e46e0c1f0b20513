package app_test

import (
	"testing"

	"muster/app"
	"muster/app/template"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]template.Rate{
		"10/s": {PerSecond: 10, Burst: 10}, "1/s": {PerSecond: 1, Burst: 1}, "60/m": {PerSecond: 1, Burst: 1},
		"90/m": {PerSecond: 1.5, Burst: 2}, "3600/h": {PerSecond: 1, Burst: 1}, "36/h": {PerSecond: 0.01, Burst: 1},
	} {
		if got, err := template.ParseRate(text); err != nil || got != want {
			t.Errorf("%s is %+v (%v), want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "10", "10/d", "0/s", "-1/s", "1.5/s", "10 /s", "10/s ", "10/S", "99999999/s", "/s", "10/", "１/s"} {
		if got, err := template.ParseRate(text); app.CodeOf(err) != app.EInvalid || got.Limited() {
			t.Errorf("%q is taken for %+v (%v)", text, got, err)
		}
	}
}
