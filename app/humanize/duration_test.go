package humanize

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "less than 1 s", 45 * time.Second: "45 s", 119 * time.Second: "1 min 59 s", 3*time.Minute + 20*time.Second: "3 min 20 s",
		2*time.Hour + 10*time.Minute: "2 h 10 min", 24 * time.Hour: "1 d", 76 * time.Hour: "3 d 4 h",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%v) is %q, not %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		90 * time.Second: "1 min 30 s", 23*time.Hour + 59*time.Minute: "24 h", 47*time.Hour + 50*time.Minute: "2 d", 290 * time.Hour: "12 d",
	} {
		if got := Rough(d); got != want {
			t.Errorf("Rough(%v) is %q, not %q", d, got, want)
		}
	}
}

func TestExact(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "less than 1 s", -time.Second: "less than 1 s", time.Second: "1 s", 90 * time.Second: "1 min 30 s", 500 * time.Millisecond: "500 ms",
		time.Millisecond: "1 ms", 1500 * time.Microsecond: "1.5 ms", 20 * time.Microsecond: "0.02 ms", 5: "5 ns",
	} {
		if got := Exact(d); got != want {
			t.Errorf("Exact(%v) is %q, not %q", d, got, want)
		}
	}
}

func TestCost(t *testing.T) {
	for x, want := range map[float64]string{0: "–", 0.0074: "0.0074", 0.07: "0.07", 0.075: "0.075", 0.00001: "0.00", 0.6: "0.60", 115.2: "115.20"} {
		if got := Price(x, ""); got != want {
			t.Errorf("Price(%v) is %q, not %q", x, got, want)
		}
	}
}
