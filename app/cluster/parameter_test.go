package cluster

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"muster/app"
	"muster/app/template"
)

func TestValuesOfParameters(t *testing.T) {
	text := template.Parameter{Name: "p", Type: template.ParameterText, Min: "2", Max: "5", Pattern: "[a-zä]+"}
	number := template.Parameter{Name: "p", Type: template.ParameterNumber, Min: "0.5", Max: "2"}
	integer := template.Parameter{Name: "p", Type: template.ParameterInteger, Min: "1", Max: "65535"}
	truth := template.Parameter{Name: "p", Type: template.ParameterBoolean}
	choice := template.Parameter{Name: "p", Type: template.ParameterChoice, Options: []template.ParameterOption{{Value: "small"}, {Value: "large", Label: "Large"}}}
	size := template.Parameter{Name: "p", Type: template.ParameterSize, Min: "64M", Max: "2G", Unit: "M"}
	length := template.Parameter{Name: "p", Type: template.ParameterDuration, Min: "1m", Max: "3d", Unit: "h"}
	for _, c := range []struct {
		name  string
		p     template.Parameter
		given any
		kept  any    // nil: it is refused, or none
		laid  any    // nil: as kept
		wrong string // part of the message; "" for none
	}{
		{"a text", text, "abc", "abc", nil, ""},
		{"letters are counted, not bytes", text, "äääää", "äääää", nil, ""},
		{"a short text", text, "a", nil, nil, "shorter than 2 characters"},
		{"a long text", text, "abcdef", nil, nil, "longer than 5 characters"},
		{"a text of another form", text, "ab1", nil, nil, "required form"},
		{"the whole must fit", text, "ab c", nil, nil, "required form"},
		{"a number for a text", text, 7, nil, nil, "must be text"},
		{"a secret in a text", template.Parameter{Type: template.ParameterText}, "x ${secret:A}", nil, nil, "only the catalog can"},
		{"a zero byte", template.Parameter{Type: template.ParameterText}, "a\x00", nil, nil, "not valid text"},
		{"a huge text", template.Parameter{Type: template.ParameterText}, strings.Repeat("x", 5000), nil, nil, "longer than 4096"},
		{"an empty text is a text", template.Parameter{Type: template.ParameterText}, "", "", nil, ""},
		{"nothing", integer, nil, nil, nil, ""},
		{"an empty field", integer, "", nil, nil, ""},
		{"a whole number", integer, 8080, 8080, nil, ""},
		{"a whole number as text", integer, "8080", 8080, nil, ""},
		{"a whole number of JSON", integer, float64(8080), 8080, nil, ""},
		{"a whole number of JSON, as written", integer, json.Number("8.08e3"), 8080, nil, ""},
		{"a broken number", integer, 80.5, nil, nil, "isn't a whole number"},
		{"words", integer, "eighty", nil, nil, "isn't a whole number"},
		{"too little", integer, 0, nil, nil, "0 is less than 1"},
		{"too much", integer, "70000", nil, nil, `"70000" is more than 65535`},
		{"a list", integer, []any{1}, nil, nil, "isn't a whole number"},
		{"a number", number, "0.75", 0.75, nil, ""},
		{"not a number", number, "NaN", nil, nil, "isn't a number"},
		{"too small a number", number, 0.25, nil, nil, "less than 0.5"},
		{"true", truth, true, true, nil, ""},
		{"off", truth, "off", false, nil, ""},
		{"maybe", truth, "maybe", nil, nil, "isn't true or false"},
		{"a choice", choice, "large", "large", nil, ""},
		{"a label is no choice", choice, "Large", nil, nil, "isn't one of the choices"},
		{"a size", size, "1.5G", "1.5G", 1536, ""},
		{"a size with its bytes", size, "512MiB", "512MiB", 512, ""},
		{"too small a size", size, "1M", nil, nil, "less than 64M"},
		{"a size without sense", size, "much", nil, nil, "a size such as"},
		{"part of a byte", size, "0.0001K", nil, nil, "a size such as"},
		{"a duration", length, "1d12h", "1d12h", 36, ""},
		{"a short duration", length, "90m", "90m", 1.5, ""},
		{"too long", length, "4d", nil, nil, "more than 3d"},
		{"a duration without unit", length, "90", nil, nil, "isn't a duration"},
		{"a century and more", template.Parameter{Type: template.ParameterDuration}, "999999d", nil, nil, "isn't a duration"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := c.p.Value(c.given)
			if c.wrong != "" {
				e := app.AsError(err)
				if err == nil || e.Code != app.EInvalid || !strings.HasPrefix(e.Field, "parameters.") || !strings.Contains(e.Message, c.wrong) || e.Hint == "" {
					t.Errorf("got %v, %+v, want %q", v, e, c.wrong)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(v, c.kept) {
				t.Fatalf("kept %#v, %v, want %#v", v, err, c.kept)
			}
			if c.laid == nil {
				c.laid = c.kept
			}
			if got := c.p.Laid(v); c.kept != nil && !reflect.DeepEqual(got, c.laid) {
				t.Errorf("laid %#v, want %#v", got, c.laid)
			}
			// What is kept with a cluster is read again by a later version of the template.
			b, _ := json.Marshal(v)
			var back any
			_ = json.Unmarshal(b, &back)
			if again, err := c.p.Value(back); err != nil || !reflect.DeepEqual(again, v) {
				t.Errorf("read again %#v, %v, want %#v", again, err, v)
			}
		})
	}
}

// shop has a parameter of each kind of target.
func shop() *template.Template {
	return &template.Template{
		About:    template.About{Name: "shop"},
		Defaults: template.Defaults{Services: []string{"web"}, Provider: "cloud", Hardware: "small", Config: map[string]any{"web": map[string]any{"port": 80, "name": "x"}, "security.enabled": "false"}},
		Parameters: []template.Parameter{
			{Name: "port", Type: template.ParameterInteger, Min: "1", Max: "65535", Default: 80, To: []string{"config.web.port", "config.proxy.to.port"}},
			{Name: "safe", Type: template.ParameterBoolean, To: []string{"config.security.enabled"}},
			{Name: "title", Type: template.ParameterText, Required: true},
			{Name: "machine", Type: template.ParameterChoice, Options: []template.ParameterOption{{Value: "small"}, {Value: "large"}}, Default: "large", To: []string{"hardware"}},
			{Name: "nodes", Type: template.ParameterInteger, Default: 3, To: []string{"size"}},
		},
	}
}

func TestParametersSetConfiguration(t *testing.T) {
	r, s, err := CreateRequest{Parameters: map[string]any{"title": "Hi", "safe": "on"}}.resolved(shop())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"web": map[string]any{"port": 80}, "proxy": map[string]any{"to": map[string]any{"port": 80}}, "security.enabled": true, "title": "Hi"}
	if !reflect.DeepEqual(s.Config, want) {
		t.Errorf("laid %v, want %v", s.Config, want)
	}
	if !reflect.DeepEqual(s.Given, map[string]any{"title": "Hi", "safe": true}) || len(s.Values) != 5 {
		t.Errorf("given %v, in all %v", s.Given, s.Values)
	}
	if r.Hardware != "large" || r.Size != 3 {
		t.Errorf("hardware %q, size %d", r.Hardware, r.Size)
	}
	// What the request says itself counts.
	r = CreateRequest{Parameters: map[string]any{"title": "Hi"}}
	r.Size, r.Hardware = 5, "small"
	if r, _, err = r.resolved(shop()); err != nil || r.Size != 5 || r.Hardware != "small" {
		t.Errorf("%+v, %v", r.Request, err)
	}
	if merged := template.MergeConfig(shop().Defaults.Config, s.Config); !reflect.DeepEqual(merged["web"], map[string]any{"port": 80, "name": "x"}) {
		t.Errorf("merged %v", merged)
	}
}

