package cluster

import (
	"context"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/template"
)

// CheckProvisioner refuses what no provisioner that is there could carry out.
func (a *Preflight) CheckProvisioner(ctx context.Context, tenant string, spec *template.ProviderSpec) error {
	if !a.Provisioned || spec == nil {
		return nil
	}
	all, err := a.Store.Provisioners(ctx)
	if err != nil {
		return err
	}
	var there []string
	for _, p := range all {
		if p.State != app.ProvisionerActive || !p.May(tenant) {
			continue
		}
		if app.HasTags(p.Tags, spec.Provisioner) {
			return nil
		}
		there = append(there, p.Name+" ("+app.TagText(p.Tags)+")")
	}
	e := &app.Error{Code: app.EConflict, Reason: "no_provisioner", Hint: "Start one with `muster provisioner`, or start the server with --workers."}
	if len(there) == 0 {
		e.Message = "No provisioner is registered."
		if len(spec.Provisioner) > 0 {
			e.Message = "No provisioner is registered. Provider " + spec.Name + " requires one with " + app.TagText(spec.Provisioner) + "."
		}
		return e
	}
	const most = 5
	slices.Sort(there)
	if more := len(there) - most; more > 0 {
		there = append(there[:most], "…")
	}
	e.Message = "No suitable provisioner: provider " + spec.Name + " requires one with " + app.TagText(spec.Provisioner) + ", but only these are registered: " +
		strings.Join(there, ", ") + "."
	e.Hint = "Start one with `muster provisioner " + tagFlags(spec.Provisioner) + "`, or choose another provider."
	return e
}

func tagFlags(tags map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		parts = append(parts, "--tag "+k+"="+tags[k])
	}
	return strings.Join(parts, " ")
}
