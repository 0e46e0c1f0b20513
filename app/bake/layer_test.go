package bake_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/bake"
	"muster/app/template"
)

// named is an Inputs that sees the keys which the script names.
func named(_ string, fields map[string]string, config map[string]any) (map[string]any, string) {
	seen := map[string]any{}
	for k, v := range config {
		if strings.Contains(fields["script"], k) {
			seen[k] = v
		}
	}
	if strings.Contains(fields["script"], "$node") {
		return nil, "it names the node"
	}
	return seen, ""
}

func service(script string, requires ...string) *template.Service {
	s := &template.Service{Install: template.Dependencies{Requires: requires}, Actions: map[app.Action]*template.ServiceAction{}}
	if script != "" {
		s.Actions[app.ActionInstall] = &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": script}}
	}
	return s
}

func node() bake.Node {
	return bake.Node{
		Provider: &template.ProviderSpec{Type: "sandbox", Settings: map[string]any{"mode": "process"}}, Tenant: "default", Image: template.Image{Image: "host"},
		Services: []string{"app", "base", "quiet"},
		Entries:  map[string]*template.Service{"app": service("install app port", "base"), "base": service("install base"), "quiet": service("")},
		Config:   map[string]any{"port": "80", "other": "x", "token": "${secret:token}", "peer": "%ip.service.base%"},
	}
}

func TestLayersFollowTheOrderOfInstalls(t *testing.T) {
	layers, stop := bake.Layers(node(), named)
	if stop.Text() != "" || len(layers) != 2 {
		t.Fatalf("%d layers, stop %q", len(layers), stop.Text())
	}
	if got := layers[1].Services; !slices.Equal(got, []string{"base", "app"}) {
		t.Errorf("the longest layer has %v", got)
	}
	if got := layers[1].Configs["app"]; !maps.Equal(got, map[string]any{"port": "80"}) {
		t.Errorf("app sees %v", got)
	}
}

func TestKeysFollowTheContent(t *testing.T) {
	last := func(n bake.Node) string {
		layers, _ := bake.Layers(n, named)
		return layers[len(layers)-1].Key
	}
	was := last(node())
	for name, c := range map[string]struct {
		change func(n *bake.Node)
		same   bool
	}{
		"nothing":                          {func(*bake.Node) {}, true},
		"a value that no install sees":     {func(n *bake.Node) { n.Config["other"] = "y" }, true},
		"a value that an install sees":     {func(n *bake.Node) { n.Config["port"] = "81" }, false},
		"a script":                         {func(n *bake.Node) { n.Entries["base"] = service("install base again") }, false},
		"the image":                        {func(n *bake.Node) { n.Image.Image = "other" }, false},
		"a setting of the account":         {func(n *bake.Node) { n.Provider.Settings["region"] = "north" }, false},
		"the zone":                         {func(n *bake.Node) { n.Zone = "north" }, false},
		"the tenant":                       {func(n *bake.Node) { n.Tenant = "other" }, false},
		"a service without an install":     {func(n *bake.Node) { n.Services = []string{"app", "base"} }, true},
		"the account is the tenant's own":  {func(n *bake.Node) { n.Provider.Tenant = "default" }, false},
		"the order in which they are said": {func(n *bake.Node) { n.Services = []string{"quiet", "base", "app"} }, true},
	} {
		n := node()
		c.change(&n)
		if got := last(n); (got == was) != c.same {
			t.Errorf("%s: key %s, was %s", name, got, was)
		}
	}
}

func TestLayersEndBeforeWhatDiffersBetweenNodes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(n *bake.Node)
		layers int
		why    string
	}{
		"a secret":   {func(n *bake.Node) { n.Entries["app"] = service("token", "base") }, 1, "The install of app isn't baked: it reads the secret token."},
		"an address": {func(n *bake.Node) { n.Entries["base"] = service("peer") }, 0, "known only once there are nodes"},
		"the node":   {func(n *bake.Node) { n.Entries["app"] = service("$node", "base") }, 1, "it names the node"},
		"a person": {func(n *bake.Node) {
			n.Entries["app"].Actions[app.ActionInstall] = &template.ServiceAction{Person: &template.Person{}}
		}, 1, "a person"},
		"resources": {func(n *bake.Node) {
			n.Entries["app"].Actions[app.ActionInstall].Resources = []template.ResourceRef{{}}
		}, 1, "resources"},
		"other nodes": {func(n *bake.Node) {
			n.Entries["far"] = service("x")
			n.Entries["app"] = service("x", "far")
		}, 0, "it waits for far, which is installed on other nodes"},
		"user data": {func(n *bake.Node) { n.Hardware.Extra = map[string]string{"user_data": "#!/bin/sh"} }, 0, "its hardware has user data"},
		"a hook": {func(n *bake.Node) {
			n.Hooks = []template.OperationHook{{Name: "proxy", When: template.HookBefore, Script: "x", Operations: []app.OperationKind{app.OperationCreate}}}
		}, 0, "hook proxy"},
	} {
		n := node()
		c.change(&n)
		layers, stop := bake.Layers(n, named)
		if len(layers) != c.layers || !strings.Contains(stop.Text(), c.why) {
			t.Errorf("%s: %d layers, and %q", name, len(layers), stop.Text())
		}
	}
}
