package page

import (
	"math"
	"testing"
	"time"

	"muster/app/humanize"
	"muster/app/template"
)

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "less than 1 s", 45 * time.Second: "45 s", 119 * time.Second: "1 min 59 s", 3*time.Minute + 20*time.Second: "3 min 20 s",
		2*time.Hour + 10*time.Minute: "2 h 10 min", 24 * time.Hour: "1 d", 76 * time.Hour: "3 d 4 h",
	} {
		if got := humanize.Duration(d); got != want {
			t.Errorf("humanize.Duration(%v) is %q, not %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		90 * time.Second: "1 min 30 s", 23*time.Hour + 59*time.Minute: "24 h", 47*time.Hour + 50*time.Minute: "2 d", 290 * time.Hour: "12 d",
	} {
		if got := humanize.Rough(d); got != want {
			t.Errorf("humanize.Rough(%v) is %q, not %q", d, got, want)
		}
	}
}

func TestCost(t *testing.T) {
	for x, want := range map[float64]string{0: "–", 0.0074: "0.0074", 0.07: "0.07", 0.075: "0.075", 0.00001: "0.00", 0.6: "0.60", 115.2: "115.20"} {
		if got := humanize.Cost(x); got != want {
			t.Errorf("humanize.Cost(%v) is %q, not %q", x, got, want)
		}
	}
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		template.SizeRange
		want, refusal string
	}{
		{template.SizeRange{Min: 1, Max: 1}, "exactly 1 node", "Choose exactly 1 node (you entered 4)."},
		{template.SizeRange{Min: 5, Max: 50}, "5 to 50 nodes", "Choose 5–50 nodes (you entered 4)."},
		{template.SizeRange{Min: 5, Max: math.MaxInt32}, "5 or more nodes", "Choose 5 or more nodes (you entered 4)."},
		{template.SizeRange{}, "1 or more nodes", ""},
		{template.SizeRange{Min: 3, Max: 7, OneOf: []int{3, 5, 7}}, "3, 5 or 7 nodes", "Choose 3, 5 or 7 nodes (you entered 4)."},
	} {
		if got := Sizes(c.SizeRange); got != c.want {
			t.Errorf("Sizes(%v) is %q, not %q", c.SizeRange, got, c.want)
		}
		if c.Allows(4) != (c.refusal == "") || c.refusal != "" && c.Refusal(4) != c.refusal {
			t.Errorf("%v allows 4: %v, and refuses it with %q", c.SizeRange, c.Allows(4), c.Refusal(4))
		}
	}
}