func TestInvalidParametersAreReportedWithTheirField(t *testing.T) {
	for _, c := range []struct {
		name                 string
		r                    CreateRequest
		field, message, hint string
	}{
		{"missing", CreateRequest{}, "parameters.title", "is required by", "Text"},
		{"unknown", CreateRequest{Parameters: map[string]any{"title": "x", "prot": 1}}, "parameters.prot", `has no parameter "prot"`, "Did you mean port?"},
		{"far from all", CreateRequest{Parameters: map[string]any{"title": "x", "colour": 1}}, "parameters.colour", "no parameter", "It has port, safe"},
		{"an odd name", CreateRequest{Parameters: map[string]any{"title": "x", "a b\n": 1}}, "parameters.?", "no parameter", ""},
		{"out of range", CreateRequest{Parameters: map[string]any{"title": "x", "port": 0}}, "parameters.port", "0 is less than 1", "from 1 to 65535"},
		{"said twice", CreateRequest{Parameters: map[string]any{"title": "x"}, Config: map[string]any{"web": map[string]any{"port": 1}}}, "config.web.port", "is set by parameter port", "--set port"},
		{"overwritten from above", CreateRequest{Parameters: map[string]any{"title": "x"}, Config: map[string]any{"web": 5}}, "config.web", "is set by parameter port", ""},
		{"with dots in the key", CreateRequest{Parameters: map[string]any{"title": "x"}, Config: map[string]any{"security.enabled": "true"}}, "config.security.enabled", "is set by parameter safe", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := c.r.resolved(shop())
			if e := app.AsError(err); err == nil || e.Code != app.EInvalid || e.Field != c.field || !strings.Contains(e.Message, c.message) || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("got %+v", err)
			}
		})
	}
	if n := len(shop().Complaints(map[string]any{"port": "x", "unknown": 1})); n != 3 {
		t.Errorf("%d complaints, want all 3", n)
	}
	beside := CreateRequest{Parameters: map[string]any{"title": "x"}, Config: map[string]any{"web": map[string]any{"name": "y"}}}
	if _, _, err := beside.resolved(shop()); err != nil {
		t.Errorf("configuration beside a parameter: %v", err)
	}
}

