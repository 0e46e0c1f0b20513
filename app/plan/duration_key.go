package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"muster/app"
	"muster/app/template"
)

// DurationKey names the kind of a step on a node; hook is for the action of that name.
func (r Request) DurationKey(n Node, action app.Action, service, hook string) DurationKey {
	k := DurationKey{Tenant: r.Tenant, Action: action, Service: service, Provider: r.Provider, Type: r.ProviderType, Hardware: n.Hardware, Image: n.Image}
	s := r.Services[service]
	switch {
	case action == app.ActionHook:
		k.Service = hook
		if i := slices.IndexFunc(r.Hooks, func(h template.OperationHook) bool { return h.Name == hook }); i >= 0 {
			k.Version = versionOf(r.Hooks[i].Script)
		}
	case action == app.ActionRun:
		if k.Service = "command"; r.Run.Action != "" {
			k.Service, k.Version = "action."+r.Run.Action, versionOf(r.Run.Command)
		}
		// Commands that people type are all alike: each is another, and how long it takes is not known before.
	case s == nil:
	case action == app.ActionCompare:
		k.Version = versionOf("compare", s.Actions)
	case action == app.ActionCheck:
		k.Version = versionOf(s.Health)
	case s.Actions[action] != nil:
		k.Version = versionOf(s.Actions[action].Automator, s.Actions[action].Fields)
	}
	return k
}

func versionOf(what ...any) string {
	b, err := json.Marshal(what)
	if err != nil {
		panic("app: a service holds only plain values: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// machineActions are those of which any plan may have some.
var machineActions = []app.Action{app.ActionCreate, app.ActionConfirm, app.ActionBootstrap, app.ActionSleep, app.ActionWake, app.ActionDelete, app.ActionNames,
	app.ActionAttach, app.ActionDetach, app.ActionIsolate, app.ActionBake}

// DurationKeys returns the kinds of steps that a plan of the request may have, with those that are wider, each once.
func (r Request) DurationKeys() []DurationKey {
	var keys []DurationKey
	seen := map[DurationKey]bool{}
	add := func(k DurationKey) {
		for _, k := range k.Widths() {
			if seen[k] {
				return
			}
			seen[k] = true
			keys = append(keys, k)
		}
	}
	type on struct{ hardware, image, service string }
	known := map[on]bool{}
	first := func(n Node, service string) bool {
		at := on{n.Hardware, n.Image, service}
		was := known[at]
		known[at] = true
		return !was
	}
	for _, n := range r.Nodes {
		if first(n, "") {
			for _, action := range machineActions {
				add(r.DurationKey(n, action, "", ""))
			}
			if r.Run != nil {
				add(r.DurationKey(n, app.ActionRun, "", ""))
			}
			for _, h := range r.Hooks {
				if h.Script != "" {
					add(r.DurationKey(n, app.ActionHook, "", h.Name))
				}
			}
		}
		for _, names := range [][]string{n.Services, n.Removed} {
			for _, name := range names {
				s := r.Services[name]
				if s == nil || !first(n, name) {
					continue
				}
				for _, action := range template.ServiceActions {
					if s.Actions[action] != nil {
						add(r.DurationKey(n, action, name, ""))
					}
				}
				if n.Work[name] == WorkCompare {
					add(r.DurationKey(n, app.ActionCompare, name, ""))
				}
				if s.Health != nil {
					add(r.DurationKey(n, app.ActionCheck, name, ""))
				}
			}
		}
	}
	return keys
}
