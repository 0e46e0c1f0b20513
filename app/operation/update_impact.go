package operation

import (
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/plan"
	"muster/app/template"
)

// reach finds which services that stay where they are have to read the configuration again, and says so in their nodes' work:
// a key that they read has another value, or names a service of which other nodes have it, or nodes with other addresses.
func (d *updateBuilder) reach() {
	moved := d.movedServices()
	keys := changedKeys(d.was.Config, d.definition.Config, moved)
	if len(keys) == 0 {
		return
	}
	services := d.nodes.after().services()
	work := plan.WorkReload
	if d.ask.NoRestart {
		work = plan.WorkConfigure
	}
	var late []string
	for _, name := range services {
		service := d.definition.Services[name]
		if service == nil || !reads(name, service, keys, services) {
			continue
		}
		if service.Actions[app.ActionConfigure] == nil {
			if d.staysSomewhere(name) {
				late = append(late, name)
			}
			continue
		}
		for i := range d.nodes {
			n := &d.nodes[i]
			if n.Stays() && slices.Contains(n.Services, name) && !slices.Contains(n.Added, name) {
				if n.Work[name] == plan.WorkStart || n.Work[name] == plan.WorkRestart {
					n.AllWork(name, plan.WorkUpgrade) // neither of them has it read what is new
					continue
				}
				if n.Work[name] == plan.WorkStop {
					n.AllWork(name, plan.WorkStopConfigure)
					continue
				}
				n.AllWork(name, work)
			}
		}
	}
	if len(late) > 0 && d.ask.Kind == app.OperationReconfigure {
		d.note("%s can't be configured while running: changes apply at the next start.", humanize.And(late))
	}
}

// staysSomewhere reports whether a service stays on a node that nothing else is done to it on.
func (d *updateBuilder) staysSomewhere(service string) bool {
	return slices.ContainsFunc(d.nodes, func(n cluster.UpdatedNode) bool {
		return n.Stays() && slices.Contains(n.Services, service) && !slices.Contains(n.Added, service) && n.Work[service] == ""
	})
}

// reads reports whether a service is set up by one of the keys. One that does not say which it reads is taken to read all but
// those that have the name of another service.
func reads(name string, service *template.Service, keys, services []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		if len(service.Reads) > 0 {
			return slices.Contains(service.Reads, key)
		}
		return key == name || !slices.Contains(services, key)
	})
}

// movedServices are those which other nodes have afterwards, or nodes whose addresses may be others.
func (d *updateBuilder) movedServices() map[string]bool {
	was, is, moved := map[string][]string{}, map[string][]string{}, map[string]bool{}
	for _, n := range d.standing.nodes {
		for _, s := range n.Services {
			was[s] = append(was[s], n.Name)
		}
	}
	for _, n := range d.nodes.after() {
		for _, s := range n.Services {
			is[s] = append(is[s], n.Name)
			if n.Change == plan.NodeReplaced {
				moved[s] = true
			}
		}
	}
	for s := range was {
		moved[s] = moved[s] || !slices.Equal(was[s], is[s])
	}
	for s := range is {
		moved[s] = moved[s] || !slices.Equal(was[s], is[s])
	}
	return moved
}

// changedKeys returns the keys at the top of a configuration whose value is another one, or whose macros speak of a service that
// has moved; sorted.
func changedKeys(was, is map[string]any, moved map[string]bool) []string {
	keys := map[string]bool{}
	for k := range was {
		keys[k] = true
	}
	for k := range is {
		keys[k] = true
	}
	maps.DeleteFunc(keys, func(k string, _ bool) bool {
		before, had := was[k]
		after, has := is[k]
		return had == has && !slices.ContainsFunc(macroServices(after), func(s string) bool { return moved[s] }) && template.SameValue(before, after)
	})
	return slices.Sorted(maps.Keys(keys))
}

// macroServices returns the services that macros in a value speak of, in any way, sorted.
func macroServices(value any) []string {
	named := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if !strings.Contains(v, "%") {
				return
			}
			parts, _ := template.SplitMacros(v) // what is no macro is refused elsewhere
			for _, p := range parts {
				if p.Macro != nil && p.Macro.Service != "" {
					named[p.Macro.Service] = true
				}
			}
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(value)
	return slices.Sorted(maps.Keys(named))
}
