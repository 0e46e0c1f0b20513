package wiring

import (
	"muster/app/all"
	"muster/app/file/catalog"
	"muster/app/file/spec"
	"muster/app/file/tenantfile"
	"muster/app/policy/cel"
	"muster/app/volume"
	"muster/automators"
	"muster/automators/shell"
	"muster/cmd/muster/families"
	"muster/cmd/muster/wiring/faces"
	"muster/jobs"
	"muster/jobs/remote"
	"muster/planner"
	"muster/portal"
	"muster/portal/buildsystems"
	"muster/providers"
	"muster/solver"
	"muster/solver/change"
	"muster/solver/explain"
)

// UseCases returns the use cases on top of d, in which it sets what does not differ from place to place.
func UseCases(d all.Config) *all.Services {
	layouts := solver.New()
	d.Solver, d.Explainer, d.Changer, d.Planner = solver.WithNotes(layouts), explain.New(layouts), change.New(), planner.New()
	d.Keys, d.Tries, d.Connect = remote.Keys{}, jobs.Tries, remote.Connect
	d.Policies, d.Builds, d.BuildRules, d.TenantFiles = cel.New(), buildsystems.Family{}, cel.NewBuilds(), tenantfile.Files{}
	d.RemovedType = providers.Removed
	d.RateOf, d.Sleeps, d.Firewalls = providers.RateOf, providers.Sleeps, providers.Firewalls
	d.Volumes = volume.Kinds{Makes: providers.Volumes, Snapshots: providers.VolumeSnapshots, AtCreation: providers.VolumesAtCreation}
	d.Bakes, d.Inputs = providers.Bakes, automators.Inputs
	d.DryRuns, d.CheckScript, d.ResourceKinds = automators.DryRuns, shell.Syntax, families.ResourceKinds()
	return all.New(d)
}

// Portal returns the portal on top of u and c, in which it sets what does not differ from place to place.
func Portal(u *all.Services, c portal.Config) *portal.Portal {
	c.UseCases = faces.Portal(u)
	c.Keys, c.Texts, c.Rules = SecurityKeys(), catalog.Texts{}, spec.RuleTexts{}
	return portal.New(c)
}