func TestImmutablePartsStay(t *testing.T) {
	tmpl := &template.Template{
		About:     template.About{Name: "t"},
		Immutable: []string{"config.ssl.cert", "config.list", "config.family", "services", "lease"},
		Defaults: template.Defaults{Services: []string{"web", "db"}, Provider: "cloud", Config: map[string]any{
			"ssl": map[string]any{"cert": "a", "port": 1}, "list": []any{1, 2.0}, "family.one": 1,
		}},
	}
	for _, c := range []struct {
		name   string
		config map[string]any
		field  string // "" where it is fine
	}{
		{"nothing", nil, ""},
		{"beside", map[string]any{"ssl": map[string]any{"port": 2}}, ""},
		{"the same", map[string]any{"ssl": map[string]any{"cert": "a"}, "list": []any{1, 2}}, ""},
		{"another", map[string]any{"ssl": map[string]any{"cert": "b"}}, "config.ssl.cert"},
		{"taken out", map[string]any{"ssl": map[string]any{"cert": nil}}, "config.ssl.cert"},
		{"from above", map[string]any{"ssl": "off"}, "config.ssl"},
		{"taken out from above", map[string]any{"ssl": nil}, "config.ssl"},
		{"from below", map[string]any{"ssl": map[string]any{"cert": map[string]any{"file": "x"}}}, "config.ssl.cert"},
		{"in a list", map[string]any{"list": []any{1}}, "config.list"},
		{"keys that are written in one", map[string]any{"family.two": 2}, "config.family.two"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := tmpl.CheckImmutable(template.Override{Config: c.config})
			if e := app.AsError(err); (err == nil) != (c.field == "") || err != nil && (e.Field != c.field || e.Code != app.EInvalid || !strings.Contains(e.Message, c.field)) {
				t.Errorf("got %v, want %q", err, c.field)
			}
			d := Definition{Immutable: tmpl.Immutable, Config: tmpl.Defaults.Config}
			if err := d.CheckImmutable(template.Override{Config: c.config}); (err == nil) != (c.field == "") {
				t.Errorf("of a cluster: %v", err)
			}
		})
	}
	r := CreateRequest{}
	r.Services, r.Provider = []string{"db", "web"}, "other"
	if err := tmpl.CheckImmutable(r.override(tmpl)); err != nil {
		t.Errorf("the same services in another order: %v", err)
	}
	r.Services = []string{"web"}
	if e := app.AsError(tmpl.CheckImmutable(r.override(tmpl))); e == nil || e.Field != "services" {
		t.Errorf("other services: %+v", e)
	}
	all := &template.Template{Immutable: []string{"config"}, Defaults: tmpl.Defaults}
	if err := all.CheckImmutable(template.Override{Config: map[string]any{"new": 1}}); err == nil || app.AsError(err).Field != "config.new" {
		t.Errorf("all of the configuration: %v", err)
	}
}

func TestDraftsAreForAdmins(t *testing.T) {
	c := template.NewCatalog()
	for name, state := range map[string]template.State{"a-old": template.StateDeprecated, "b-new": template.StateDraft, "c-now": ""} {
		c.Templates[name] = &template.Template{About: template.About{Name: name}, State: state, ReplacedBy: "c-now"}
		c.Written[name] = c.Templates[name]
	}
	c.Written["part"] = &template.Template{About: template.About{Name: "part"}, Partial: true}
	user, admin := app.Actor{Tenant: "t", User: "u", Role: app.RoleUser}, app.Actor{Tenant: "t", User: "a", Role: app.RoleAdmin}
	order := func(of *template.Catalog) (names string) {
		for _, t := range of.Offered() {
			names += t.Name + " "
		}
		return names
	}
	if got := order(c.For(user)); got != "c-now a-old " {
		t.Errorf("a user sees %s", got)
	}
	if got := order(c.For(admin)); got != "c-now b-new a-old " {
		t.Errorf("an admin sees %s", got)
	}
	for _, try := range []struct {
		who    app.Actor
		name   string
		reason string
	}{{user, "b-new", "draft"}, {admin, "b-new", ""}, {user, "a-old", ""}, {admin, "part", "partial"}, {user, "none", ""}} {
		if _, err := c.TemplateFor(try.who, try.name); (err == nil) != (try.reason == "") || err != nil && app.AsError(err).Reason != try.reason {
			t.Errorf("%s of %s: %v", try.name, try.who.Role, err)
		}
	}
	if w := c.Templates["a-old"].Warnings(); len(w) != 1 || !strings.Contains(w[0], "Use c-now instead") {
		t.Errorf("warnings %v", w)
	}
}
