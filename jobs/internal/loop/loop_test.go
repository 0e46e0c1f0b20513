package loop

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
)

func TestTroubleIsLoggedOnce(t *testing.T) {
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	lines := func() int { defer said.Reset(); return strings.Count(said.String(), "\n") }
	synctest.Test(t, func(t *testing.T) {
		var q Trouble
		shut := &app.Error{Code: app.ECredentials, Message: "refused"}
		want := func(when string, n int) {
			t.Helper()
			if text := said.String(); lines() != n {
				t.Errorf("%s: want %d lines:\n%s", when, n, text)
			}
		}
		minutes := func(n int, errs ...error) {
			for i := range n {
				q.Say(log, "Checking account a", errs[i%len(errs)])
				q.Say(log, "sweeping", nil)
				time.Sleep(time.Minute)
			}
		}
		away := func(port int) error { return fmt.Errorf("from port %d", port) }
		minutes(50, away(1), away(2), away(3))
		want("when it begins", 1)
		minutes(9, shut)
		want("when it is of another kind", 1)
		minutes(120, away(4), shut)
		want("while it goes to and fro for two hours, each kind once an hour", 4)
		minutes(2, nil)
		want("when it is over", 1)
		minutes(1, shut)
		want("when it comes back", 1)
	})
}
