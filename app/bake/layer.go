package bake

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"muster/app"
	"muster/app/template"
)

// codeVersion is part of every key. Raise it when an automator installs otherwise than before by the same input.
const codeVersion = 1

// Inputs returns the part of a configuration that an install action of an automator can see, or why its result may differ between nodes.
type Inputs func(automator string, fields map[string]string, config map[string]any) (seen map[string]any, why string)

// Node is what a node's layers are made of.
type Node struct {
	Provider *template.ProviderSpec
	Tenant   string
	Zone     string
	Image    template.Image
	Services []string // of the node
	// Entries are the services of the whole cluster.
	Entries map[string]*template.Service
	Config  map[string]any // of the cluster, with its macros
	Hooks   []template.OperationHook
	// Hardware is of the machine. With user data of its own, nothing is baked: its layers would be another hardware's, too.
	Hardware template.Flavor
}

// userData is the setting of hardware with what its machines do at their first start.
const userData = "user_data"

// Layer is what an image may hold: the installs of services in order.
type Layer struct {
	Key      string
	Services []string
	Configs  map[string]map[string]any // what the installs see, by service
}

// Stop says at which service the layers of a node end, and why; zero: all installs can be baked.
type Stop struct {
	Service string `json:"service,omitempty"`
	Why     string `json:"why,omitempty"`
}

// Text is the sentence for people; "" where nothing is left out.
func (s Stop) Text() string {
	switch {
	case s.Why == "":
		return ""
	case s.Service == "":
		return "Not baked: " + s.Why + "."
	}
	return fmt.Sprintf("The install of %s isn't baked: %s.", s.Service, s.Why)
}

// Layers returns the layers of a node, the shortest first: each is the one before it and one more install.
func Layers(n Node, inputs Inputs) (layers []Layer, stop Stop) {
	for _, h := range template.Scripts(n.Hooks, app.OperationCreate) {
		if h.When == template.HookBefore && h.OnNode(n.Services) {
			return nil, Stop{Why: fmt.Sprintf("the script of hook %s runs before the installs", h.Name)}
		}
	}
	if n.Hardware.Extra[userData] != "" {
		return nil, Stop{Why: "its hardware has user data of its own"}
	}
	key := hash("base", codeVersion, n.Tenant, n.Provider.Name, n.Provider.Tenant, n.Provider.Type, n.Provider.Settings, n.Zone, n.Image)
	layer := Layer{Configs: map[string]map[string]any{}}
	order, stop := order(n)
	for _, name := range order {
		action := n.Entries[name].Actions[app.ActionInstall]
		if action == nil {
			continue
		}
		if len(n.Entries[name].Volumes) > 0 {
			return layers, Stop{Service: name, Why: "it has volumes, which are mounted before it's installed"}
		}
		seen, why := input(action, n.Config, inputs)
		if why != "" {
			return layers, Stop{Service: name, Why: why}
		}
		key = hash(key, name, action.Automator, action.Fields, seen)
		layer = Layer{Key: key, Services: append(slices.Clone(layer.Services), name), Configs: maps.Clone(layer.Configs)}
		layer.Configs[name] = seen
		layers = append(layers, layer)
	}
	return layers, stop
}

func hash(parts ...any) string {
	b, err := json.Marshal(parts)
	if err != nil {
		panic("bake: a definition holds only plain values: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// order puts a node's services in the order in which they are installed: by their dependencies, of those that could come next the first by name. It
// ends before one that has to wait for an install on other nodes.
func order(n Node) (list []string, stop Stop) {
	provides := func(name, wanted string) bool {
		e := n.Entries[name]
		return name == wanted || e != nil && slices.Contains(e.Provides, wanted)
	}
	left := slices.Sorted(slices.Values(n.Services))
	for len(left) > 0 {
		next := slices.IndexFunc(left, func(name string) bool { return n.Entries[name] != nil && len(n.waits(name, left, provides)) == 0 })
		if next < 0 {
			return list, Stop{Service: left[0], Why: "its dependencies can't be ordered"}
		}
		name := left[next]
		for other := range maps.Keys(n.Entries) {
			if slices.Contains(n.Services, other) {
				continue
			}
			for _, wanted := range wants(n.Entries[name]) {
				if provides(other, wanted) && n.Entries[name].Actions[app.ActionInstall] != nil {
					return list, Stop{Service: name, Why: "it waits for " + other + ", which is installed on other nodes"}
				}
			}
		}
		list, left = append(list, name), slices.Delete(left, next, next+1)
	}
	return list, Stop{}
}

func wants(s *template.Service) []string { return slices.Concat(s.Install.Requires, s.Install.Uses) }

// waits returns those of the services left that must be installed before one of them.
func (n Node) waits(name string, left []string, provides func(name, wanted string) bool) (on []string) {
	for _, wanted := range wants(n.Entries[name]) {
		for _, other := range left {
			if other != name && provides(other, wanted) {
				on = append(on, other)
			}
		}
	}
	return on
}

// input returns what an install sees of the configuration, or why it can't be baked.
func input(a *template.ServiceAction, config map[string]any, inputs Inputs) (seen map[string]any, why string) {
	if a.Person != nil {
		return nil, "a person carries it out"
	}
	if len(a.Resources) > 0 {
		return nil, "it uses resources"
	}
	if seen, why = inputs(a.Automator, a.Fields, config); why != "" {
		return nil, why
	}
	if names := app.SecretNames(seen); len(names) > 0 {
		return nil, fmt.Sprintf("it reads the secret %s", names[0])
	}
	if macro := macroIn(seen); macro != "" {
		return nil, fmt.Sprintf("it reads %q, which is known only once there are nodes", macro)
	}
	return seen, ""
}

// macroIn returns the first text with macros.
func macroIn(v any) string {
	switch v := v.(type) {
	case string:
		if parts, problem := template.SplitMacros(v); parts != nil || problem != nil {
			return v
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if m := macroIn(v[k]); m != "" {
				return m
			}
		}
	case []any:
		for _, e := range v {
			if m := macroIn(e); m != "" {
				return m
			}
		}
	}
	return ""
}
