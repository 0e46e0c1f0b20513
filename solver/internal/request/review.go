package request

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"muster/app"
	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/template"
)

// Flaw is one thing for which a request cannot be asked, with how it might be fixed; the best guess comes first.
type Flaw struct {
	*app.Error
	Repairs []Repair
}

// Repair is a change of the request, with what it is in words.
type Repair struct {
	Text  string // "" for another size, which is said last and once
	Apply func(r *layout.Request)
}

// reviewer looks through a request. template and provider are nil and "" where they are not known.
type reviewer struct {
	c        *template.Catalog
	r        layout.Request
	t        *template.Template
	provider string
	services []string // in the order of the request, each once
	found    []Flaw
}

// Flaws returns everything that is wrong with a request, whatever else is.
func Flaws(c *template.Catalog, r layout.Request) []Flaw {
	v := &reviewer{c: c, r: r, t: c.Templates[r.Template]}
	v.template()
	v.size()
	v.prefer()
	v.providers()
	v.zones()
	v.types(Hardware, NoHardwareTypes)
	v.types(Images, NoImageTypes)
	v.names()
	v.dependencies()
	v.enemies()
	return v.found
}

func (v *reviewer) say(code app.Code, reason, field, hint string, repairs []Repair, format string, args ...any) {
	e := Refuse(code, reason, field, format, args...)
	e.Hint = hint
	v.found = append(v.found, Flaw{e, repairs})
}

// didYouMean is a hint for a name that is not known: near ones, or else what there is.
func didYouMean(near, all []string) string {
	switch {
	case len(near) > 0:
		return fmt.Sprintf("Did you mean %s?", humanize.Or(near))
	case len(all) == 1:
		return fmt.Sprintf("Available: %s.", all[0])
	case len(all) > 1:
		return fmt.Sprintf("Available: %s.", humanize.Some(all, 8))
	}
	return "None available."
}

// instead returns a repair for each of some names, to be used instead of another one.
func instead(what, wrong string, some []string, at func(r *layout.Request) *string) []Repair {
	var out []Repair
	for _, name := range some {
		text := what + " " + name
		if wrong != "" {
			text += " instead of " + wrong
		}
		out = append(out, Repair{text, func(r *layout.Request) { *at(r) = name }})
	}
	return out
}

