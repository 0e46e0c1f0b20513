package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/catalog"
	"muster/app/family"
	"muster/app/file/catalog/form"
	"muster/app/resource"
	"muster/app/template"
)

// checker looks at the entries of all sources together: does everything that is named exist, and can it work?
//
// A broken rule is an error in our own form. In Coopr's, which never looked, it is a warning: its own default set breaks
// several, and a request that needs what is missing is refused in its turn.
type checker struct {
	options Options
	out     *form.Reporter
	entries map[form.Key]*form.Entry
	unread  map[string]bool
	stands  map[string]bool // names of services, and what they provide
	secret  map[string]bool // settings that are secret, as TYPE.NAME
	onHost  map[string]bool // types of providers whose machines are on Muster's own hosts
	// Of a tenant's catalog: the installation's, what the families say of themselves, and the existing flavors; see own_machine.go.
	installation *template.Catalog
	families     catalog.Families
	flavors      map[flavorKey]template.Flavor
}

func (c *checker) check() { c.checkThese(sortedEntries(c.entries)) }

// checkThese checks some of the entries; all others are taken to be good.
func (c *checker) checkThese(list []*form.Entry) {
	c.stands = map[string]bool{}
	for k, e := range c.entries {
		if k.Kind == form.KindService {
			c.stands[k.Name] = true
			if s, ok := e.Value.(*template.Service); ok {
				for _, p := range s.Provides {
					c.stands[p] = true
				}
			}
		}
	}
	c.whole(list)
	c.scripts(list)
	for _, e := range list {
		switch v := e.Value.(type) {
		case *template.ProviderSpec:
			c.provider(e, v)
		case *template.HardwareType:
			c.providers(e, slices.Sorted(maps.Keys(v.Providers)))
			for _, n := range slices.Sorted(maps.Keys(v.Providers)) {
				c.extra(e, n, false, v.Providers[n].Extra)
			}
			c.ownHardware(e, v)
		case *template.ImageType:
			c.providers(e, slices.Sorted(maps.Keys(v.Providers)))
			for _, n := range slices.Sorted(maps.Keys(v.Providers)) {
				c.extra(e, n, true, v.Providers[n].Extra)
			}
			c.ownImage(e, v)
		case *template.Service:
			c.service(e, v)
		case *template.Template:
			templateChecker{c}.template(e, v)
		}
	}
}

// rule is how grave a broken rule is in the entry's form.
func rule(e *form.Entry) form.Severity {
	if e.Lenient {
		return form.SeverityWarning
	}
	return form.SeverityError
}

func (c *checker) report(e *form.Entry, s form.Severity, path []any, hint, format string, args ...any) {
	n := e.At(path...)
	place, column := template.Origin{File: e.File, Line: n.Line}, n.Column
	if e.Inherited != nil {
		place, column = e.Inherited.At(parts(e.Inherited, path)...), 0
	}
	c.out.Add(form.Problem{
		Origin: place, Column: column, Severity: s,
		Message: e.Key.String() + ": " + fmt.Sprintf(format, args...), Hint: hint,
		Field: fieldPath(path), Kind: string(e.Kind), Name: e.Name,
	})
}

// fieldPath writes a path in the words of our own form.
func fieldPath(path []any) (words string) {
	for _, p := range path {
		if i, ok := p.(int); ok {
			words += fmt.Sprintf("[%d]", i)
		} else {
			words = form.Join(words, fmt.Sprint(p))
		}
	}
	return words
}

// parts returns the names under which a template knows where a part of it is written, the nearest first.
func parts(t *template.Template, path []any) (names []string) {
	for n := len(path); n > 0; n-- {
		name := ""
		for _, p := range path[:n] {
			if i, ok := p.(int); ok {
				switch {
				case name == "defaults.services" && i < len(t.Defaults.Services):
					name += "." + t.Defaults.Services[i]
				case name == "parameters" && i < len(t.Parameters):
					name += "." + t.Parameters[i].Name
				default:
					name += fmt.Sprintf("[%d]", i)
				}
				continue
			}
			name = form.Join(name, fmt.Sprint(p))
		}
		names = append(names, name)
	}
	return names
}

// reportAt reports what is wrong with one template where another one that it is made of says it.
func (c *checker) reportAt(of, at *form.Entry, path []any, hint, format string, args ...any) {
	n := at.At(path...)
	c.out.Add(form.Problem{
		Origin: template.Origin{File: at.File, Line: n.Line}, Column: n.Column, Severity: rule(of),
		Message: fmt.Sprintf("%s: %s: %s", of.Key, at.Spell(path), fmt.Sprintf(format, args...)), Hint: hint,
		Field: fieldPath(path), Kind: string(of.Kind), Name: of.Name,
	})
}

// refer checks that an entry which is named exists.
func (c *checker) refer(e *form.Entry, k form.Kind, name string, path ...any) {
	if name == "" || c.entries[form.Key{Kind: k, Name: name}] != nil || c.unread[name] {
		return
	}
	c.report(e, rule(e), path, form.DidYouMean(name, c.names(k)), "%s refers to %s, which isn't in the catalog", e.Spell(path), form.Key{Kind: k, Name: name})
}

