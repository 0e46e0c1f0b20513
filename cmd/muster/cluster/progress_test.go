package cluster

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"muster/app"
	"muster/app/humanize"
	"muster/cmd/muster/cli"
)

func testProgress(w *bytes.Buffer) *progress {
	began := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	return &progress{w: w, live: true, width: func() int { return 100 }, now: func() time.Time { return began.Add(8 * time.Second) },
		name: "shop", op: 7, began: began, expected: 20 * time.Second, total: 4}
}

func TestProgressLine(t *testing.T) {
	p := testProgress(&bytes.Buffer{})
	p.done, p.running = 1, []string{"n1.app.install", "n2.db.start", "n3.db.start"}
	for _, tt := range []struct {
		width int
		want  string
	}{
		{101, "shop  ██████░░░░░░░░░░░░░░░░░░  1/4  0:08, about 0:15 left  n1.app.install, n2.db.start, n3.db.start"},
		{100, "shop  ██████░░░░░░░░░░░░░░░░░░  1/4  0:08, about 0:15 left  n1.app.install, n2.db.start +1"},
		{90, "shop  ██████░░░░░░░░░░░░░░░░░░  1/4  0:08, about 0:15 left  n1.app.install +2"},
		{72, "shop  ██████░░░░░░░░░░░░░░░░░░  1/4  0:08, about 0:15 left  n1.app.ins…"},
		{50, "shop  ███▊░░░░░░░░░░░  1/4  0:08, about 0:15 left"},
		{30, "shop  1/4  0:08, about 0:15 …"},
	} {
		got := p.line(tt.width)
		if got != tt.want {
			t.Errorf("width %d:\n got %s\nwant %s", tt.width, got, tt.want)
		}
		if n := utf8.RuneCountInString(got); n >= tt.width {
			t.Errorf("width %d: line of %d cells", tt.width, n)
		}
	}
}

func TestProgressEstimate(t *testing.T) {
	for _, tt := range []struct {
		name        string
		done, total int
		expected    time.Duration
		elapsed     time.Duration
		want        time.Duration
		known       bool
	}{
		{"unknown", 0, 4, 0, 8, 0, false},
		{"the plan alone", 0, 4, 20, 8, 12, true},
		{"the plan was too hopeful", 0, 4, 5, 8, 0, false},
		{"the measure alone", 2, 4, 0, 8, 8, true},
		{"both count", 2, 4, 20, 8, 10, true},
		{"done", 4, 4, 20, 8, 0, false},
	} {
		p := &progress{done: tt.done, total: tt.total, expected: tt.expected * time.Second}
		got, known := p.left(tt.elapsed * time.Second)
		if got != tt.want*time.Second || known != tt.known {
			t.Errorf("%s: %v, %v; want %v, %v", tt.name, got, known, tt.want*time.Second, tt.known)
		}
	}
}

func TestProgressOnATerminal(t *testing.T) {
	var out bytes.Buffer
	p := testProgress(&out)
	p.event(nodeEvent("n1.create", app.StepRunning, 0))
	p.event(nodeEvent("n1.create", app.StepSucceeded, 1))
	if strings.Contains(out.String(), "\n") {
		t.Errorf("the bar stays on its line: %q", out.String())
	}
	if strings.Contains(p.line(100), "n1.create") {
		t.Error("a step that has ended isn't running")
	}
	other := nodeEvent("n9.create", app.StepRunning, 0)
	other.Operation = 1
	p.event(other)
	if strings.Contains(out.String(), "n9") {
		t.Error("another operation's step is shown")
	}
	out.Reset()
	failed := nodeEvent("n2.create", app.StepFailed, 1)
	failed.Message = "no room"
	p.event(failed)
	if !strings.HasPrefix(out.String(), "\r\x1b[K[1/4 0:08] n2.create failed: no room\n\rshop") {
		t.Errorf("a failure stays on the screen: %q", out.String())
	}
	out.Reset()
	p.end()
	if out.String() != "\r\x1b[K" {
		t.Errorf("the bar is wiped in the end: %q", out.String())
	}
}

func TestWordsForTime(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		0:                             {"0:00", "less than 1 s"},
		-time.Second:                  {"0:00", "less than 1 s"},
		1499 * time.Millisecond:       {"0:01", "1 s"},
		61 * time.Second:              {"1:01", "1 min 1 s"},
		time.Hour + 20*time.Minute:    {"1:20:00", "1 h 20 min"},
		26*time.Hour + 5*time.Minute:  {"26:05:00", "1 d 2 h"},
		24*time.Hour + 59*time.Minute: {"24:59:00", "1 d 1 h"},
	} {
		if cli.Clock(d) != want[0] || humanize.Duration(d) != want[1] {
			t.Errorf("%v: %s, %s; want %v", d, cli.Clock(d), humanize.Duration(d), want)
		}
	}
}

func nodeEvent(step string, state app.StepState, done int) app.Event {
	node, _, _ := strings.Cut(step, ".")
	return app.Event{At: time.Now(), Cluster: "c1", Operation: 7, Kind: app.EventStep, Node: node, Step: step, Status: string(state), Done: done, Total: 4}
}
