package solver

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/app/layout"
	apptemplate "muster/app/template"
)

// testdata/cases.txt holds questions and answers as readable text. Its lines are words; the first says what the line
// is, and an indented line belongs to the one above. A base is providers, types and services, a template is one
// template, a case is a question about both with the answer: groups of nodes ("node"), or "refuse".

const casesFile = "testdata/cases.txt"

var update = flag.Bool("update", false, "write "+casesFile+" again from the reference beside the checkout")

func TestCases(t *testing.T) {
	if *update {
		writeCases(t)
	}
	text, err := os.ReadFile(casesFile)
	if err != nil {
		t.Fatal(err)
	}
	examples := readCases(t, string(text))
	if len(examples) < 181 {
		t.Errorf("only %d cases", len(examples))
	}
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) { e.check(t) })
	}
}

// writer returns equal blocks of text the same name.
type writer struct {
	out   strings.Builder
	names map[string]string
}

func (w *writer) block(kind, text string) string {
	if w.names[kind+text] == "" {
		w.names[kind+text] = fmt.Sprint(kind, len(w.names))
		fmt.Fprintf(&w.out, "%s %s\n%s", kind, w.names[kind+text], text)
	}
	return w.names[kind+text]
}

func writeCases(t *testing.T) {
	t.Helper()
	w := &writer{names: map[string]string{}}
	examples := referenceExamples(t)
	slices.SortFunc(examples, func(a, b example) int { return strings.Compare(a.name, b.name) })
	for _, e := range examples {
		base, template := w.block("base", baseText(e.catalog)), "none"
		if tm := e.catalog.Templates[e.request.Template]; tm != nil {
			template = w.block("template", templateText(tm))
		}
		fmt.Fprintf(&w.out, "case %s %s %s\n", e.name, base, template)
		r := e.request
		fmt.Fprintf(&w.out, "  ask template=%s size=%d provider=%s hardware=%s image=%s services=%s\n", r.Template, r.Size,
			r.Provider, r.Hardware, r.Image, strings.Join(r.Services, ","))
		if e.kind != "" {
			fmt.Fprintf(&w.out, "  refuse %s %q\n", e.kind, e.message)
		}
		if e.any {
			w.out.WriteString("  any\n")
			continue
		}
		for _, g := range e.groups {
			if e.kind == "" {
				fmt.Fprintf(&w.out, "  node %d %s %s %s\n", g.Count, g.Hardware, g.Image, strings.Join(g.Services, ","))
			}
		}
	}
	if err := os.WriteFile(casesFile, []byte(w.out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func baseText(c *apptemplate.Catalog) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  providers %s\n", strings.Join(sorted(c.Providers), ","))
	for _, name := range sorted(c.Hardware) {
		fmt.Fprintf(&b, "  hardware %s %s\n", name, strings.Join(sorted(c.Hardware[name].Providers), ","))
	}
	for _, name := range sorted(c.Images) {
		fmt.Fprintf(&b, "  image %s %s\n", name, strings.Join(sorted(c.Images[name].Providers), ","))
	}
	for _, name := range sorted(c.Services) {
		s := c.Services[name]
		fmt.Fprintf(&b, "  service %s requires=%s provides=%s conflicts=%s\n", name,
			strings.Join(slices.Concat(s.Install.Requires, s.Runtime.Requires), ","),
			strings.Join(s.Provides, ","), strings.Join(s.Conflicts, ","))
	}
	return b.String()
}

func templateText(t *apptemplate.Template) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  default provider=%s hardware=%s image=%s services=%s\n", t.Defaults.Provider, t.Defaults.Hardware,
		t.Defaults.Image, strings.Join(t.Defaults.Services, ","))
	fmt.Fprintf(&b, "  allow hardware=%s image=%s services=%s\n", strings.Join(t.Compatibility.Hardware, ","),
		strings.Join(t.Compatibility.Images, ","), strings.Join(t.Compatibility.Services, ","))
	fmt.Fprintf(&b, "  size min=%d max=%d\n", t.Constraints.Size.Min, t.Constraints.Size.Max)
	for _, g := range t.Constraints.MustCoexist {
		fmt.Fprintf(&b, "  must %s\n", strings.Join(g, ","))
	}
	for _, g := range t.Constraints.CantCoexist {
		fmt.Fprintf(&b, "  cant %s\n", strings.Join(g, ","))
	}
	for _, name := range sorted(t.Constraints.Services) {
		s := t.Constraints.Services[name]
		low, high := "", ""
		if s.MinSet {
			low = fmt.Sprint(s.Min)
		}
		if s.Max != apptemplate.Unlimited {
			high = fmt.Sprint(s.Max)
		}
		fmt.Fprintf(&b, "  on %s min=%s max=%s hardware=%s image=%s\n", name, low, high, strings.Join(s.Hardware, ","),
			strings.Join(s.Images, ","))
	}
	return b.String()
}

