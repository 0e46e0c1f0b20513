package run

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/activity"
	"muster/app/family"
	"muster/app/plan"
	"muster/app/run"
	"muster/cmd/muster/cli"
	"muster/portal/client"
)

// A command is followed by asking for what is new only, less often while there is nothing; its nodes are read at the beginning and at the end.
func TestFollowingAsksForWhatIsNew(t *testing.T) {
	line := func(seq int64) app.LogLine {
		return app.LogLine{Seq: seq, Node: "n1", Stream: family.StreamOut, Text: fmt.Sprint("line ", seq)}
	}
	pages := []activity.LogPage{{Lines: []app.LogLine{line(3), line(4)}, Next: 4}, {Lines: []app.LogLine{line(7)}},
		{}, {}, {}, {}, {Lines: []app.LogLine{line(9)}}, {},
		{Lines: []app.LogLine{line(12)}, Ended: true}}
	var after []string
	views := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/runs/7") {
			views++
			_ = json.NewEncoder(w).Encode(run.View{Results: []plan.RunResult{{Node: "n1"}}, Exit: 3})
			return
		}
		after = append(after, r.URL.Query().Get("after"))
		p := pages[0]
		pages = pages[1:]
		_ = json.NewEncoder(w).Encode(p)
	}))
	defer srv.Close()
	rest, err := client.New(client.Settings{URL: srv.URL, Token: "let-me-in"})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	var slept []time.Duration
	f := &follower{cli: &cli.Context{Stdout: &out, Stderr: &out}, client: &cli.Client{Client: rest}, id: "shop-1", operation: 7,
		sleep: func(_ context.Context, d time.Duration) error {
			slept = append(slept, d)
			return nil
		}}
	v, err := f.run(t.Context())
	if err != nil || v.Exit != 3 || views != 2 {
		t.Errorf("it ended with %+v and %v after %d looks at its nodes", v, err, views)
	}
	if want := "n1 | line 3\nn1 | line 4\nn1 | line 7\nn1 | line 9\nn1 | line 12\n"; out.String() != want {
		t.Errorf("it printed %q, not %q", out.String(), want)
	}
	if want := []string{"", "4", "7", "7", "7", "7", "7", "9", "9"}; !slices.Equal(after, want) {
		t.Errorf("it asked for lines after %q, not %q", after, want)
	}
	ms := time.Millisecond
	if want := []time.Duration{300 * ms, 600 * ms, 1200 * ms, 2 * time.Second, 2 * time.Second, 300 * ms, 600 * ms}; !slices.Equal(slept, want) {
		t.Errorf("it waited %v, not %v", slept, want)
	}
}
