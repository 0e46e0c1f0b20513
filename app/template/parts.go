package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/humanize"
)

// Part is one thing that a template says, with where it comes from.
type Part struct {
	Path  string `json:"path"`
	Value string `json:"value"`
	From  string `json:"from"` // the template that says it
	// At is the file and line where it is written; "" for who may not change it.
	At string `json:"at,omitempty"`
}

// Parts lists all that a template says, in the order in which people write it.
func (t *Template) Parts() (list []Part) {
	add := func(value any, path string, at ...string) {
		text, ok := value.(string)
		if !ok {
			text = CatalogText(value)
		}
		p := Part{Path: path, Value: text, From: t.Name, At: t.At(append([]string{path}, at...)...).String()}
		for _, place := range append([]string{path}, at...) {
			if from := t.From[place]; from != "" {
				p.From = from
				break
			}
		}
		list = append(list, p)
	}
	for _, s := range t.Defaults.Services {
		add(s, "defaults.services."+s)
	}
	for _, v := range [][2]string{{"provider", t.Defaults.Provider}, {"hardware", t.Defaults.Hardware}, {"image", t.Defaults.Image}, {"dns_suffix", t.Defaults.DNSSuffix}, {"prefer", string(t.Defaults.Prefer)}} {
		if v[1] != "" {
			add(v[1], "defaults."+v[0])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.Defaults.Config)) {
		add(t.Defaults.Config[key], "defaults.config."+key)
	}
	for _, p := range t.Parameters {
		add(p.summary(), "parameters."+p.Name)
	}
	for _, v := range []struct {
		key   string
		names []string
	}{{"services", t.Compatibility.Services}, {"hardware", t.Compatibility.Hardware}, {"images", t.Compatibility.Images}} {
		for _, n := range v.names {
			add(n, "compatibility."+v.key+"."+n, "compatibility."+v.key)
		}
	}
	// Of what has fields, each is a part: people read words, not how a program keeps them.
	addAll := func(value any, path string) {
		fields, err := Flatten(CatalogText(value))
		if err != nil {
			panic("app: reading a catalog: " + err.Error())
		}
		InWords(fields, path+".")
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			add(fields[field], path+"."+field, path)
		}
	}
	t.constraintParts(add, addAll)
	addAll(t.Lease, "lease")
	for i, l := range t.Links {
		add(l.Label+" "+l.URL, fmt.Sprintf("links[%d]", i))
	}
	for _, o := range t.Outputs {
		add(strings.TrimSpace(string(o.Type)+" "+o.Value), "outputs."+o.Name)
	}
	for _, path := range t.Immutable {
		add(path, "immutable."+path, "immutable")
	}
	if t.Health != nil {
		addAll(t.Health, "health")
	}
	if t.Idle != nil {
		addAll(t.Idle, "idle")
	}
	if t.Scaling != nil {
		addAll(t.Scaling, "scaling")
	}
	for _, a := range t.Actions {
		addAll(a, "actions."+a.Name)
	}
	if t.Batches != nil {
		addAll(t.Batches, "batches")
	}
	if t.PartialResults != nil {
		addAll(t.PartialResults, "partial_results")
	}
	if t.KeepFailed != "" {
		add(string(t.KeepFailed), "keep_failed")
	}
	if t.Labels != nil {
		for _, key := range slices.Sorted(maps.Keys(t.Labels.Defaults)) {
			add(t.Labels.Defaults[key], "labels.defaults."+key, "labels")
		}
		for _, key := range slices.Sorted(maps.Keys(t.Labels.Required)) {
			add(strings.TrimSpace("required. "+t.Labels.Required[key]), "labels.required."+key, "labels")
		}
	}
	if t.Firewall != nil {
		addAll(t.Firewall, "firewall")
	}
	for _, name := range slices.Sorted(maps.Keys(t.FallbackHardware)) {
		add(strings.Join(t.FallbackHardware[name], ", or else "), "fallback_hardware."+name)
	}
	for i, p := range t.Places {
		add(p.Text(), fmt.Sprintf("places[%d]", i))
	}
	if t.PlaceOrder != "" {
		add(string(t.PlaceOrder), "place_order")
	}
	for _, h := range t.Hooks {
		add(strings.TrimSpace(string(h.When)+" "+h.SendTo), "hooks."+h.Name)
	}
	return list
}

func (t *Template) constraintParts(add func(value any, path string, at ...string), addAll func(value any, path string)) {
	c := t.Constraints
	if s := c.Size; len(s.OneOf) > 0 {
		add(s.Text(), "constraints.size")
	} else if s.Min != 1 || s.Max != Unlimited {
		add(rangeWords(s.Min, s.Max), "constraints.size")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Services)) {
		s := c.Services[name]
		words := rangeWords(s.Min, s.Max)
		if !s.MinSet {
			words = rangeWords(1, s.Max)
		}
		if len(s.Hardware) > 0 {
			words += " on " + strings.Join(s.Hardware, ", ")
		}
		if len(s.Images) > 0 {
			words += " with " + strings.Join(s.Images, ", ")
		}
		add(words, "constraints.services."+name)
	}
	for _, v := range []struct {
		key    string
		groups [][]string
	}{{"must_coexist", c.MustCoexist}, {"cant_coexist", c.CantCoexist}, {"cant_coexist_pairs", c.CantCoexistPairs}} {
		for i, g := range v.groups {
			add(strings.Join(g, ", "), fmt.Sprintf("constraints.%s[%d]", v.key, i))
		}
	}
	for i, r := range c.Ratios {
		add(fmt.Sprintf("one %s per %d %s", r.Service, r.Per, r.Of), fmt.Sprintf("constraints.ratios[%d]", i))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Hardware)) {
		add(fmt.Sprintf("at most %d nodes", c.Hardware[name]), "constraints.hardware."+name)
	}
	if c.Zones != nil {
		addAll(c.Zones, "constraints.zones")
	}
	if c.MixedHardware {
		add("true", "constraints.mixed_hardware")
	}
	if c.Hosts != nil {
		addAll(c.Hosts, "constraints.hosts")
	}
}

func rangeWords(least, most int) string {
	switch {
	case most >= Unlimited || most == 0:
		return fmt.Sprintf("%d or more nodes", least)
	case least == 1 && most == 1:
		return "1 node"
	case least == most:
		return fmt.Sprintf("%d nodes", least)
	}
	return fmt.Sprintf("%d to %d nodes", least, most)
}

// summary is a parameter in one line.
func (p Parameter) summary() string {
	words := []string{string(p.Type), strings.TrimSuffix(p.Hint(), ".")}
	if p.Required {
		words = append(words, "required")
	}
	if p.Default != nil {
		b, _ := json.Marshal(p.Default)
		words = append(words, "default "+string(b))
	}
	return strings.Join(append(words, "sets "+strings.Join(p.Targets(), ", ")), "; ")
}

// NoTemplate says that there is none, with the nearest name.
func (c *Catalog) NoTemplate(name string) error {
	e := app.Errorf(app.ENotFound, "Template %.70q doesn't exist.", name)
	e.Field = "template"
	if near := humanize.Nearest(name, slices.Collect(maps.Keys(c.Templates))); near != "" {
		e.Hint = "Did you mean " + near + "?"
	}
	return e
}
