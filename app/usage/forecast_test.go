package usage

import (
	"fmt"
	"testing"
	"time"

	"muster/app"
)

func TestForecast(t *testing.T) {
	now := time.Date(2030, 5, 29, 18, 0, 0, 0, time.UTC)
	end := app.MonthOf(now).End
	for _, c := range []struct {
		name string
		list []Commitment
		want string
	}{
		{"nothing exists", nil, "[0 0 0] 0 0"},
		{"no lease", []Commitment{{PerHour: 2}}, "[12 48 48] 108 2"},
		{"a lease beyond the month", []Commitment{{PerHour: 2, Until: end.Add(time.Hour)}}, "[12 48 48] 108 2"},
		{"a lease that ends tomorrow", []Commitment{{PerHour: 2, Until: now.Add(8 * time.Hour)}}, "[12 4 0] 16 2"},
		{"a lease that has ended", []Commitment{{PerHour: 2, Until: now.Add(-time.Hour)}}, "[0 0 0] 0 0"},
		{"together", []Commitment{{PerHour: 1}, {PerHour: 2, Until: now.Add(8 * time.Hour)}}, "[18 28 24] 70 3"},
	} {
		u := ComputeForecast(c.list, now, end)
		var days []float64
		for _, d := range u.Days {
			days = append(days, d.Cost)
		}
		if got := fmt.Sprint(days, u.Cost, u.PerHour); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
