package cel

import (
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/policy"
)

// asking is a request for the tables.
func asking() policy.Input {
	return policy.Input{Tenant: "t", User: "ada", Role: app.RoleUser, Groups: []string{"dev", "ops"}, Via: app.ViaPortal, Kind: app.OperationCreate,
		Name: "web", Template: "shop", Services: []string{"db", "web"}, Nodes: 12, CPU: 48, CostPerHour: 2.5, Lease: 8 * time.Hour,
		Provider: "digitalocean", Hardware: []string{"small"}, Now: time.Date(2026, 11, 20, 23, 30, 0, 0, time.UTC), TimeZone: "Europe/Berlin"}
}

func TestExpressionsSeeTheFacts(t *testing.T) {
	e := New()
	for when, want := range map[string]bool{
		`nodes > 10`:                              true,
		`nodes == 12 && template == "shop"`:       true,
		`cost > 19`:                               true, // 2.5 over 8 hours; a whole number beside a fraction
		`cost == 20.0`:                            true,
		`cost_per_hour >= 3`:                      false,
		`lease > duration("4h")`:                  true,
		`forever`:                                 false,
		`"ops" in groups`:                         true,
		`groups.exists(g, g.startsWith("fin"))`:   false,
		`services == ["db", "web"]`:               true,
		`hardware.all(h, h in ["small", "tiny"])`: true,
		`weekday == "saturday" && hour == 0`:      true, // in Berlin it is Saturday already
		`now.getHours(time_zone) == 0`:            true,
		`now < timestamp("2026-11-21T00:00:00Z")`: true,
		`role == "admin" || via == "slack"`:       false,
		`provider.matches("^digital")`:            true,
		`kind == "create" && user == "ada"`:       true,
		`cpu / 4.0 == 12.0`:                       true,
		`name == "web" && tenant == "t"`:          true,
	} {
		p := policy.Policy{When: when}
		if err := e.Check(p); err != nil {
			t.Errorf("%s: %v", when, err)
			continue
		}
		j, err := e.Judge(t.Context(), p, asking())
		if err != nil || j.Applies != want {
			t.Errorf("%s is %v, %v; want %v", when, j.Applies, err, want)
		}
	}
}

func TestWhatHasNoEndCostsMoreThanAnyNumber(t *testing.T) {
	f := asking()
	f.Lease = 0
	for when, want := range map[string]bool{`cost > 1000000`: true, `forever`: true, `lease == duration("0s")`: true} {
		if j, err := New().Judge(t.Context(), policy.Policy{When: when}, f); err != nil || j.Applies != want {
			t.Errorf("%s is %v, %v", when, j.Applies, err)
		}
	}
	f.CostPerHour = 0
	if j, err := New().Judge(t.Context(), policy.Policy{When: `cost > 0`}, f); err != nil || j.Applies {
		t.Errorf("what has no price costs: %v, %v", j.Applies, err)
	}
}

func TestExpressionErrorsHaveTheirPosition(t *testing.T) {
	for _, c := range []struct{ name, when, message, hint string }{
		{"a word that is nearly right", "true &&\n  node > 10", `when, line 2, column 3: unknown name "node"`, "Did you mean nodes?"},
		{"an unknown word", "budget > 10", `unknown name "budget"`, "Use one of: tenant, user,"},
		{"a number where truth is needed", "nodes + 1", "the result must be true or false, not a whole number", "nodes > 10"},
		{"things that do not compare", `template > 3`, "can't be used with (text, whole number)", "of the same type"},
		{"half an expression", "nodes >", "line 1, column 8: syntax error", "For example: nodes"},
		{"a lease beside a number", "lease > 8", "can't be used with (duration, whole number)", "duration("},
		{"too deep", strings.Repeat("(", 200) + "true" + strings.Repeat(")", 200), "line 1", ""},
		{"too long", strings.Repeat("true || ", 1000) + "true", "too long", "two policies"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := New().Check(policy.Policy{When: c.when})
			e := app.AsError(err)
			if err == nil || e.Code != app.EInvalid || e.Field != "when" || !strings.Contains(e.Message, c.message) || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("%.60s: %v (%s, hint %q)", c.when, err, e.Field, e.Hint)
			}
		})
	}
	if err := New().Check(policy.Policy{When: "true", LeaseCap: "8"}); app.AsError(err).Field != "lease_cap" {
		t.Errorf("a cap that is a number: %v", err)
	}
	if err := New().Check(policy.Policy{When: "true", Reason: "at most ${node}"}); app.AsError(err).Field != "reason" {
		t.Errorf("a reason with a wrong word: %v", err)
	}
	if err := New().Check(policy.Policy{When: "true", Reason: "at most ${nodes"}); app.AsError(err).Field != "reason" {
		t.Errorf("a reason that is not closed: %v", err)
	}
}

