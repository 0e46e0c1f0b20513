package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	"muster/app/catalog"
	"pgregory.net/rapid"
)

const written = `# The shop of the company.
kind: template
name: shop   # as people know it

defaults:
  services: [web, {name: db, config: {port: 5432}}]

  # Where it runs.
  provider: sandbox
  config:
    web: {port: 80}
constraints:
    size: {min: 1, max: 5}

    services:
        web: {min: 2}   # two for safety
        db:
            max: 1
lease: {initial: 8h}

# Anything below is for people.
links:
- {label: First, url: "http://%ip.self%/"}
`

func set(value any, path ...any) catalog.Set {
	return catalog.Set{Path: path, Value: value}
}

func TestValuesAreSetInPlace(t *testing.T) {
	for _, c := range []struct {
		name       string
		set        catalog.Set
		gone, come string // lines, all others stay as they are
	}{
		{"a value in a flow mapping", set(int64(9), "constraints", "size", "max"), "    size: {min: 1, max: 5}", "    size: {min: 1, max: 9}"},
		{"with a comment behind it", set(int64(3), "constraints", "services", "web", "min"),
			"        web: {min: 2}   # two for safety", "        web: {min: 3} # two for safety"},
		{"deep in blocks", set(int64(4), "constraints", "services", "db", "max"), "            max: 1", "            max: 4"},
		{"a new key beside others", set(int64(1), "constraints", "services", "db", "min"), "", "            min: 1"},
		{"a new part, where such parts stand", set("The shop", "label"), "", "label: The shop"},
		{"a text that looks like a number", set("12", "version"), "", `version: "12"`},
		{"taken out with what is empty then", set(nil, "lease", "initial"), "lease: {initial: 8h}", ""},
		{"taken out alone", set(nil, "constraints", "size", "max"), "    size: {min: 1, max: 5}", "    size: {min: 1}"},
		{"what is not there is not taken out", set(nil, "health", "interval"), "", ""},
		{"names, with what is said of them", set([]string{"db", "lb"}, "defaults", "services"),
			"  services: [web, {name: db, config: {port: 5432}}]", "  services: [{name: db, config: {port: 5432}}, lb]"},
		{"numbers", set([]any{int64(3), "x"}, "constraints", "size", "one_of"), "    size: {min: 1, max: 5}", "    size: {min: 1, max: 5, one_of: [3, x]}"},
		{"groups", set([][]string{{"web", "db"}}, "constraints", "cant_coexist"), "", "    cant_coexist:\n      - [web, db]"},
		{"an entry of a list", set("Second", "links", 0, "label"),
			"- {label: First, url: \"http://%ip.self%/\"}", "  - {label: Second, url: \"http://%ip.self%/\"}"},
		{"an entry more", set("Second", "links", 1, "label"),
			"- {label: First, url: \"http://%ip.self%/\"}", "  - {label: First, url: \"http://%ip.self%/\"}\n  - label: Second"},
		{"a script", set("set -x\necho hello\n", "hooks", 0, "run"), "", "hooks:\n  - run: |\n      set -x\n      echo hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := Texts{}.Set(written, c.set)
			if err != nil {
				t.Fatal(err)
			}
			gone, come := difference(written, out)
			if gone != c.gone || come != c.come {
				t.Errorf("gone:\n%s\ncome:\n%s\nof:\n%s", gone, come, out)
			}
		})
	}
}

func TestEntriesOfListsAreMoved(t *testing.T) {
	const text = `# Ours.
name: a # short
outputs:
  # The first.
  - name: one # 1
    value: "1"
  - {name: two, value: "2"} # flow
  # The last.
  - name: three
    value: |
      # not a comment
      3
links: [{label: a, url: b}, {label: c, url: d}]
`
	const one, two, three = "  # The first.\n  - name: one # 1\n    value: \"1\"\n", "  - {name: two, value: \"2\"} # flow\n",
		"  # The last.\n  - name: three\n    value: |\n      # not a comment\n      3\n"
	for _, c := range []struct {
		name      string
		set       catalog.Set
		old, want string
	}{
		{"down", set(catalog.To(1), "outputs", 0), one + two, two + one},
		{"up", set(catalog.To(1), "outputs", 2), two + three, three + two},
		{"to the end", set(catalog.To(2), "outputs", 0), one + two + three, two + three + one},
		{"nowhere", set(catalog.To(1), "outputs", 1), "", ""},
		{"in a flow list", set(catalog.To(0), "links", 1), "[{label: a, url: b}, {label: c, url: d}]", "[{label: c, url: d}, {label: a, url: b}]"},
	} {
		if out, err := (Texts{}).Set(text, c.set); err != nil || out != strings.Replace(text, c.old, c.want, 1) {
			t.Errorf("%s: %v\n%s", c.name, err, out)
		}
	}
}

func TestAnAnchorStaysBeforeItsAliases(t *testing.T) {
	const text = "name: a\nlinks:\n  - &a {label: a, url: b}\n  - *a\n"
	if out, err := (Texts{}).Set(text, set(catalog.To(1), "links", 0)); app.CodeOf(err) != app.EInvalid {
		t.Errorf("%v\n%s", err, out)
	}
}

// difference returns the lines that only one of two texts has.
func difference(a, b string) (gone, come string) {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return strings.Join(x, "\n"), strings.Join(y, "\n")
}