func (c *checker) names(k form.Kind) []string {
	var out []string
	for have := range c.entries {
		if have.Kind == k {
			out = append(out, have.Name)
		}
	}
	return out
}

// providers checks the providers that a hardware type or an image knows a name for.
func (c *checker) providers(e *form.Entry, names []string) {
	if len(names) == 0 && !e.Broken {
		c.report(e, rule(e), []any{"providers"}, "", "%s is empty, so no machine can use it", e.Spell([]any{"providers"}))
	}
	for _, n := range names {
		c.refer(e, form.KindProvider, n, "providers", n)
	}
}

// extra checks what else an entry says for a provider. What is not understood there is not heeded, so it is only warned of.
func (c *checker) extra(e *form.Entry, provider string, image bool, extra map[string]string) {
	p, ok := c.value(form.KindProvider, provider).(*template.ProviderSpec)
	if !ok || c.options.CheckExtra == nil || len(extra) == 0 || e.Lenient { // Coopr keeps there what it likes
		return
	}
	if err := c.options.CheckExtra(p.Type, image, extra); err != nil {
		c.refused(e, form.SeverityWarning, []any{"providers", provider, "extra"}, err)
	}
}

func (c *checker) provider(e *form.Entry, p *template.ProviderSpec) {
	for i, z := range p.Zones {
		if z == "" {
			c.report(e, rule(e), []any{"zones", i}, "", "%s is empty", e.Spell([]any{"zones", i}))
		} else if slices.Index(p.Zones, z) < i {
			c.report(e, rule(e), []any{"zones", i}, "", "%s names %q twice", e.Spell([]any{"zones"}), z)
		}
	}
	if err := template.CheckExchange(p.Currency, p.ExchangeRate, c.options.Currency); err != nil {
		a := app.AsError(err)
		c.report(e, rule(e), []any{a.Field}, a.Hint, "%s", a.Message)
	}
	checkUserData(c, e, p)
	if e.Own {
		c.ownProvider(e, p)
		return
	}
	before := c.out.Count()
	settings, ok := c.resolve(e, p.Settings)
	p.Settings = settings
	if c.options.ProviderTypes == nil || p.Type == "" {
		return
	}
	if !c.providerType(e, p.Type) {
		return
	}
	if c.options.CheckProvider == nil || !ok && c.out.Count() > before || e.Broken {
		return
	}
	// What refers to a secret, or to a variable that is not there, cannot be judged here; all else can.
	err := c.options.CheckProvider(*p)
	if c.refusedField(e, err) {
		return
	}
	if err != nil && (ok || !unknownHere(p.Settings, err)) {
		c.refused(e, rule(e), []any{"settings"}, err)
	}
}

// refusedField reports what is wrong with a setting that users may set, and whether anything is.
func (c *checker) refusedField(e *form.Entry, err error) bool {
	if err == nil {
		return false
	}
	a := app.AsError(err)
	text, is := strings.CutPrefix(a.Field, "fields.")
	if n, failed := strconv.Atoi(text); is && failed == nil {
		c.report(e, form.SeverityError, []any{"fields", n}, a.Hint, "%s: %s", e.Spell([]any{"fields", n}), a.Message)
	}
	return is
}

// providerType reports whether this build has a type of provider; it reports the ones that it has not.
func (c *checker) providerType(e *form.Entry, typ string) bool {
	switch {
	case reportRemoved(c, e, c.options.RemovedType, typ, "type"):
		return false
	case c.options.ProviderTypes == nil || slices.Contains(c.options.ProviderTypes, typ):
		return true
	case slices.Contains(c.options.ProviderTypesLeftOut, typ):
		c.report(e, rule(e), []any{"type"}, "use a full build: run make build, or download a release", "this small build of Muster doesn't include the provider type %q", typ)
	default:
		c.report(e, rule(e), []any{"type"}, form.DidYouMean(typ, c.options.ProviderTypes),
			"unknown provider type %q; available: %s", typ, listed(c.options.ProviderTypes))
	}
	return false
}

// reportRemoved reports a type of provider, or an automator, whose plugin was removed. That doesn't keep the installation's catalog from being read: the
// server has to run, so that the plugin can be registered again.
func reportRemoved(c *checker, e *form.Entry, check func(string) error, name string, path ...any) bool {
	if check == nil {
		return false
	}
	err := check(name)
	if err == nil {
		return false
	}
	s := form.SeverityWarning
	if e.Own {
		s = rule(e)
	}
	a := app.AsError(err)
	c.report(e, s, path, a.Hint, "%s: %s can't be used: %s", e.Spell(path), name, a.Message)
	return true
}

