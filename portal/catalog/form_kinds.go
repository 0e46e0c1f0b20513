package catalog

import (
	"slices"
	"strconv"

	"muster/app/catalog"
	"muster/app/family"
	"muster/app/template"
)

func (b *formBuilder) template() {
	state := b.choose("State", "published (default)", plainWords(template.States), "state")
	s := b.section("State", "Users see published templates only.", state, b.text("Version", "version"),
		b.choose("Replacement", "none", without(b.names[template.KindTemplate], []string{b.tree.At("name").String()}), "replaced_by"),
		b.choose("Extends", "nothing", without(b.names[template.KindTemplate], []string{b.tree.At("name").String()}), "extends"),
		b.list("Includes", template.KindTemplate, "includes"), b.tick("Partial (only for use in other templates)", "partial"))
	s.Open = true

	s = b.section("Defaults", "Used if a request doesn't choose.", b.list("Services", template.KindService, "defaults", "services"),
		b.choose("Provider", "none", b.names[template.KindProvider], "defaults", "provider"),
		b.choose("Hardware", "any compatible", b.names[template.KindHardware], "defaults", "hardware"),
		b.choose("Image", "any compatible", b.names[template.KindImage], "defaults", "image"), b.text("Domain", "defaults", "dns_suffix"))
	s.Fields[0].Wide = true
	s.Open = true
	b.section("Allowed alternatives", "Leave a list empty to allow everything.", b.list("Services", template.KindService, "compatibility", "services"),
		b.list("Hardware", template.KindHardware, "compatibility", "hardware"), b.list("Images", template.KindImage, "compatibility", "images"))

	sizes := b.field(fieldWholes, "Allowed sizes", "constraints", "size", "one_of")
	sizes.Placeholder, sizes.Wide = "3, 5, 7", true
	s = b.section("Size", "", b.whole("Minimum nodes", "constraints", "size", "min"), b.whole("Maximum nodes", "constraints", "size", "max"), sizes,
		b.tick("Allow mixed hardware and images for equal nodes", "constraints", "mixed_hardware"), b.whole("Maximum difference between zones", "constraints", "zones", "max_skew"))
	s.Open = true
	b.limits()
	b.section("Service placement", "One group per line, such as web, db",
		b.area(FieldGroups, "Always together on a node", "web, proxy", "constraints", "must_coexist"),
		b.area(FieldGroups, "Never all together on a node", "web, db", "constraints", "cant_coexist"),
		b.area(FieldGroups, "Never two on the same node", "web, db, queue", "constraints", "cant_coexist_pairs"),
		b.ratios())
	b.parameters()
	b.outputs()
	b.savedActions()
	b.section("Lease", "When clusters expire.", b.span("Initial", "8h", "lease", "initial"), b.span("Maximum", "30d", "lease", "max"), b.span("Extension", "1d", "lease", "step"))
	b.section("Health and missing machines", "", b.span("Check interval", "1m", "health", "interval"), b.choose("Repair", "off (default)", []string{"auto", "off"}, "health", "repair"),
		b.span("Minimum available", "60%", "partial_results", "min_available"), b.choose("Backfill", "on (default)", []string{"on", "off"}, "partial_results", "backfill"))
	b.section("Firewall", "Inbound traffic allowed in addition to SSH. Leave empty for the account's default.", b.firewall())
	b.linkRows()
}

// firewall has one rule per line if the YAML uses the short form; otherwise it's edited in YAML only.
func (b *formBuilder) firewall() *Field {
	f := b.area(FieldLines, "Open", "443 from anywhere", "firewall", "open")
	for _, x := range itemsOf(b.tree.At("firewall", "open")) {
		if x.Map || x.List {
			f.Fixed, f.Value, f.Help = true, "", "Uses the long form; edit it in YAML."
		}
	}
	return f
}

// ratios has one ratio per line if the YAML uses the short form; otherwise it's edited in YAML only.
func (b *formBuilder) ratios() *Field {
	f := b.area(FieldLines, "Ratios", "one proxy per 10 app", "constraints", "ratios")
	for _, x := range itemsOf(b.tree.At("constraints", "ratios")) {
		if x.Map || x.List {
			f.Fixed, f.Value, f.Help = true, "", "Uses the long form; edit it in YAML."
		}
	}
	return f
}

func itemsOf(n *catalog.Node) []*catalog.Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// plainWords returns words of any kind as texts.
func plainWords[S ~string](words []S) (out []string) {
	for _, w := range words {
		out = append(out, string(w))
	}
	return out
}

func (b *formBuilder) limits() {
	s := b.section("Service limits", "Number and kind of nodes with a service.")
	have := slices.Clone(b.keys("constraints", "services"))
	for _, name := range have {
		at := []any{"constraints", "services", name}
		under := func(key string) []any { return append(slices.Clone(at), key) }
		s.Rows = append(s.Rows, Row{Title: name, Remove: "remove:" + fieldName(at), Fields: []*Field{
			b.whole("Minimum nodes", under("min")...), b.whole("Maximum nodes", under("max")...),
			b.list("Allowed hardware", template.KindHardware, under("hardware")...), b.list("Allowed images", template.KindImage, under("images")...),
		}})
	}
	s.Add = &Add{Label: "Add limit", Value: "addnamed:f/constraints/services", Field: "new-limits", Choices: without(b.tree.At("defaults", "services").Names(), have)}
	s.Open = len(s.Rows) > 0
}

