package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/app"
)

// checker looks at the entries of all sources together: does everything that is named exist, and can it work?
//
// A broken rule is an error in our own form. In Coopr's, which never looked, it is a warning: its own default set breaks
// several, and a request that needs what is missing is refused in its turn.
type checker struct {
	options Options
	out     *reporter
	entries map[key]*entry
	unread  map[string]bool
	stands  map[string]bool // names of services, and what they provide
}

func (c *checker) check() {
	c.stands = map[string]bool{}
	list := sortedEntries(c.entries)
	for _, e := range list {
		if e.kind == kindService {
			c.stands[e.name] = true
			if s, ok := e.value.(*app.Service); ok {
				for _, p := range s.Provides {
					c.stands[p] = true
				}
			}
		}
	}
	c.whole(list)
	for _, e := range list {
		switch v := e.value.(type) {
		case *app.ProviderSpec:
			c.provider(e, v)
		case *app.HardwareType:
			c.providers(e, slices.Sorted(maps.Keys(v.Providers)))
		case *app.ImageType:
			c.providers(e, slices.Sorted(maps.Keys(v.Providers)))
		case *app.Service:
			c.service(e, v)
		case *app.Template:
			c.template(e, v)
		}
	}
}

// rule is how grave a broken rule is in the entry's form.
func rule(e *entry) Severity {
	if e.coopr {
		return SeverityWarning
	}
	return SeverityError
}

func (c *checker) report(e *entry, s Severity, path []any, hint, format string, args ...any) {
	n := e.at(path...)
	place, column := app.Origin{File: e.file, Line: n.Line}, n.Column
	if e.inherited != nil {
		place, column = e.inherited.At(parts(e.inherited, path)...), 0
	}
	c.out.add(Problem{
		Origin: place, Column: column, Severity: s,
		Message: e.key.String() + ": " + fmt.Sprintf(format, args...), Hint: hint,
	})
}

// parts gives the names under which a template knows where a part of it is written, the nearest first.
func parts(t *app.Template, path []any) (names []string) {
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
			name = join(name, fmt.Sprint(p))
		}
		names = append(names, name)
	}
	return names
}

// reportAt reports what is wrong with one template where another one that it is made of says it.
func (c *checker) reportAt(of, at *entry, path []any, hint, format string, args ...any) {
	n := at.at(path...)
	c.out.add(Problem{
		Origin: app.Origin{File: at.file, Line: n.Line}, Column: n.Column, Severity: rule(of),
		Message: fmt.Sprintf("%s: %s: %s", of.key, at.spell(path), fmt.Sprintf(format, args...)), Hint: hint,
	})
}

// refer checks that an entry which is named exists.
func (c *checker) refer(e *entry, k kind, name string, path ...any) {
	if name == "" || c.entries[key{k, name}] != nil || c.unread[name] {
		return
	}
	c.report(e, rule(e), path, didYouMean(name, c.names(k)), "%s names %s, which is not in the catalog", e.spell(path), key{k, name})
}

func (c *checker) names(k kind) []string {
	var out []string
	for have := range c.entries {
		if have.kind == k {
			out = append(out, have.name)
		}
	}
	return out
}

// providers checks the providers that a hardware type or an image knows a name for.
func (c *checker) providers(e *entry, names []string) {
	if len(names) == 0 && !e.broken {
		c.report(e, rule(e), []any{"providers"}, "", "%s is empty, so no machine can ever be of it", e.spell([]any{"providers"}))
	}
	for _, n := range names {
		c.refer(e, kindProvider, n, "providers", n)
	}
}

func (c *checker) provider(e *entry, p *app.ProviderSpec) {
	for i, z := range p.Zones {
		if z == "" {
			c.report(e, rule(e), []any{"zones", i}, "", "%s is empty", e.spell([]any{"zones", i}))
		} else if slices.Index(p.Zones, z) < i {
			c.report(e, rule(e), []any{"zones", i}, "", "%s names %q twice", e.spell([]any{"zones"}), z)
		}
	}
	settings, ok := c.resolve(e, p.Settings)
	p.Settings = settings
	if c.options.ProviderTypes == nil || p.Type == "" {
		return
	}
	if !slices.Contains(c.options.ProviderTypes, p.Type) {
		c.report(e, rule(e), []any{"type"}, didYouMean(p.Type, c.options.ProviderTypes),
			"there is no provider type %q; there are %s", p.Type, listed(c.options.ProviderTypes))
		return
	}
	if c.options.CheckProvider == nil || !ok || e.broken {
		return
	}
	if err := c.options.CheckProvider(p.Type, p.Settings); err != nil {
		c.refused(e, rule(e), []any{"settings"}, err)
	}
}

// refused reports what a check function said, at the field that it named.
func (c *checker) refused(e *entry, s Severity, path []any, err error) {
	var a *app.Error
	if !errors.As(err, &a) {
		c.report(e, s, path, "", "%s: %v", e.spell(path), err)
		return
	}
	at := slices.Clone(path)
	if field := strings.TrimPrefix(a.Field, fmt.Sprint(path[len(path)-1])+"."); field != "" {
		at = append(at, field)
	}
	c.report(e, s, at, a.Hint, "%s: %s", e.spell(at), a.Message)
}

func (c *checker) service(e *entry, s *app.Service) {
	c.resources(e, s.Needs)
	c.needs(e, "install", s.Install)
	c.needs(e, "runtime", s.Runtime)
	for i, n := range s.Conflicts {
		c.optional(e, n, "conflicts", i)
	}
	for _, a := range app.ServiceActions {
		if action := s.Actions[a]; action != nil {
			c.action(e, a, action)
		}
	}
	c.health(e, s)
}

// needs checks one phase's dependencies. A service that nothing can satisfy is only a warning: the rest of the catalog
// works, and the solver refuses a cluster with it and says why.
func (c *checker) needs(e *entry, phase string, d app.Dependencies) {
	for i, n := range d.Requires {
		if n == e.name {
			c.report(e, rule(e), []any{phase, "requires", i}, "", "%s names the service itself", e.spell([]any{phase, "requires"}))
		} else if n != "" && !c.stands[n] && !c.unread[n] {
			c.report(e, SeverityWarning, []any{phase, "requires", i}, didYouMean(n, slices.Collect(maps.Keys(c.stands))),
				"%s names %q, which no service is or provides, so this service cannot be on any cluster", e.spell([]any{phase, "requires"}), n)
		}
	}
	for i, n := range d.Uses {
		c.optional(e, n, phase, "uses", i)
	}
}

// optional checks a name that need not exist; only a name close to one that does is worth a word.
func (c *checker) optional(e *entry, name string, path ...any) {
	if name == "" || c.stands[name] || c.unread[name] {
		return
	}
	if hint := didYouMean(name, slices.Collect(maps.Keys(c.stands))); hint != "" && !e.coopr {
		c.report(e, SeverityWarning, path, hint, "%s names %q, which no service is or provides", e.spell(path), name)
	}
}

func (c *checker) action(e *entry, a app.Action, action *app.ServiceAction) {
	c.person(e, action.Person, "actions", string(a), "person")
	if c.options.Automators == nil || action.Automator == "" {
		return
	}
	if !slices.Contains(c.options.Automators, action.Automator) {
		path := []any{"actions", string(a), "automator"}
		c.report(e, SeverityWarning, path, didYouMean(action.Automator, c.options.Automators),
			"%s: there is no automator %q, so this will fail; there are %s", e.spell(path), action.Automator, listed(c.options.Automators))
		return
	}
	if c.options.CheckAction == nil || e.broken {
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