// unknownHere reports whether an error is about a setting whose value is not known yet, or about no single one.
func unknownHere(settings map[string]any, err error) bool {
	var a *app.Error
	if !errors.As(err, &a) {
		return true
	}
	field := strings.TrimPrefix(a.Field, "settings.")
	value, there := settings[field]
	return field == "" || there && strings.Contains(fmt.Sprint(value), "${")
}

// refused reports what a check function said, at the field that it named.
func (c *checker) refused(e *form.Entry, s form.Severity, path []any, err error) {
	var a *app.Error
	if !errors.As(err, &a) {
		c.report(e, s, path, "", "%s: %v", e.Spell(path), err)
		return
	}
	at := slices.Clone(path)
	if field := strings.TrimPrefix(a.Field, fmt.Sprint(path[len(path)-1])+"."); field != "" {
		at = append(at, field)
	}
	c.report(e, s, at, a.Hint, "%s: %s", e.Spell(at), a.Message)
}

func (c *checker) service(e *form.Entry, s *template.Service) {
	c.resources(e, s.Needs)
	c.needs(e, "install", s.Install)
	c.needs(e, "runtime", s.Runtime)
	for i, n := range s.Conflicts {
		c.optional(e, n, "conflicts", i)
	}
	for _, a := range template.ServiceActions {
		if action := s.Actions[a]; action != nil {
			c.action(e, a, action)
		}
	}
	c.health(e, s)
	if i, err := s.CheckVolumes(); err != nil {
		a := app.AsError(err)
		path := []any{"volumes", i}
		c.report(e, rule(e), path, a.Hint, "%s: %s", e.Spell(path), a.Message)
	}
}

// needs checks one phase's dependencies. A service that nothing can satisfy is only a warning: the rest of the catalog
// works, and the solver refuses a cluster with it and says why.
func (c *checker) needs(e *form.Entry, phase string, d template.Dependencies) {
	for i, n := range d.Requires {
		if n == e.Name {
			c.report(e, rule(e), []any{phase, "requires", i}, "", "%s refers to the service itself", e.Spell([]any{phase, "requires"}))
		} else if n != "" && !c.stands[n] && !c.unread[n] {
			c.report(e, form.SeverityWarning, []any{phase, "requires", i}, form.DidYouMean(n, slices.Collect(maps.Keys(c.stands))),
				"%s refers to %q, which no service is named or provides, so no cluster can have this service", e.Spell([]any{phase, "requires"}), n)
		}
	}
	for i, n := range d.Uses {
		c.optional(e, n, phase, "uses", i)
	}
}

// optional checks a name that need not exist; only a name close to one that does is worth a word.
func (c *checker) optional(e *form.Entry, name string, path ...any) {
	if name == "" || c.stands[name] || c.unread[name] {
		return
	}
	if hint := form.DidYouMean(name, slices.Collect(maps.Keys(c.stands))); hint != "" && !e.Lenient {
		c.report(e, form.SeverityWarning, path, hint, "%s refers to %q, which no service is named or provides", e.Spell(path), name)
	}
}

func (c *checker) action(e *form.Entry, a app.Action, action *template.ServiceAction) {
	c.person(e, action.Person, "actions", string(a), "person")
	for i, r := range action.Resources {
		if _, err := resource.ParseResourceRef(r.String()); err != nil {
			c.refused(e, rule(e), []any{"actions", string(a), "resources", i}, err)
			return
		}
	}
	if c.options.Automators == nil || action.Automator == "" {
		return
	}
	if reportRemoved(c, e, c.options.RemovedAutomator, action.Automator, "actions", string(a), "automator") {
		return
	}
	if !slices.Contains(c.options.Automators, action.Automator) {
		path := []any{"actions", string(a), "automator"}
		c.report(e, form.SeverityWarning, path, form.DidYouMean(action.Automator, c.options.Automators),
			"%s: unknown automator %q, so the action will fail; available: %s", e.Spell(path), action.Automator, listed(c.options.Automators))
		return
	}
	if c.options.CheckResources != nil && len(action.Resources) > 0 && !e.Broken {
		if err := c.options.CheckResources(action.Automator, action.Resources); err != nil {
			c.refused(e, rule(e), []any{"actions", string(a), "resources"}, err)
		}
	}
	if e.Own && !e.Trusted {
		for _, f := range c.fieldsOf(c.families.Automators, action.Automator).Fields {
			if action.Fields[f.Name] != "" && !f.MaySet(false, true) {
				c.refused(e, form.SeverityError, []any{"actions", string(a), "fields"}, family.OnlyInstallation(f.Name, e.Key.String(), f.Name))
			}
		}
	}
	if c.options.CheckAction == nil || e.Broken {
		return
	}
	if err := c.options.CheckAction(action.Automator, action.Fields); err != nil {
		c.refused(e, rule(e), []any{"actions", string(a), "fields"}, err)
	}
}

func listed(names []string) string {
	s := ""
	for i, n := range slices.Sorted(slices.Values(names)) {
		if i > 0 {
			s += ", "
		}
		s += n
	}
	if s == "" {
		return "none"
	}
	return s
}
