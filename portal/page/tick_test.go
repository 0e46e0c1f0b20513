package page

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"muster/app"
	"muster/app/humanize"

	"github.com/a-h/templ"
)

// ticker runs live.js on elements with one text each, at a time of its own, and prints the texts after a tick.
const ticker = `
const fs = require("fs"), vm = require("vm");
const cases = JSON.parse(fs.readFileSync(0));
let now = 0, tick = () => {}, element = null;
class Clock extends Date { static now() { return now; } }
const document = {
  hidden: false, body: { dataset: { now: "0" } }, addEventListener() {}, getElementById: () => null, querySelector: () => null,
  querySelectorAll: (what) => what === "[data-tick]" ? [element] : [],
  createTreeWalker: (e) => { const left = [...e.texts]; return { nextNode: () => left.shift() }; },
};
element = { dataset: {}, texts: [] };
vm.runInNewContext(fs.readFileSync("../static/assets/live.js", "utf8"),
  { document, navigator: {}, NodeFilter: { SHOW_TEXT: 4 }, Date: Clock, setInterval: (f) => { tick = f; } });
console.log(JSON.stringify(cases.map((c) => {
  now = c.Now;
  element = { dataset: { tick: c.Attributes["data-tick"], at: c.Attributes["data-at"], least: c.Attributes["data-least"] }, texts: [{ nodeValue: "" }, { nodeValue: c.Before }] };
  tick();
  return element.texts[1].nodeValue;
})));
`

type tickCase struct {
	Attributes    templ.Attributes
	Now           int64 // ms
	Before, After string
}

// What live.js makes of a text later is what the server would write then.
func TestTicksWriteWhatTheServerWouldWrite(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	start := time.UnixMilli(1_700_000_000_000)
	durations := []time.Duration{0, 999 * time.Millisecond}
	for _, edge := range []time.Duration{time.Second, time.Minute, 2 * time.Minute, time.Hour, 2 * time.Hour, 24 * time.Hour, 47 * time.Hour, 48 * time.Hour, 168 * time.Hour} {
		for _, off := range []time.Duration{0, time.Millisecond, 500 * time.Millisecond, time.Second, 30 * time.Second, time.Minute, 30 * time.Minute} {
			durations = append(durations, edge+off, max(0, edge-off))
		}
	}
	for range 2000 {
		durations = append(durations, time.Duration(rand.Int64N(1<<rand.IntN(31)+1))*time.Millisecond)
	}
	var all []tickCase
	for i, later := range durations {
		d := durations[(i*7+3)%len(durations)]
		now := start.Add(later)
		add := func(a templ.Attributes, before, after string) {
			all = append(all, tickCase{a, now.UnixMilli(), before, after})
		}
		past, end := start.Add(-d), start.Add(later+d)
		add(TickAgo(past), "2 steps, "+humanize.Ago(start, past)+".", "2 steps, "+humanize.Ago(now, past)+".")
		add(TickFor(past), humanize.Duration(start.Sub(past))+" so far", humanize.Duration(now.Sub(past))+" so far")
		add(TickUntil(end), "expires in "+humanize.Rough(end.Sub(start)), "expires in "+humanize.Rough(end.Sub(now)))
		add(TickUntilExactly(end), "in "+humanize.Duration(end.Sub(start))+", unless", "in "+humanize.Duration(end.Sub(now))+", unless")
		if c := (app.Cluster{ExpiresAt: end}); end.After(now) {
			add(TickLease(start, c), c.LeaseEnd(start), c.LeaseEnd(now))
		}
		left := later + d
		words := func(left time.Duration) string {
			return "Growing from 3 to 5 nodes: 3 of 9 steps done, " + humanize.About(humanize.Rough(left)) + " left, 20 s longer than expected."
		}
		if left >= time.Second {
			add(TickLeft(start, left), words(left), words(max(d, left/10, time.Second)))
		}
	}
	in, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "-e", ticker)
	cmd.Env, cmd.Stdin, cmd.Stderr = append(os.Environ(), "TZ=UTC"), bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(all) {
		t.Fatalf("%v, %d texts of %d", err, len(got), len(all))
	}
	wrong := 0
	for i, c := range all {
		if got[i] != c.After && wrong < 20 {
			wrong++
			t.Errorf("%v at %d: %q becomes %q, want %q", c.Attributes, c.Now-start.UnixMilli(), c.Before, got[i], c.After)
		}
	}
}