func (b *formBuilder) parameters() {
	s := b.section("Parameters", "Fields in the form for new clusters.")
	n := b.length("parameters")
	for i := range n {
		at := func(key string) []any { return []any{"parameters", i, key} }
		kind := b.choose("Type", "Select…", plainWords(template.ParameterTypes), at("type")...)
		fields := []*Field{b.text("Name", at("name")...), b.text("Title", at("label")...), kind, b.field(fieldScalar, "Default", at("default")...),
			b.field(fieldScalar, "Minimum", at("min")...), b.field(fieldScalar, "Maximum", at("max")...)}
		if kind.Value == "choice" {
			fields = append(fields, b.options(i))
		}
		to := b.list("Sets", "targets", at("to")...)
		to.Placeholder = "config.web.port"
		fields = append(fields, to, b.tick("Required", at("required")...))
		s.Rows = append(s.Rows, b.row("Parameter", "parameters", i, append(fields, b.line("Help", at("help")...))...))
	}
	s.Add = &Add{Label: "Add parameter", Value: "add:f/parameters/" + strconv.Itoa(n) + "/name"}
	s.Open = n > 0
}

// options are names; options with labels are edited in YAML only.
func (b *formBuilder) options(i int) *Field {
	f := b.field(fieldNames, "Options", "parameters", i, "options")
	for _, x := range itemsOf(b.tree.At("parameters", i, "options")) {
		if x.Map {
			f.Fixed, f.Value, f.Help = true, "", "Options have labels; edit them in YAML."
		}
	}
	return f
}

func (b *formBuilder) hardware() {
	b.perProvider("Provider sizes", "Each provider's name for this size.", func(at func(string) []any) []*Field {
		return []*Field{b.text("Flavor", at("flavor")...), b.number("Cores", at("cpu")...), b.number("Memory (GiB)", at("memory_gb")...),
			b.number("Disk (GiB)", at("disk_gb")...), b.number("GPUs", at("gpus")...), b.text("GPU model", at("gpu")...),
			b.number("Cost per hour", at("cost_per_hour")...), b.number("Cost per hour asleep", at("asleep_cost_per_hour")...)}
	})
}

func (b *formBuilder) image() {
	b.perProvider("Provider images", "Each provider's name for this operating system.", func(at func(string) []any) []*Field {
		user := b.text("SSH user", at("ssh_user")...)
		user.Placeholder = "root"
		return []*Field{b.text("Image", at("image")...), user}
	})
}

// perProvider has a row for each provider.
func (b *formBuilder) perProvider(title, help string, fields func(at func(string) []any) []*Field) {
	s := b.section(title, help)
	have := b.keys("providers")
	for _, name := range have {
		at := func(key string) []any { return []any{"providers", name, key} }
		s.Rows = append(s.Rows, Row{Title: name, Remove: "remove:f/providers/" + name, Fields: fields(at)})
	}
	s.Add = &Add{Label: "Add provider", Value: "addnamed:f/providers", Field: "new-provider", Choices: without(b.names[template.KindProvider], have)}
	s.Open = true
}

func (b *formBuilder) provider() {
	var types []string
	var of *family.Descriptor
	for i, d := range b.families.Providers {
		types = append(types, d.Name)
		if d.Name == b.tree.At("type").String() {
			of = &b.families.Providers[i]
		}
	}
	kind := b.choose("Type", "Select…", types, "type")
	rate := b.text("Rate limit", "rate")
	rate.Placeholder = "600/m"
	s := b.section("Provider type", "", kind, rate, b.list("Zones", "zones", "zones"))
	s.Open = true
	if of == nil {
		return
	}
	kind.Help = of.Description
	var fields []*Field
	for _, f := range of.Fields {
		fields = append(fields, b.setting(f, "settings", f.Name))
	}
	s = b.section("Settings", "Account settings of "+of.Name+".", fields...)
	s.Open = true
}

// setting is a field that a descriptor declares.
func (b *formBuilder) setting(d family.Field, path ...any) *Field {
	label, kind := d.Label, d.Kind()
	if label == "" {
		label = d.Name
	}
	said := b.tree.At(path...).String()
	var f *Field
	switch {
	case d.Secret && kind == family.FieldLines:
		f = b.field(FieldSecretLines, label, path...)
		f.Wide = true
	case d.Secret:
		f = b.field(FieldSecret, label, path...)
	case kind == family.FieldBool && (said == "" || said == "true" || said == "false"):
		f = b.field(FieldSwitch, label, path...)
		f.Placeholder = d.Default
	case kind == family.FieldChoice && len(d.Options) > 0:
		none := "default"
		if d.Default != "" {
			none = d.Default + " (default)"
		}
		f = b.choose(label, none, d.Options, path...)
	case kind == family.FieldLines:
		f = b.area(FieldCode, label, d.Default, path...)
	case kind == family.FieldInt:
		f = b.whole(label, path...)
		f.Placeholder = d.Default
	case d.Type == family.FieldText:
		f = b.text(label, path...)
		f.Placeholder = d.Default
	case kind == family.FieldList:
		f = b.text(label, path...)
		f.Placeholder = d.Default
		if d.Default == "" {
			f.Placeholder = "a, b, c"
		}
	default:
		f = b.field(fieldScalar, label, path...)
		f.Placeholder = d.Default
	}
	f.Help, f.HelpBelow = d.Help, true
	if d.Required {
		f.Label += " (required)"
	}
	return f
}