func TestReasonsAreExpanded(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain",
		"You asked for ${nodes} nodes, ${cost_per_hour} an hour.": "You asked for 12 nodes, 2.5 an hour.",
		"${nodes - 10} too many for ${lease}":                     "2 too many for 8 h",
		`${nodes > 10 ? "big: }" : "small"}!`:                     "big: }!",
		`${{"a": nodes}["a"]}`:                                    "12",
		"groups: ${groups}":                                       "groups: dev, ops",
		"a $ sign and a { brace }":                                "a $ sign and a { brace }",
		"${cost} at ${now}, ${forever}":                           "20 at 2026-11-20 23:30 UTC, false",
		"${template} ${services[0]}":                              "shop db",
		`${services.map(s, s + "!")}`:                             "db!, web!",
	} {
		p := policy.Policy{When: "true", Reason: text}
		if err := New().Check(p); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if j, err := New().Judge(t.Context(), p, asking()); err != nil || j.Reason != want {
			t.Errorf("%s is %q, %v; want %q", text, j.Reason, err, want)
		}
	}
}

func TestEvaluationErrors(t *testing.T) {
	many := "[0,1,2,3,4,5,6,7,8,9]"
	for name, p := range map[string]policy.Policy{
		"an index outside":         {When: `groups[7] == "x"`},
		"a division by nothing":    {When: `nodes / (nodes - 12) == 1`},
		"a zone that is not there": {When: `now.getHours("Moon/Crater") == 1`},
		"a lease of nothing":       {When: `true`, Effect: policy.EffectRewrite, LeaseCap: `duration("0s")`},
		"a lease before now":       {When: `true`, Effect: policy.EffectRewrite, LeaseCap: `duration("-1h")`},
		"too much work": {When: many + `.all(a, ` + many + `.all(b, ` + many + `.all(c, ` + many + `.all(d, ` + many + `.all(e, ` + many +
			`.all(f, a + b + c + d + e + f >= 0))))))`},
		"too long a reason": {When: "true", Reason: `${` + many + `.map(a, ` + many + `.map(b, ` + many + `.map(c, "abcdefghij")))}`},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			j, err := New().Judge(t.Context(), p, asking())
			if err == nil || j.Applies {
				t.Errorf("got %+v", j)
			}
			if took := time.Since(began); took > 2*time.Minute {
				t.Errorf("took %s", took)
			}
		})
	}
}

func TestEachExpressionIsCompiledOnce(t *testing.T) {
	e := New()
	p := policy.Policy{When: "nodes > 10"}
	for range 3 {
		if _, err := e.Judge(t.Context(), p, asking()); err != nil {
			t.Fatal(err)
		}
	}
	if len(e.known) != 1 {
		t.Errorf("%d programs are kept", len(e.known))
	}
}

// Whatever is written, nothing panics, nothing runs on, and what is refused says where.
func FuzzExpressions(f *testing.F) {
	for _, s := range []string{`nodes > 10`, `"ops" in groups`, `lease > duration("8h")`, `groups.map(g, groups.map(h, g + h))`, `[1].all(x, x > 0)`,
		`name.matches("(a+)+$")`, `{"a": 1}.a`, `nodes.foo()`, `"${" + "}"`, "\x00", `'''`, `b"x"`, `1e400 > 1`, `-9223372036854775808 / -1 == 1`, `timestamp("x")`,
		`has(groups.x)`, `type(nodes) == int`, `dyn(nodes) + "x" == ""`, `duration("999999999h")`, `now + duration("290y")`} {
		f.Add(s)
	}
	e := New()
	f.Fuzz(func(t *testing.T, text string) {
		p := policy.Policy{Name: "p", When: text, Effect: policy.EffectRewrite, LeaseCap: text, Reason: "${" + text + "} " + text}
		began := time.Now()
		checked := e.Check(p)
		if checked != nil {
			if a := app.AsError(checked); a.Code != app.EInvalid || a.Field == "" {
				t.Errorf("%q: %v", text, checked)
			}
		}
		j, err := e.Judge(t.Context(), p, asking())
		if err != nil && j.Applies {
			t.Errorf("%q applies although that is unknown", text)
		}
		if len(j.Reason) > maxReason+len(text)*maxPieces {
			t.Errorf("%q has %d bytes", text, len(j.Reason))
		}
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("%q took %s", text, took)
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	e := New()
	p := policy.Policy{When: `nodes > 10 && !("finance" in groups) && cost > 5`, Effect: policy.EffectRefuse, Reason: "At most 10 nodes; you asked for ${nodes}."}
	for b.Loop() {
		if _, err := e.Judge(b.Context(), p, asking()); err != nil {
			b.Fatal(err)
		}
	}
}
