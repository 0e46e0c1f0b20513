package account

import (
	"fmt"
	"testing"

	"muster/app"
	"muster/app/family"
)

func TestApart(t *testing.T) {
	var catalog []Kind // twenty kinds, of one core more each
	for n := 1; n <= 20; n++ {
		catalog = append(catalog, Kind{fmt.Sprintf("c%d", n), map[string]float64{"CPUs": float64(n), "servers": 1}})
	}
	for name, c := range map[string]struct {
		kinds    []Kind
		quotas   []Quota
		warnings int
		none     bool
	}{
		"a catalog larger than the quota":       {catalog, []Quota{{"CPUs", 4, 0}, {"servers", 1, 0}}, 16, false},
		"less is left than the quota":           {catalog, []Quota{{"CPUs", 4, 3}}, 19, false},
		"nothing is left":                       {catalog, []Quota{{"CPUs", 4, 4}}, 0, true},
		"more is used than may be":              {catalog, []Quota{{"CPUs", 4, 9}}, 0, true},
		"no limit":                              {catalog, []Quota{{"CPUs", -1, 9}}, 0, false},
		"no kinds":                              {nil, []Quota{{"CPUs", 0, 0}}, 0, false},
		"what none needs":                       {catalog, []Quota{{"volumes", 0, 0}}, 0, false},
		"each lacks something else":             {[]Kind{{"a", map[string]float64{"x": 2}}, {"b", map[string]float64{"y": 2}}}, []Quota{{"x", 1, 0}, {"y", 1, 0}}, 2, true},
		"a kind that needs none of what is out": {[]Kind{{"a", map[string]float64{"volumes": 1}}, {"b", nil}}, []Quota{{"volumes", 5, 5}}, 1, false},
		"the same kind twice":                   {[]Kind{{"a", map[string]float64{"x": 2}}, {"a", map[string]float64{"x": 2}}, {"b", nil}}, []Quota{{"x", 1, 0}}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			found := Apart(c.kinds, c.quotas, "hint")
			warnings, errors := 0, 0
			for _, f := range found {
				if f.OK || f.About != family.AboutQuota || f.Code != app.EQuota || f.Hint == "" {
					t.Errorf("%+v", f)
				}
				if f.Warning {
					warnings++
				} else {
					errors++
				}
			}
			if warnings != c.warnings || (errors == 1) != c.none || errors > 1 {
				t.Errorf("%d warnings and %d errors, want %d and %v: %+v", warnings, errors, c.warnings, c.none, found)
			}
		})
	}
	found := Apart([]Kind{{"big", map[string]float64{"CPUs": 8, "GB": 0.5}}, {"small", nil}}, []Quota{{"CPUs", 4, 2}, {"GB", 1, 0.75}}, "")
	if want := "No capacity for a machine of big: it needs 8 CPUs (2 of 4 available) and 0.5 GB (0.25 of 1 available)."; len(found) != 1 || found[0].Message != want {
		t.Errorf("%+v, want %s", found, want)
	}
	found = Apart(catalog, []Quota{{"servers", 9, 9}}, "")
	if want := "Can't create any machine: each kind needs at least 1 server (0 of 9 available)."; len(found) != 1 || found[0].Message != want {
		t.Errorf("%+v, want %s", found, want)
	}
}
