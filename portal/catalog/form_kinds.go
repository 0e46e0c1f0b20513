package catalog

import (
	"slices"
	"strconv"

	"muster/app/catalog"
	"muster/app/family"
	"muster/app/template"
)

func (b *formBuilder) template() {
	state := b.choose("State", "published (default)", plainWords(template.TemplateStates), "state")
	s := b.section("State", "Users see a template once it is published.", state, b.text("Version", "version"),
		b.choose("Instead of it", "none", without(b.names[template.KindTemplate], []string{b.tree.At("name").String()}), "replaced_by"),
		b.choose("Extends", "nothing", without(b.names[template.KindTemplate], []string{b.tree.At("name").String()}), "extends"),
		b.list("Includes", template.KindTemplate, "includes"), b.tick("Only a part of other templates", "partial"))
	s.Open = true

	s = b.section("What it gives", "Used where a request does not choose.", b.list("Services", template.KindService, "defaults", "services"),
		b.choose("Provider", "none", b.names[template.KindProvider], "defaults", "provider"),
		b.choose("Hardware", "any compatible", b.names[template.KindHardware], "defaults", "hardware"),
		b.choose("Image", "any compatible", b.names[template.KindImage], "defaults", "image"), b.text("Domain", "defaults", "dns_suffix"))
	s.Fields[0].Wide = true
	s.Open = true
	b.section("What people may choose instead", "Where a list is empty, everything is allowed.", b.list("Services", template.KindService, "compatibility", "services"),
		b.list("Hardware", template.KindHardware, "compatibility", "hardware"), b.list("Images", template.KindImage, "compatibility", "images"))

	sizes := b.field(fieldWholes, "Only these sizes", "constraints", "size", "one_of")
	sizes.Placeholder, sizes.Wide = "3, 5, 7", true
	s = b.section("Size", "", b.whole("Fewest nodes", "constraints", "size", "min"), b.whole("Most nodes", "constraints", "size", "max"), sizes,
		b.tick("Equal nodes may differ in hardware and image", "constraints", "mixed_hardware"), b.whole("Zones differ by at most", "constraints", "zones", "max_skew"))
	s.Open = true
	b.limits()
	b.section("Together and apart", "One group in each line: web, db",
		b.area(FieldGroups, "All or none on a node", "web, proxy", "constraints", "must_coexist"),
		b.area(FieldGroups, "Never all on a node", "web, db", "constraints", "cant_coexist"),
		b.area(FieldGroups, "No two on a node", "web, db, queue", "constraints", "cant_coexist_pairs"),
		b.ratios())
	b.parameters()
	b.section("Lease", "How long clusters live.", b.span("At first", "8h", "lease", "initial"), b.span("In all", "30d", "lease", "max"), b.span("Prolonged by", "1d", "lease", "step"))
	b.section("Health and missing machines", "", b.span("Look every", "1m", "health", "interval"), b.choose("Repair", "off (default)", []string{"auto", "off"}, "health", "repair"),
		b.span("Go on with at least", "60%", "survivors", "at_least"), b.choose("Ask again for the others", "on (default)", []string{"on", "off"}, "survivors", "top_up"))
	b.section("Firewall", "What reaches the machines from outside, beside SSH. Where nothing stands, whatever the account does by itself.", b.firewall())
	b.linkRows()
}

// firewall is written a rule in each line where all of them are written so in the text; else they are left to it.
func (b *formBuilder) firewall() *Field {
	f := b.area(FieldLines, "Open", "443 from anywhere", "firewall", "open")
	for _, x := range itemsOf(b.tree.At("firewall", "open")) {
		if x.Map || x.List {
			f.Fixed, f.Value, f.Help = true, "", "They are written at full length; change them in the text."
		}
	}
	return f
}

// ratios are written one in each line where all of them are written so in the text; else they are left to it.
func (b *formBuilder) ratios() *Field {
	f := b.area(FieldLines, "Ratios", "one proxy per 10 app", "constraints", "ratios")
	for _, x := range itemsOf(b.tree.At("constraints", "ratios")) {
		if x.Map || x.List {
			f.Fixed, f.Value, f.Help = true, "", "They are written at full length; change them in the text."
		}
	}
	return f
}

