package output_test

import (
	"strings"
	"testing"

	"muster/app"
	"muster/app/apptest"
	"muster/app/apptest/harness"
	"muster/app/output"
	"muster/app/sharing"
	"muster/app/template"
)

func TestCheckSaysWhatIsWrongWhereAndWhatToDo(t *testing.T) {
	good := template.Output{Name: "url", Type: template.OutputURL, Value: "http://%ip.service.web[0]%:${config:web.port}/"}
	for name, tc := range map[string]struct {
		change func(o *template.Output)
		key    string
		said   string
	}{
		"good":                 {func(*template.Output) {}, "", ""},
		"a fact":               {func(o *template.Output) { o.Value = "%fact.web.port%" }, "", ""},
		"a port in a macro":    {func(o *template.Output) { o.Value = "%map(ip.service.web,'$:${config:web.port}')%" }, "", ""},
		"a secret in a macro":  {func(o *template.Output) { o.Value = "%map(ip.service.web,'${secret:generated/a}')%" }, "value", "only ${config"},
		"escaped":              {func(o *template.Output) { o.Value = "${config:web.name|url}" }, "", ""},
		"a name":               {func(o *template.Output) { o.Name = "Url" }, "name", "invalid output name"},
		"a type":               {func(o *template.Output) { o.Type = "link" }, "type", "unknown type"},
		"a mode of no file":    {func(o *template.Output) { o.Mode = "0600" }, "type", "only a file"},
		"a folder":             {func(o *template.Output) { o.Type, o.File = template.OutputFile, "../x" }, "file", "invalid file name"},
		"a mode":               {func(o *template.Output) { o.Type, o.Mode = template.OutputFile, "rw" }, "mode", "invalid mode"},
		"a variable":           {func(o *template.Output) { o.Env = "A B" }, "env", "invalid variable"},
		"a variable of shells": {func(o *template.Output) { o.Env = "PATH" }, "env", "changes how programs run"},
		"a secret shown":       {func(o *template.Output) { o.Value = "http://u:${secret:generated/a}@h/" }, "type", "use"},
		"a secret fact shown":  {func(o *template.Output) { o.Value = "%fact.web.join_token%" }, "type", "secret in it"},
		"a tenant's secret":    {func(o *template.Output) { o.Type, o.Value = template.OutputSecret, "${secret:TOKEN}" }, "value", "never shown"},
		"a node's own name":    {func(o *template.Output) { o.Value = "%host.self%" }, "value", "belongs to no node"},
		"an answer":            {func(o *template.Output) { o.Value = "%answer.web.key%" }, "value", "belongs to no node"},
		"a macro":              {func(o *template.Output) { o.Value = "%nothing%" }, "value", "isn't a macro"},
		"a reference":          {func(o *template.Output) { o.Value = "${env:HOME}" }, "value", "unknown reference"},
		"a path":               {func(o *template.Output) { o.Value = "${config:a..b}" }, "value", "invalid path"},
		"a long value":         {func(o *template.Output) { o.Value = strings.Repeat("x", 9000) }, "value", "longer than"},
		"a long description":   {func(o *template.Output) { o.Description = strings.Repeat("x", 501) }, "description", "longer than"},
	} {
		o := good
		tc.change(&o)
		problems := output.Check([]template.Output{o})
		if tc.said == "" {
			if len(problems) > 0 {
				t.Errorf("%s: %+v", name, problems)
			}
			continue
		}
		if len(problems) == 0 || problems[0].Key != tc.key || problems[0].Hint == "" ||
			!strings.Contains(problems[0].Message+problems[0].Hint, tc.said) {
			t.Errorf("%s: %+v", name, problems)
		}
	}
	many := make([]template.Output, 51)
	for i := range many {
		many[i] = good
		many[i].Name += strings.Repeat("x", i+1)
	}
	if p := output.Check(many); len(p) != 1 || !strings.Contains(p[0].Message, "51 outputs") {
		t.Errorf("%+v", p)
	}
	if p := output.Check([]template.Output{good, good}); len(p) != 1 || p[0].Index != 1 || !strings.Contains(p[0].Message, "twice") {
		t.Errorf("%+v", p)
	}
}

