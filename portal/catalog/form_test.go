package catalog

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"muster/app/catalog"
	file "muster/app/file/catalog"
	"muster/app/template"
	"pgregory.net/rapid"
)

// areas are the fields that keep several lines.
var areas = []string{FieldArea, FieldCode, FieldMacros, FieldGroups, FieldLines}

// sentForm is what a browser sends of a form that no one has changed.
func sentForm(f Form) url.Values {
	in := url.Values{}
	eachField(&f, func(_ *Section, x *Field) {
		switch {
		case slices.Contains(areas, x.Kind):
			in.Set(x.Name, strings.ReplaceAll(strings.ReplaceAll(x.Value, "\r", "\n"), "\n", "\r\n"))
		default:
			in.Set(x.Name, strings.NewReplacer("\r", "", "\n", "").Replace(x.Value)) // an input has one line
		}
	})
	return in
}

// TestFormsOfOutputsKeepTheText sends forms of any outputs and actions: unchanged, they change nothing; with one field changed, the text says that, and
// all else as before.
func TestFormsOfOutputsKeepTheText(t *testing.T) {
	texts := file.Texts{}
	formOf := func(t *rapid.T, text string) Form {
		tree, err := texts.Tree(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return newCatalogForm(template.KindTemplate, tree, nil, catalog.Families{}, catalogNames{}, true)
	}
	words := rapid.SampledFrom([]string{"a", "0644", "%ip.service.web[0]%", "${config:web.port|url}", "# no comment", "a: b",
		"'", `"`, "yes", "- x", "~", "é", "{a}", "a\nb\n", "a\n\n b", " a", "a\t"})
	line := rapid.SampledFrom([]string{"a", "0644", "1.5", "# no", "x: y", "yes", "it's", "%x%"})
	rapid.Check(t, func(t *rapid.T) {
		text := "# Ours.\nkind: template\nname: a # short\nlease: {initial: 8h}\nzzz: [unknown]\n"
		set := func(value any, path ...any) {
			out, err := texts.Set(text, catalog.Set{Path: path, Value: value})
			if err != nil {
				t.Fatal(err)
			}
			text = out
		}
		for i := range rapid.IntRange(1, 4).Draw(t, "outputs") {
			set(line.Draw(t, "name"), "outputs", i, "name")
			set(words.Draw(t, "value"), "outputs", i, "value")
			for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"env", "file", "mode", "unknown"}), 0, 4, rapid.ID).Draw(t, "keys") {
				set(line.Draw(t, key), "outputs", i, key)
			}
			set(rapid.SampledFrom([]string{"url", "secret", "file", "text", "odd"}).Draw(t, "type"), "outputs", i, "type")
			if rapid.Bool().Draw(t, "described") {
				set(words.Draw(t, "description"), "outputs", i, "description")
			}
		}
		if rapid.Bool().Draw(t, "acts") {
			set(line.Draw(t, "action"), "actions", 0, "name")
			set(words.Draw(t, "script"), "actions", 0, "run")
			set(rapid.Bool().Draw(t, "approval"), "actions", 0, "approval")
			set("int", "actions", 0, "parameters", 0, "type")
		}
		was := formOf(t, text)
		in := sentForm(was)
		if sets, _ := catalogChanges(was, in); len(sets) > 0 {
			t.Fatalf("an unchanged form sets %+v in\n%s", sets, text)
		}
		var fields []*Field
		eachField(&was, func(_ *Section, x *Field) {
			if x.Path[0] == "outputs" && x.Kind != FieldSelect {
				fields = append(fields, x)
			}
		})
		one := rapid.SampledFrom(fields).Draw(t, "field")
		value := line.Draw(t, "typed")
		if slices.Contains(areas, one.Kind) {
			value = words.Draw(t, "typed text")
		}
		in.Set(one.Name, strings.ReplaceAll(value, "\n", "\r\n"))
		sets, _ := catalogChanges(was, in)
		out, err := texts.Set(text, sets...)
		if err != nil {
			t.Fatal(err)
		}
		now := formOf(t, out)
		eachField(&now, func(_ *Section, x *Field) {
			want := *one
			if i := slices.IndexFunc(fields, func(f *Field) bool { return f.Name == x.Name }); x.Name != one.Name && i >= 0 {
				want = *fields[i]
			} else if x.Name == one.Name {
				want.Value = value
			} else {
				return
			}
			if !sameValue(&Field{Kind: want.Kind, Value: x.Value}, want.Value) {
				t.Fatalf("%s is %q, not %q, after %s became %q:\n%s", x.Name, x.Value, want.Value, one.Name, value, out)
			}
		})
		if !slices.Equal(now.Rest, was.Rest) || !strings.HasPrefix(out, "# Ours.\nkind: template\nname: a # short\n") || !strings.Contains(out, "zzz: [unknown]") {
			t.Fatalf("only in YAML were %q and are %q:\n%s", was.Rest, now.Rest, out)
		}
	})
}
