package template_test

import (
	"testing"
	"time"

	"muster/app"
	"muster/app/template"
)

func TestKeepTime(t *testing.T) {
	for text, want := range map[template.KeepTime]time.Duration{"": 0, "off": 0, "15m": 15 * time.Minute, "4h": 4 * time.Hour, "3d": 72 * time.Hour,
		"1d12h": 36 * time.Hour} {
		if err := text.Check(); err != nil || text.For() != want {
			t.Errorf("%q: %v, %v", text, text.For(), err)
		}
	}
	for _, text := range []template.KeepTime{"14m", "73h", "4", "-4h", "forever", "on", "0", "4h 30m 4h 30m 4h 30m 4h"} {
		if err := text.Check(); app.AsError(err).Field != "keep_failed" || app.CodeOf(err) != app.EInvalid || text.For() != 0 {
			t.Errorf("%q is accepted: %v, %v", text, text.For(), err)
		}
	}
	for _, c := range []struct{ said, standard, want template.KeepTime }{{"", "4h", "4h"}, {"off", "4h", ""}, {"1h", "4h", "1h"}, {"", "", ""}, {"", "off", ""}} {
		if got := c.said.Over(c.standard).Kept(); got != c.want {
			t.Errorf("%q over %q is %q, want %q", c.said, c.standard, got, c.want)
		}
	}
	for d, want := range map[time.Duration]template.KeepTime{0: "off", time.Hour: "1h", 90 * time.Minute: "90m"} {
		if got := template.KeepTimeOf(d); got != want || got.For() != d {
			t.Errorf("%v is written %q", d, got)
		}
	}
}