func (v *reviewer) template() {
	if v.t != nil {
		return
	}
	all := sortedNames(v.c.Templates)
	near := nearNames(v.r.Template, all)
	at := func(r *layout.Request) *string { return &r.Template }
	v.say(app.ENotFound, MissingTemplate, "template", didYouMean(near, all), instead("template", v.r.Template, near, at),
		"Cluster template %s doesn't exist.", v.r.Template)
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func (v *reviewer) size() {
	n := v.r.Size
	allowed := template.SizeRange{}
	if v.t != nil {
		allowed = v.t.Constraints.Size
	}
	resize := func(to int) []Repair { return []Repair{{"", func(r *layout.Request) { r.Size = to }}} }
	switch {
	case n <= 0 && v.t != nil:
		repairs := resize(allowed.Least())
		v.say(app.EInvalid, BadRequest, "size", "", repairs, "%s", allowed.Refusal(n))
	case n <= 0:
		repairs := resize(1)
		v.say(app.EInvalid, BadRequest, "size", "", repairs, "Choose at least 1 node (you entered %d).", n)
	case !allowed.Allows(n):
		repairs := resize(allowed.Nearest(n))
		v.say(app.EInvalid, WrongSize, "size", "", repairs, "%s", allowed.Refusal(n))
	}
}

func (v *reviewer) prefer() {
	known := []string{string(template.PreferPacked), string(template.PreferCheapest), string(template.PreferSpread)}
	wrong := string(v.r.Prefer)
	if wrong == "" || slices.Contains(known, wrong) {
		return
	}
	near := nearNames(wrong, known)
	at := func(r *layout.Request) *string { return (*string)(&r.Prefer) }
	v.say(app.EInvalid, BadRequest, "prefer", didYouMean(near, known), instead("preference", wrong, orElse(near, known), at),
		"Preference %s doesn't exist.", wrong)
}

// orElse returns the near names, or where there are none the others.
func orElse(near, all []string) []string {
	if len(near) > 0 {
		return near
	}
	return all
}

func (v *reviewer) providers() {
	name := v.r.Provider
	if name == "" && v.t != nil {
		name = v.t.Defaults.Provider
	}
	all := sortedNames(v.c.Providers)
	at := func(r *layout.Request) *string { return &r.Provider }
	switch {
	case name == "" && v.t != nil:
		v.say(app.EInvalid, MissingProvider, "provider", didYouMean(nil, all), instead("provider", "", all, at),
			"Template %s has no default provider. Name one in the request.", v.r.Template)
	case name != "" && v.c.Providers[name] == nil:
		near := nearNames(name, all)
		v.say(app.ENotFound, MissingProvider, "provider", didYouMean(near, all), instead("provider", name, orElse(near, all), at),
			"Provider %s doesn't exist.", name)
	default:
		v.provider = name
	}
}

// zones looks whether a template that spreads nodes has zones to spread them over.
func (v *reviewer) zones() {
	zoned := func(name string) bool { return v.c.Providers[name] != nil && len(v.c.Providers[name].Zones) > 0 }
	if v.t == nil || v.t.Constraints.Zones == nil || v.provider == "" || zoned(v.provider) {
		return
	}
	some := slices.DeleteFunc(sortedNames(v.c.Providers), func(name string) bool { return !zoned(name) })
	hint := "No provider has zones."
	if len(some) > 0 {
		hint = fmt.Sprintf("Use provider %s.", humanize.Or(some))
	}
	at := func(r *layout.Request) *string { return &r.Provider }
	v.say(app.EInvalid, BadRequest, "provider", hint, instead("provider", v.provider, some, at),
		"Template %s requires zones, and provider %s has none.", v.r.Template, v.provider)
}

// types looks for hardware or image types that may be used.
func (v *reviewer) types(of TypeSort, reason string) {
	want := *of.Asked(&v.r)
	var list []string
	if v.t != nil {
		want, list = cmp.Or(want, *of.Usual(v.t)), *of.Compatible(v.t)
	}
	all := sortedNames(v.c.Images)
	hardware, offers := Offered(v.c, v.provider)
	if of.Name == Hardware.Name {
		all, offers = sortedNames(v.c.Hardware), hardware
	}
	fits := func(name string) bool {
		return Allowed(name, "", list) && !v.barred(of, name) && (v.provider == "" || slices.Contains(offers, name))
	}
	may := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !fits(name) })
	if want != "" && fits(want) && slices.Contains(all, want) || want == "" && len(may) > 0 {
		return
	}
	near := nearNames(want, may)
	repairs := instead(of.Name, want, append(near, Others(near, may)...), of.Asked)
	repairs = append(repairs, v.elsewhere(of, want, list)...)
	what, other := capital(of.Name), "Available: "+humanize.Some(offers, 8)+"."
	if len(offers) == 0 {
		other = "None available."
	}
	switch {
	case want == "" && slices.ContainsFunc(offers, func(name string) bool { return v.barred(of, name) }):
		v.say(app.EInvalid, reason, of.Name, other, repairs, "Provider %s has no %s that template %s can use.",
			v.provider, of.Name, v.r.Template)
	case want == "" && len(list) == 0:
		v.say(app.EInvalid, reason, of.Name, "", repairs, "Provider %s has no %s.", v.provider, of.Name)
	case want == "":
		v.say(app.EInvalid, reason, of.Name, other, repairs, "Provider %s has no %s that template %s allows (%s).", v.provider,
			of.Name, v.r.Template, humanize.Some(list, 8))
	case !slices.Contains(all, want):
		v.say(app.EInvalid, reason, of.Name, didYouMean(near, may), repairs, "%s %s doesn't exist.", what, want)
	case len(list) > 0 && !slices.Contains(list, want):
		v.say(app.EInvalid, reason, of.Name, "Allowed: "+humanize.Some(list, 8)+".", repairs, "Template %s doesn't allow %s %s.",
			v.r.Template, of.Name, want)
	case v.barred(of, want):
		v.say(app.EInvalid, reason, of.Name, didYouMean(nil, may), repairs, "Template %s allows no nodes of %s %s.",
			v.r.Template, of.Name, want)
	default:
		v.say(app.EInvalid, reason, of.Name, other, repairs, "Provider %s doesn't have %s %s.", v.provider, of.Name, want)
	}
}

// barred reports whether a template allows no node of a hardware type.
func (v *reviewer) barred(of TypeSort, name string) bool {
	if v.t == nil || of.Name != Hardware.Name {
		return false
	}
	limit, limited := v.t.Constraints.Hardware[name]
	return limited && limit <= 0
}

func capital(s string) string { return string(s[0]-'a'+'A') + s[1:] }

// elsewhere returns the other providers, since what one does not have another may.
func (v *reviewer) elsewhere(of TypeSort, want string, list []string) []Repair {
	var some []string
	for _, name := range sortedNames(v.c.Providers) {
		hardware, offers := Offered(v.c, name)
		if of.Name == Hardware.Name {
			offers = hardware
		}
		if name != v.provider && slices.ContainsFunc(offers, func(t string) bool { return Allowed(t, want, list) && !v.barred(of, t) }) {
			some = append(some, name)
		}
	}
	return instead("provider", v.provider, some, func(r *layout.Request) *string { return &r.Provider })
}
