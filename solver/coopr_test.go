package solver

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/request"
)

// reference is where a checkout may have Coopr's own answers beside it.
const reference = "../../shared/reference"

// example is a question with the answer that we want: a layout or, with kind set, a refusal.
type example struct {
	name    string
	catalog *template.Catalog
	request layout.Request
	groups  []layout.NodeGroup
	kind    string
	message string // "" where any will do
	any     bool   // any layout that places every service, not a certain one
}

// What follows decodes the little of Coopr's JSON that a layout depends on.

type cooprService struct {
	Name         string
	Dependencies struct {
		Provides, Conflicts []string
		Install, Runtime    struct{ Requires []string }
	}
}

type cooprTemplate struct {
	Name     string
	Defaults struct {
		Services                          []json.RawMessage
		Provider, Hardwaretype, Imagetype string
	}
	Compatibility struct{ Services, Hardwaretypes, Imagetypes []string }
	Constraints   struct {
		Layout   struct{ Mustcoexist, Cantcoexist [][]string }
		Services map[string]struct {
			Hardwaretypes, Imagetypes []string
			Quantities                struct{ Min, Max *int }
		}
		Size struct{ Min, Max *int }
	}
}

type cooprType struct {
	Name        string
	Providermap map[string]struct{ Flavor, Image string }
}

type cooprDefinitions struct {
	Providers        []struct{ Name, Providertype string }
	Hardwaretypes    []cooprType
	Imagetypes       []cooprType
	Services         []cooprService
	Clustertemplates []cooprTemplate
}

type cooprGroup struct {
	Count                   int
	Hardwaretype, Imagetype string
	Services                []string
}

type cooprCase struct {
	Name           string
	DefinitionsRef string `json:"definitions_ref"`
	Definitions    cooprDefinitions
	Request        struct {
		ClusterTemplate, Provider, Hardwaretype, Imagetype string
		NumMachines                                        int
		Services                                           []string
	}
	Expected struct {
		Layout []cooprGroup
		Error  *struct{ Kind, Message string }
	}
	Quirk struct {
		FalseNegative *struct{} `json:"false_negative"`
		NotPlaced     []string  `json:"services_not_placed"`
		PlacingAll    []cooprGroup
	} `json:"oracle_quirk"`
}

func (d *cooprDefinitions) addTo(c *template.Catalog) {
	for _, p := range d.Providers {
		c.Providers[p.Name] = &template.ProviderSpec{About: template.About{Name: p.Name}, Type: p.Providertype}
	}
	for _, h := range d.Hardwaretypes {
		t := &template.HardwareType{About: template.About{Name: h.Name}, Providers: map[string]template.Flavor{}}
		for provider, m := range h.Providermap {
			t.Providers[provider] = template.Flavor{Flavor: m.Flavor}
		}
		c.Hardware[h.Name] = t
	}
	for _, i := range d.Imagetypes {
		t := &template.ImageType{About: template.About{Name: i.Name}, Providers: map[string]template.Image{}}
		for provider, m := range i.Providermap {
			t.Providers[provider] = template.Image{Image: m.Image}
		}
		c.Images[i.Name] = t
	}
	for _, s := range d.Services {
		c.Services[s.Name] = &template.Service{About: template.About{Name: s.Name}, Provides: s.Dependencies.Provides,
			Conflicts: s.Dependencies.Conflicts,
			Install:   template.Dependencies{Requires: s.Dependencies.Install.Requires},
			Runtime:   template.Dependencies{Requires: s.Dependencies.Runtime.Requires}}
	}
	for _, t := range d.Clustertemplates {
		c.Templates[t.Name] = t.template()
	}
}