func itemsOf(n *catalog.CatalogNode) []*catalog.CatalogNode {
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
	s := b.section("Limits of services", "How many nodes have a service, and of which kind those are.")
	have := slices.Clone(b.keys("constraints", "services"))
	for _, name := range have {
		at := []any{"constraints", "services", name}
		under := func(key string) []any { return append(slices.Clone(at), key) }
		s.Rows = append(s.Rows, Row{Title: name, Remove: "remove:" + fieldName(at), Fields: []*Field{
			b.whole("Fewest nodes", under("min")...), b.whole("Most nodes", under("max")...),
			b.list("Only on hardware", template.KindHardware, under("hardware")...), b.list("Only on images", template.KindImage, under("images")...),
		}})
	}
	s.Add = &Add{Label: "Add limits", Value: "addnamed:f/constraints/services", Field: "new-limits", Choices: without(b.tree.At("defaults", "services").Names(), have)}
	s.Open = len(s.Rows) > 0
}

func (b *formBuilder) parameters() {
	s := b.section("Parameters", "Fields of the form for a new cluster.")
	n := b.length("parameters")
	for i := range n {
		at := func(key string) []any { return []any{"parameters", i, key} }
		title := b.tree.At(at("name")...).String()
		if title == "" {
			title = "Parameter " + strconv.Itoa(i+1)
		}
		kind := b.choose("Type", "choose one", plainWords(template.ParameterTypes), at("type")...)
		fields := []*Field{b.text("Name", at("name")...), b.text("Title", at("label")...), kind, b.field(fieldScalar, "Default", at("default")...),
			b.field(fieldScalar, "Least", at("min")...), b.field(fieldScalar, "Greatest", at("max")...)}
		if kind.Value == "choice" {
			fields = append(fields, b.options(i))
		}
		to := b.list("Sets", "targets", at("to")...)
		to.Placeholder = "config.web.port"
		fields = append(fields, to, b.tick("Must have a value", at("required")...))
		help := b.text("Help", at("help")...)
		help.Wide = true
		s.Rows = append(s.Rows, Row{Title: title, Remove: "remove:" + fieldName([]any{"parameters", i}), Fields: append(fields, help)})
	}
	s.Add = &Add{Label: "Add a parameter", Value: "add:f/parameters/" + strconv.Itoa(n) + "/name"}
	s.Open = n > 0
}

// options are names; one that has a label is left to the text.
func (b *formBuilder) options(i int) *Field {
	f := b.field(fieldNames, "Options", "parameters", i, "options")
	for _, x := range itemsOf(b.tree.At("parameters", i, "options")) {
		if x.Map {
			f.Fixed, f.Value, f.Help = true, "", "They have labels; change them in the text."
		}
	}
	return f
}

func (b *formBuilder) hardware() {
	b.perProvider("Sizes at providers", "What each provider calls this size of machine.", func(at func(string) []any) []*Field {
		return []*Field{b.text("Flavor", at("flavor")...), b.number("Cores", at("cpu")...), b.number("Memory, GiB", at("memory_gb")...),
			b.number("Disk, GiB", at("disk_gb")...), b.number("Cost per hour", at("cost_per_hour")...), b.number("Asleep, per hour", at("asleep_cost_per_hour")...)}
	})
}

func (b *formBuilder) image() {
	b.perProvider("Images at providers", "What each provider calls this operating system.", func(at func(string) []any) []*Field {
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
	s.Add = &Add{Label: "Add a provider", Value: "addnamed:f/providers", Field: "new-provider", Choices: without(b.names[template.KindProvider], have)}
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
	kind := b.choose("Type", "choose one", types, "type")
	rate := b.text("Rate of calls", "rate")
	rate.Placeholder = "600/m"
	s := b.section("Kind of cloud", "", kind, rate, b.list("Zones", "zones", "zones"))
	s.Open = true
	if of == nil {
		return
	}
	kind.Help = of.Description
	var fields []*Field
	for _, f := range of.Fields {
		fields = append(fields, b.setting(f, "settings", f.Name))
	}
	s = b.section("Settings", "What "+of.Name+" needs to know.", fields...)
	s.Open = true
}

// setting is the field that a descriptor declares.
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
	f.Help, f.Told = d.Help, true
	if d.Required {
		f.Label += " (required)"
	}
	return f
}