func TestVariablesAreNamedByClusterAndOutput(t *testing.T) {
	for name, want := range map[string]string{"shop": "SHOP_DB_URL", "My-shop.2": "MY_SHOP_2_DB_URL", "9lives": "_9LIVES_DB_URL"} {
		if got := output.Variable(template.Output{Name: "db_url"}, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := output.Variable(template.Output{Name: "db_url", Env: "DATABASE_URL"}, "shop"); got != "DATABASE_URL" {
		t.Error(got)
	}
}

// made creates a cluster of ada's with the outputs.
func made(t *testing.T, b *harness.Harness, outputs ...template.Output) string {
	t.Helper()
	n := apptest.NewCluster(app.DefaultTenant, "shop", 2, b.Clock.Now(), apptest.Chain(2))
	n.Definition.Outputs = outputs
	n.Definition.Config = map[string]any{
		"db":   map[string]any{"port": 5432.0, "password": "hunter22", "name": "a b&c", "made": "${secret:generated/db}", "theirs": "${secret:TOKEN}"},
		"url":  "http://ada:hunter22@host/",
		"self": "%host.self%", "list": []any{1.0}, "trick": "${config:db.password}", "owner": "%cluster.owner%",
	}
	if _, err := b.Store.CreateCluster(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	return n.Cluster.ID
}

func TestSecretValuesAreRevealedToThoseWhoUseTheCluster(t *testing.T) {
	b := harness.New(t)
	text, hidden := template.OutputText, template.OutputSecret
	id := made(t, b,
		template.Output{Name: "port", Type: text, Value: "${config:db.port}"},
		template.Output{Name: "escaped", Type: text, Value: "/${config:db.name|url}"},
		template.Output{Name: "owner", Type: text, Value: "${config:owner}"},
		template.Output{Name: "trick", Type: text, Value: "${config:trick}"}, // what a setting says isn't read again
		template.Output{Name: "password", Type: text, Value: "${config:db.password}"},
		template.Output{Name: "address", Type: text, Value: "${config:url}"},
		template.Output{Name: "made", Type: hidden, Value: "db:${config:db.made}"},
		template.Output{Name: "generated", Type: hidden, Value: "db:${secret:generated/db}"},
		template.Output{Name: "theirs", Type: hidden, Value: "${config:db.theirs}"},
		template.Output{Name: "self", Type: text, Value: "${config:self}"},
		template.Output{Name: "list", Type: text, Value: "${config:list}"},
		template.Output{Name: "none", Type: text, Value: "${config:db.none}"},
		template.Output{Name: "optional", Type: text, Value: "%ip.service.nosuch[0]%"},
	)
	ada, bob := b.Actor("ada", app.RoleUser), b.Actor("bob", app.RoleUser)
	list, err := b.Services.Outputs.ClusterOutputs(t.Context(), ada, id)
	if err != nil || !list.MayReveal || len(list.Outputs) != 12 {
		t.Fatalf("%+v, %v", list, err)
	}
	all, err := b.Services.Outputs.RevealOutputs(t.Context(), ada, id, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		value   string
		secret  bool
		missing string
	}{
		{"5432", false, ""}, {"/a%20b%26c", false, ""}, {"ada", false, ""}, {"${config:db.password}", false, ""}, {"hunter22", true, ""},
		{"http://ada:hunter22@host/", true, ""}, {"db:", true, ""}, {"db:", true, ""}, {"", true, "never shown"},
		{"", false, "when its nodes are running"}, {"", false, "isn't a single value"}, {"", false, "isn't set"},
	} {
		o, public := all.Outputs[i], list.Outputs[i]
		if o.Secret != want.secret || !strings.HasPrefix(o.Value, want.value) || (o.Missing != "") != (want.missing != "") ||
			!strings.Contains(o.Missing, want.missing) {
			t.Errorf("%s: %+v", o.Name, o)
		}
		if public.Secret != want.secret || want.secret && public.Value != "" || !want.secret && public.Value != o.Value {
			t.Errorf("without secrets, %s: %+v", o.Name, public)
		}
	}
	if made, generated := all.Outputs[6].Value, all.Outputs[7].Value; made != generated || len(made) != 3+26 {
		t.Errorf("%q and %q", made, generated)
	}
	if one, err := b.Services.Outputs.RevealOutputs(t.Context(), ada, id, []string{"port"}); err != nil || len(one.Outputs) != 1 {
		t.Errorf("%+v, %v", one, err)
	}
	if _, err := b.Services.Outputs.RevealOutputs(t.Context(), ada, id, []string{"nosuch"}); app.CodeOf(err) != app.ENotFound {
		t.Error(err)
	}
	if _, err := b.Services.Outputs.RevealOutputs(t.Context(), ada, id, make([]string, 51)); app.CodeOf(err) != app.EInvalid {
		t.Error(err)
	}

	// A stranger sees nothing, a reader and a viewer no secrets.
	if _, err := b.Services.Outputs.ClusterOutputs(t.Context(), bob, id); app.CodeOf(err) != app.ENotFound {
		t.Error(err)
	}
	_, err = b.Services.Cluster.Sharing.ShareCluster(t.Context(), ada, id, sharing.SharingChange{Visibility: app.VisibleTenant})
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []app.Actor{bob, b.Actor("ada", app.RoleViewer)} {
		seen, err := b.Services.Outputs.ClusterOutputs(t.Context(), who, id)
		if err != nil || seen.MayReveal || len(seen.Outputs) != 12 || seen.Outputs[4].Value != "" {
			t.Errorf("%s %s: %+v, %v", who.Role, who.Name(), seen, err)
		}
		if _, err := b.Services.Outputs.RevealOutputs(t.Context(), who, id, nil); app.CodeOf(err) != app.EForbidden {
			t.Errorf("%s %s: %v", who.Role, who.Name(), err)
		}
	}

	// What was shown, and nothing else, is in the audit log, without values.
	entries, err := b.Store.Audit(t.Context(), app.AuditFilter{Act: "cluster.outputs", Limit: 100})
	if err != nil || len(entries) != 1 || entries[0].Who != "ada" || entries[0].Detail != "password, address, made, generated" {
		t.Errorf("%+v, %v", entries, err)
	}
}
