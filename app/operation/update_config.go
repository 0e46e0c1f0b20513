package operation

import (
	"context"
	"maps"
	"slices"

	"muster/app"
	"muster/app/cluster"
	"muster/app/template"
)

// reconfigure lays what was asked for over the configuration, and keeps it for later upgrades. What a parameter sets is said by that
// parameter only, so that its limits hold.
func reconfigure(_ context.Context, _ *Builder, d *updateBuilder) error {
	if d.ask.Replace {
		changes, err := wholeConfig(d.was.Config, d.ask.Config)
		if err != nil {
			return err
		}
		d.ask.Config = changes
	}
	if t := d.catalog.Templates[d.Template]; t != nil {
		if err := t.CheckParameterConfig(d.ask.Config); err != nil {
			e := *app.AsError(err)
			e.Hint = "Use parameters, or --param on the command line, so that the template's limits apply."
			return &e
		}
	}
	d.definition.Overrides = addOverrides(d.was.OwnConfig(), d.ask.Config)
	d.definition.Config = overlay(d.was.Config, d.ask.Config)
	return d.setParameters()
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

// addOverrides is overlay that keeps the nulls: what was taken out stays out when the template is laid under it again.
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

// checkConfig refuses a configuration that is too large, whose macros are wrong, or don't fit the existing nodes
// afterwards.
func (d *updateBuilder) checkConfig() error {
	if n := cluster.ConfigSize(d.definition.Config); n > cluster.MostConfig && n > cluster.ConfigSize(d.was.Config) {
		return cluster.TooMuchConfig(n)
	}
	macros, err := template.ParseMacros(d.definition.Config)
	if err != nil {
		return err
	}
	return macros.Check(func(service string) (n int) {
		for _, node := range d.nodes.after() {
			if slices.Contains(node.Services, service) {
				n++
			}
		}
		return n
	})
}