// reader builds examples line by line.
type reader struct {
	bases     map[string]*apptemplate.Catalog
	templates map[string]*apptemplate.Template
	base      *apptemplate.Catalog
	template  *apptemplate.Template
	out       []example
}

func readCases(t *testing.T, text string) []example {
	t.Helper()
	r := &reader{bases: map[string]*apptemplate.Catalog{}, templates: map[string]*apptemplate.Template{}}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Fields(line)
		fields := map[string]string{}
		for _, w := range words {
			if k, v, ok := strings.Cut(w, "="); ok {
				fields[k] = v
			}
		}
		if !r.line(line, words, fields) {
			t.Fatalf("%s:%d: cannot read %q", casesFile, i+1, line)
		}
	}
	return r.out
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func number(s string, otherwise int) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return otherwise
}

func (r *reader) line(line string, words []string, f map[string]string) bool {
	switch words[0] {
	case "base":
		r.base = apptemplate.NewCatalog()
		r.bases[words[1]] = r.base
	case "template":
		r.template = &apptemplate.Template{Constraints: apptemplate.Constraints{Services: map[string]apptemplate.ServiceConstraint{}}}
		r.templates[words[1]] = r.template
	case "case":
		c := *r.bases[words[2]]
		c.Templates = map[string]*apptemplate.Template{}
		r.template = r.templates[words[3]]
		r.out = append(r.out, example{name: words[1], catalog: &c})
	case "providers", "hardware", "image", "service":
		r.baseLine(words, f)
	case "default", "allow", "size", "must", "cant", "on":
		r.templateLine(words, f)
	case "ask", "refuse", "any", "node":
		r.caseLine(line, words, f)
	default:
		return false
	}
	return true
}

func (r *reader) baseLine(words []string, f map[string]string) {
	about := apptemplate.About{Name: words[1]}
	var on []string
	if len(words) == 3 {
		on = list(words[2])
	}
	switch words[0] {
	case "providers":
		for _, name := range list(words[1]) {
			r.base.Providers[name] = &apptemplate.ProviderSpec{About: apptemplate.About{Name: name}}
		}
	case "hardware":
		h := &apptemplate.HardwareType{About: about, Providers: map[string]apptemplate.Flavor{}}
		for _, p := range on {
			h.Providers[p] = apptemplate.Flavor{Flavor: words[1]}
		}
		r.base.Hardware[words[1]] = h
	case "image":
		i := &apptemplate.ImageType{About: about, Providers: map[string]apptemplate.Image{}}
		for _, p := range on {
			i.Providers[p] = apptemplate.Image{Image: words[1]}
		}
		r.base.Images[words[1]] = i
	case "service":
		r.base.Services[words[1]] = &apptemplate.Service{About: about, Provides: list(f["provides"]), Conflicts: list(f["conflicts"]),
			Runtime: apptemplate.Dependencies{Requires: list(f["requires"])}}
	}
}

func (r *reader) templateLine(words []string, f map[string]string) {
	c := &r.template.Constraints
	switch words[0] {
	case "default":
		r.template.Defaults = apptemplate.Defaults{Provider: f["provider"], Hardware: f["hardware"], Image: f["image"],
			Services: list(f["services"])}
	case "allow":
		r.template.Compatibility = apptemplate.Compatibility{Hardware: list(f["hardware"]), Images: list(f["image"]),
			Services: list(f["services"])}
	case "size":
		c.Size = apptemplate.SizeRange{Min: number(f["min"], 1), Max: number(f["max"], apptemplate.Unlimited)}
	case "must":
		c.MustCoexist = append(c.MustCoexist, list(words[1]))
	case "cant":
		c.CantCoexist = append(c.CantCoexist, list(words[1]))
	case "on":
		c.Services[words[1]] = apptemplate.ServiceConstraint{Hardware: list(f["hardware"]), Images: list(f["image"]),
			Min: number(f["min"], 0), MinSet: f["min"] != "", Max: number(f["max"], apptemplate.Unlimited)}
	}
}

func (r *reader) caseLine(line string, words []string, f map[string]string) {
	e := &r.out[len(r.out)-1]
	switch words[0] {
	case "ask":
		e.request = layout.Request{Template: f["template"], Size: number(f["size"], 0), Provider: f["provider"],
			Hardware: f["hardware"], Image: f["image"], Services: list(f["services"])}
		if r.template != nil {
			e.catalog.Templates[f["template"]] = r.template
		}
	case "refuse":
		e.kind = words[1]
		e.message, _ = strconv.Unquote(strings.TrimSpace(strings.SplitN(line, words[1], 2)[1]))
	case "any":
		e.any = true
	case "node":
		e.groups = append(e.groups, layout.NodeGroup{Count: number(words[1], 0), Hardware: words[2], Image: words[3],
			Services: list(words[4])})
	}
}