func (t *cooprTemplate) template() *template.Template {
	out := &template.Template{About: template.About{Name: t.Name}}
	for _, raw := range t.Defaults.Services {
		var name string
		if json.Unmarshal(raw, &name) != nil {
			var full struct{ Name string }
			_ = json.Unmarshal(raw, &full)
			name = full.Name
		}
		out.Defaults.Services = append(out.Defaults.Services, name)
	}
	out.Defaults.Provider, out.Defaults.Hardware, out.Defaults.Image =
		t.Defaults.Provider, t.Defaults.Hardwaretype, t.Defaults.Imagetype
	out.Compatibility = template.Compatibility{Services: t.Compatibility.Services, Hardware: t.Compatibility.Hardwaretypes,
		Images: t.Compatibility.Imagetypes}
	out.Constraints = template.Constraints{MustCoexist: t.Constraints.Layout.Mustcoexist,
		CantCoexist: t.Constraints.Layout.Cantcoexist, Services: map[string]template.ServiceConstraint{},
		Size: template.SizeRange{Min: or(t.Constraints.Size.Min, 1), Max: or(t.Constraints.Size.Max, template.Unlimited)}}
	for name, s := range t.Constraints.Services {
		out.Constraints.Services[name] = template.ServiceConstraint{Hardware: s.Hardwaretypes, Images: s.Imagetypes,
			Min: or(s.Quantities.Min, 0), MinSet: s.Quantities.Min != nil, Max: or(s.Quantities.Max, template.Unlimited)}
	}
	return out
}

func or(n *int, otherwise int) int {
	if n == nil {
		return otherwise
	}
	return *n
}

// definitionFiles reads a folder of definitions as if they were one.
func definitionFiles(t *testing.T, folder string) *cooprDefinitions {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no definitions in %s: %v", folder, err)
	}
	byKind := map[string][]json.RawMessage{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kind := filepath.Base(filepath.Dir(file))
		byKind[kind] = append(byKind[kind], raw)
	}
	joined, err := json.Marshal(byKind)
	if err != nil {
		t.Fatal(err)
	}
	d := &cooprDefinitions{}
	if err := json.Unmarshal(joined, d); err != nil {
		t.Fatal(err)
	}
	return d
}

// referenceExamples reads Coopr's answers, or returns nil where there are none beside the checkout.
func referenceExamples(t *testing.T) []example {
	t.Helper()
	file, err := os.Open(filepath.Join(reference, "solver-cases.jsonl"))
	if err != nil {
		return nil
	}
	defer file.Close()
	shared := definitionFiles(t, filepath.Join(reference, "coopr-definitions"))
	var out []example
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c cooprCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		var placing struct {
			Quirk struct {
				All []cooprGroup `json:"layout_placing_every_service"`
			} `json:"oracle_quirk"`
		}
		if err := json.Unmarshal(lines.Bytes(), &placing); err != nil {
			t.Fatal(err)
		}
		c.Quirk.PlacingAll = placing.Quirk.All
		out = append(out, c.example(shared))
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// example returns the answer we want. Where Coopr's has a quirk it is the better one: whatever was asked for is placed,
// unless its minimum was written as 0.
func (c *cooprCase) example(shared *cooprDefinitions) example {
	e := example{name: c.Name, catalog: template.NewCatalog()}
	if c.DefinitionsRef != "" {
		shared.addTo(e.catalog)
	}
	c.Definitions.addTo(e.catalog)
	e.request = layout.Request{Template: c.Request.ClusterTemplate, Size: c.Request.NumMachines,
		Provider: c.Request.Provider, Services: c.Request.Services, Hardware: c.Request.Hardwaretype,
		Image: c.Request.Imagetype}
	if c.Expected.Error != nil {
		e.kind, e.message = c.Expected.Error.Kind, c.Expected.Error.Message
	}
	groups := c.Expected.Layout
	optional := true
	for _, name := range c.Quirk.NotPlaced {
		constraint := e.catalog.Templates[e.request.Template].Constraints.Services[name]
		optional = optional && constraint.MinSet && constraint.Min == 0
	}
	switch {
	case c.Quirk.FalseNegative != nil:
		e.kind, e.message, e.any = "", "", true
	case !optional && c.Quirk.PlacingAll == nil:
		e.kind = request.NoSolution
	case !optional:
		groups = c.Quirk.PlacingAll
	}
	for _, g := range groups {
		e.groups = append(e.groups, layout.NodeGroup{Count: g.Count, Hardware: g.Hardwaretype, Image: g.Imagetype,
			Services: g.Services})
	}
	return e
}
