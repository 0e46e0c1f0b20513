package label

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/app"

	"pgregory.net/rapid"
)

func TestLabelsHaveAForm(t *testing.T) {
	long := strings.Repeat("v", MaxValue)
	many := func(n, size int) Labels {
		l := Labels{}
		for i := range n {
			l["k"+strings.Repeat("a", i)] = strings.Repeat("v", size)
		}
		return l
	}
	for _, c := range []struct {
		name   string
		labels Labels
		says   string // "" is good
	}{
		{"none", nil, ""},
		{"usual ones", Labels{"cost-centre": "4711", "team": "Web and mobile"}, ""},
		{"other signs", Labels{"team": "Web & mobile"}, "Invalid value"},
		{"words, signs and letters of all languages", Labels{"a": "R+D: a/b=c_d@e.f-1", "b": "Zoë 東京"}, ""},
		{"as many and as long as may be", many(MaxLabels, MaxValue), ""},
		{"one too many", many(MaxLabels+1, 1), "Too many labels: 21"},
		{"long together", Labels{"a": strings.Repeat("é", 63), "b": long, "c": long}, ""},
		{"capitals in a key", Labels{"Team": "a"}, "Invalid label key"},
		{"a key of Muster", Labels{"muster-tenant": "other"}, "reserved"},
		{"a key of a cloud", Labels{"goog-x": "1"}, "reserved"},
		{"a key that is too long", Labels{strings.Repeat("k", MaxKey+1): "1"}, "Invalid label key"},
		{"no key", Labels{"": "1"}, "Invalid label key"},
		{"no value", Labels{"team": ""}, "has no value"},
		{"a value that is too long", Labels{"team": long + "v"}, "too long"},
		{"a line break", Labels{"team": "a\nb"}, "Invalid value"},
		{"spaces at the end", Labels{"team": "a "}, "Invalid value"},
		{"what isn't text", Labels{"team": "a\xff"}, "Invalid value"},
		{"too much together", func() Labels {
			l := many(MaxLabels, 1)
			for k := range l {
				l[k] = strings.Repeat("東", 40)
			}
			return l
		}(), "too long: "},
	} {
		err := Check(c.labels)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
		if err != nil && (app.CodeOf(err) != app.EInvalid || app.AsError(err).Hint == "" || app.AsError(err).Field != "labels") {
			t.Errorf("%s: %+v", c.name, app.AsError(err))
		}
	}
}

func TestLabelsAreRead(t *testing.T) {
	got, err := Parse([]string{" team = web ", "", "q=a=b"})
	if err != nil || !maps.Equal(got, Labels{"team": "web", "q": "a=b"}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range [][]string{{"team"}, {"team=a", "team=b"}, slices.Repeat([]string{"a=1"}, 100)} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
	all, err := Selectors([]string{"team=web", " cost-centre ", ""})
	if err != nil || !slices.Equal(all, []app.LabelSelector{{Key: "team", Value: "web"}, {Key: "cost-centre"}}) {
		t.Errorf("%v, %v", all, err)
	}
	for _, bad := range []string{"Team=web", "team=", "=x", "a b"} {
		if _, err := Selectors([]string{bad}); app.AsError(err).Field != "label" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Whatever an account is called, its name can be the value of a tag.
func TestAnyTextIsAValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if v := Value(text); v != "" {
			if err := checkValue("k", v); err != nil {
				t.Fatalf("%q is %q: %v", text, v, err)
			}
		}
	})
}

// Labels read from their own texts are the same.
func TestLabelTextsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.MapOfN(rapid.StringMatching(`[b-f][a-z0-9_-]{0,10}`), rapid.StringMatching(`[A-Za-z0-9+=._:/@-]{1,20}`), 1, 10).Draw(t, "labels")
		got, err := Parse(Texts(labels))
		if err != nil || !maps.Equal(got, labels) {
			t.Fatalf("%v, %v", got, err)
		}
	})
}

func TestRequiredLabels(t *testing.T) {
	r := &Rules{Defaults: Labels{"team": "web"}, Required: map[string]string{"cost-centre": "Ask your team lead.", "team": ""}}
	_, err := r.Complete("", nil)
	e := app.AsError(err)
	if e.Message != "This template requires the label cost-centre." || e.Hint != "Add cost-centre=VALUE. Ask your team lead." ||
		e.Reason != "label_required" || e.Field != "labels" {
		t.Errorf("%+v", e)
	}
	got, err := r.Complete("", Labels{"cost-centre": "7", "team": "db"})
	if err != nil || !maps.Equal(got, Labels{"cost-centre": "7", "team": "db"}) {
		t.Errorf("%v, %v", got, err)
	}
	var none *Rules
	if got, err := none.Complete("x", Labels{"a": "b"}); err != nil || len(got) != 1 || none.Check() != nil {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []*Rules{{Defaults: Labels{"A": "b"}}, {Required: map[string]string{"muster": ""}},
		{Required: map[string]string{"a": strings.Repeat("x", 201)}}} {
		if bad.Check() == nil {
			t.Errorf("%+v is good", bad)
		}
	}
}

func TestLabelChanges(t *testing.T) {
	r := &Rules{Required: map[string]string{"cost-centre": ""}}
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		name   string
		before Labels
		change Change
		after  Labels
		said   string
		fails  string
	}{
		{"add and remove", Labels{"cost-centre": "1", "team": "a"}, Change{Set: Labels{"x": "y"}, Remove: []string{"team", "no"}},
			Labels{"cost-centre": "1", "x": "y"}, "x=y, team removed", ""},
		{"replace", Labels{"cost-centre": "1", "team": "a"}, Change{Set: Labels{"cost-centre": "2"}, Replace: true}, Labels{"cost-centre": "2"},
			"cost-centre=2, team removed", ""},
		{"a required one stays", Labels{"cost-centre": "1"}, Change{Remove: []string{"cost-centre"}}, nil, "", "requires the label cost-centre"},
		{"one that was missing before may stay so", Labels{"team": "a"}, Change{Set: Labels{"team": "b"}}, Labels{"team": "b"}, "team=b", ""},
		{"a description", nil, Change{Description: text(" Shop ")}, nil, "description", ""},
		{"nothing new", Labels{"team": "a"}, Change{Set: Labels{"team": "a"}}, Labels{"team": "a"}, "", ""},
		{"what breaks a rule", nil, Change{Set: Labels{"muster-node": "n9"}}, nil, "", "reserved"},
	} {
		to := app.Cluster{Labels: maps.Clone(c.before)}
		said, err := c.change.Apply(&to, r)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) || !maps.Equal(to.Labels, c.before) {
				t.Errorf("%s: %v, %v", c.name, err, to.Labels)
			}
			continue
		}
		if err != nil || strings.Join(said, ", ") != c.said || !maps.Equal(to.Labels, c.after) {
			t.Errorf("%s: %v, %q, %v", c.name, to.Labels, said, err)
		}
	}
	for name, bad := range map[string]Change{"nothing": {}, "both": {Set: Labels{"a": "b"}, Remove: []string{"a"}},
		"a long text":        {Description: text(strings.Repeat("x", 501))},
		"control characters": {Description: text("a\x00")}, "too many": {Remove: make([]string, 100)}} {
		if bad.Check() == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
