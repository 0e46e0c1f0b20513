package app

import (
	"context"
	"maps"
	"slices"
)

// reconfigure lays what was asked for over the configuration, and keeps it for later upgrades. What a parameter sets is said by that
// parameter only, so that its limits hold.
func reconfigure(_ context.Context, _ *App, d *amended) error {
	if t := d.catalog.Templates[d.Template]; t != nil {
		if err := t.CheckParameterConfig(d.ask.Config); err != nil {
			e := *AsError(err)
			e.Hint = "Say it under parameters, or with --param on the command line: there it is held to the template's limits."
			return &e
		}
	}
	d.definition.Overrides = addOverrides(d.was.overrides(), d.ask.Config)
	d.definition.Config = overlay(d.was.Config, d.ask.Config)
	return d.setParameters()
}

// override is what the amendment wants otherwise than the template has it.
func (m Amendment) override() Override {
	o := Override{Config: m.Config}
	if m.Kind == OperationAddServices || m.Kind == OperationRemoveServices {
		o.Parts = append(o.Parts, "services")
	}
	if m.Hardware != "" {
		o.Parts = append(o.Parts, "hardware")
	}
	if m.Image != "" {
		o.Parts = append(o.Parts, "image")
	}
	return o
}

// overrides are what people asked for beside the template's own configuration. Clusters from before it was kept apart are
// taken to have asked for all of it.
func (d Definition) overrides() map[string]any {
	if d.Overrides != nil {
		return d.Overrides
	}
	return d.Config
}

// overlay lays a map over another one, map by map; null takes a key out. Neither is changed.
func overlay(base, over map[string]any) map[string]any {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range over {
		o, isMap := v.(map[string]any)
		b, _ := out[k].(map[string]any)
		switch {
		case v == nil:
			delete(out, k)
		case isMap:
			out[k] = overlay(b, o) // also where there was none: its nulls mean nothing then
		default:
			out[k] = v
		}
	}
	return out
}

// addOverrides is overlay that keeps the nulls: what was taken out stays out when the template is laid under it anew.
func addOverrides(base, over map[string]any) map[string]any {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range over {
		o, isMap := v.(map[string]any)
		if b, was := out[k].(map[string]any); isMap && was {
			out[k] = addOverrides(b, o)
			continue
		}
		out[k] = v
	}
	return out
}

// checkConfig refuses a configuration that is too large, whose macros are wrong, or do not fit the nodes that there are
// afterwards.
func (d *amended) checkConfig() error {
	if n := configSize(d.definition.Config); n > mostConfig && n > configSize(d.was.Config) {
		return tooMuchConfig(n)
	}
	macros, err := ParseMacros(d.definition.Config)
	if err != nil {
		return err
	}
	return macros.Check(func(service string) (n int) {
		for _, node := range d.after() {
			if slices.Contains(node.Services, service) {
				n++
			}
		}
		return n
	})
}