func TestValuesAreSetInAnEmptyText(t *testing.T) {
	out, err := Texts{}.Set("# mine\n", set("hardware", "kind"), set("small", "name"), set(map[string]any{}, "providers", "a"), set("s-1", "providers", "a", "flavor"))
	if want := "kind: hardware\nname: small\nproviders:\n  a:\n    flavor: s-1\n"; err != nil || !strings.HasSuffix(out, want) {
		t.Fatalf("%q, %v", out, err)
	}
	if out, err = (Texts{}).Set(out, set(nil, "kind"), set(nil, "name"), set(nil, "providers", "a", "flavor")); err != nil || strings.TrimSpace(strings.ReplaceAll(out, "# mine", "")) != "" {
		t.Fatalf("%q, %v", out, err)
	}
}

func TestWhatCannotBeSet(t *testing.T) {
	for _, c := range []struct {
		text string
		set  catalog.Set
		says string
	}{
		{"kind: [", set("x", "name"), "Can't read the text"},
		{"- a\n", set("x", "name"), "isn't a mapping"},
		{"kind: image\n---\nkind: image\n", set("x", "name"), "more than one entry"},
		{"name: a\n", set("x", "name", "b"), "no such path"},
		{"name: a\n", set("x", "links", 3), "no such path"},
		{"name: a\n", set("x"), "no such path"},
		{"links: [a, b]\n", set(catalog.To(2), "links", 0), "no such path"},
		{"links: [a, b]\n", set(catalog.To(-1), "links", 0), "no such path"},
		{"links: [a, b]\n", set(catalog.To(0), "links", 2), "no such path"},
		{"links: [a, b]\n", set(catalog.To(0), "links"), "no such path"},
		{"links: {a: b}\n", set(catalog.To(0), "links", 0), "no such path"},
		{"name: a\n", set(catalog.To(0), "links", 0), "no such path"},
	} {
		out, err := Texts{}.Set(c.text, c.set)
		if app.CodeOf(err) != app.EInvalid || out != "" || !strings.Contains(app.AsError(err).Message, c.says) {
			t.Errorf("%q: %q, %v", c.text, out, err)
		}
	}
	if _, err := (Texts{}).Tree("a: b: c"); app.CodeOf(err) != app.EInvalid {
		t.Errorf("a text that is no YAML: %v", err)
	}
}

// leaves lists the paths of all plain values.
func leaves(n *catalog.Node, at []any) (out [][]any) {
	if !n.Map && !n.List {
		return [][]any{at}
	}
	for i, x := range n.Items {
		var p any = i
		if n.Map {
			p = n.Keys[i]
		}
		out = append(out, leaves(x, append(append([]any{}, at...), p))...)
	}
	return out
}

// TestNothingElseChanges sets and takes out any value of the examples: the text then says just that, and all else that it said.
func TestNothingElseChanges(t *testing.T) {
	var texts []string
	for _, dir := range []string{"catalog", "ha"} {
		files, _ := filepath.Glob(filepath.Join("..", "..", "..", "examples", dir, "*.yaml"))
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, strings.Split(string(b), "\n---\n")...)
		}
	}
	texts = append(texts, written)
	if len(texts) < 10 {
		t.Fatalf("there are %d examples", len(texts))
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(texts).Draw(t, "text")
		tree, err := Texts{}.Tree(text)
		if err != nil {
			t.Fatal(err)
		}
		path := rapid.SampledFrom(leaves(tree, nil)).Draw(t, "path")
		value := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a\nb\n", "yes", "3", "- x", "# no", "a: b", "%x%", " a ", "\n", "a\n\n\n", "~"})).Draw(t, "value")
		if !printable(value) {
			return
		}
		out, err := Texts{}.Set(text, set(value, path...))
		if err != nil {
			t.Fatal(err)
		}
		now, err := Texts{}.Tree(out)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if got := now.At(path...); got == nil || got.Value != value || !got.Text && value != "" {
			t.Fatalf("it says %+v, and not %q:\n%s", got, value, out)
		}
		if strings.Count(out, "#") < strings.Count(text, "#")-strings.Count(tree.At(path...).Value, "#") {
			t.Fatalf("a comment is lost:\n%s", out)
		}
		before, after := leaves(tree, nil), leaves(now, nil)
		if len(before) != len(after) {
			t.Fatalf("%d values, and not %d:\n%s", len(after), len(before), out)
		}
		for _, p := range before {
			if a, b := tree.At(p...), now.At(p...); samePath(p, path) == false && (b == nil || a.Value != b.Value || a.Text != b.Text) {
				t.Fatalf("%v was %+v and is %+v:\n%s", p, a, b, out)
			}
		}
		gone, err := Texts{}.Set(out, set(nil, path...))
		if err != nil {
			t.Fatal(err)
		}
		if tree, err = (Texts{}).Tree(gone); err != nil || len(leaves(tree, nil)) >= len(before) && len(before) > 1 && tree.At(path...) != nil && len(path) > 0 && !inList(path) {
			t.Fatalf("it is still there: %v\n%s", err, gone)
		}
	})
}

func printable(s string) bool {
	for _, r := range s {
		if r < ' ' && r != '\n' || r > 0x7e {
			return false
		}
	}
	return true
}

func samePath(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func inList(path []any) bool {
	for _, p := range path {
		if _, ok := p.(int); ok {
			return true
		}
	}
	return false
}
