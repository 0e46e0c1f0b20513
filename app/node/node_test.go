package node

import (
	"strings"
	"testing"

	"muster/app"
)

func TestFiltersAreBounded(t *testing.T) {
	for field, f := range map[string]Filter{
		"state":   {State: "sleeping"},
		"q":       {Text: strings.Repeat("x", maxText+1)},
		"cluster": {Cluster: strings.Repeat("x", maxName+1)},
		"service": {Service: strings.Repeat("x", maxName+1)},
		"limit":   {Limit: MaxLimit + 1},
		"after":   {After: "no-slash"},
	} {
		if e := app.AsError(f.Check()); e == nil || e.Code != app.EInvalid || e.Field != field || e.Hint == "" {
			t.Errorf("%+v: %+v, want an error of the field %s", f, e, field)
		}
	}
	for _, after := range []string{"/n1", "web-1/", "web-1/n0", "web-1/x1", "web-1/n1/n2"} {
		if _, _, ok := (Filter{After: after}).Start(); ok {
			t.Errorf("%q is taken for the end of a page", after)
		}
	}
	if id, number, ok := (Filter{After: "web-1/n12"}).Start(); id != "web-1" || number != 12 || !ok {
		t.Errorf("a page after web-1/n12 starts after %s, %d, %v", id, number, ok)
	}
	if err := (Filter{State: StateLost, Limit: MaxLimit}).Check(); err != nil {
		t.Error(err)
	}
}
