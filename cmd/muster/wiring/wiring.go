package wiring

import (
	"muster/app/all"
	"muster/app/file/catalog"
	"muster/app/file/spec"
	"muster/app/file/tenantfile"
	"muster/app/policy/cel"
	"muster/automators"
	"muster/automators/shell"
	"muster/cmd/muster/families"
	"muster/jobs"
	"muster/jobs/remote"
	"muster/planner"
	"muster/portal"
	"muster/portal/buildsystems"
	catalogpage "muster/portal/catalog"
	clusterpage "muster/portal/cluster"
	fleetpage "muster/portal/fleet"
	healthpage "muster/portal/health"
	homepage "muster/portal/home"
	identitypage "muster/portal/identity"
	operationpage "muster/portal/operation"
	quotapage "muster/portal/quota"
	"muster/portal/site"
	templatepage "muster/portal/template"
	"muster/providers"
	"muster/solver"
	"muster/solver/change"
	"muster/solver/explain"
)

// What the portal looks for in the use cases while it runs has to be there: a method that is missing, or that two domains have, would only
// make a page disappear.
var (
	_ site.Accounts                 = (*all.App)(nil)
	_ site.Amending                 = (*all.App)(nil)
	_ site.Auditing                 = (*all.App)(nil)
	_ site.Building                 = (*all.App)(nil)
	_ site.Cataloging               = (*all.App)(nil)
	_ site.Chatting                 = (*all.App)(nil)
	_ site.Explainer                = (*all.App)(nil)
	_ site.Graphing                 = (*all.App)(nil)
	_ site.Hooking                  = (*all.App)(nil)
	_ site.Installation             = (*all.App)(nil)
	_ site.Life                     = (*all.App)(nil)
	_ site.Machines                 = (*all.App)(nil)
	_ site.Money                    = (*all.App)(nil)
	_ site.Muster                   = (*all.App)(nil)
	_ site.Newcomers                = (*all.App)(nil)
	_ site.Noticing                 = (*all.App)(nil)
	_ site.People                   = (*all.App)(nil)
	_ site.Pooling                  = (*all.App)(nil)
	_ site.Provisioning             = (*all.App)(nil)
	_ site.Questioning              = (*all.App)(nil)
	_ site.Requesting               = (*all.App)(nil)
	_ site.Resourcing               = (*all.App)(nil)
	_ site.Ruling                   = (*all.App)(nil)
	_ site.Secreting                = (*all.App)(nil)
	_ site.Sharing                  = (*all.App)(nil)
	_ site.Templating               = (*all.App)(nil)
	_ site.Tenancy                  = (*all.App)(nil)
	_ site.Watching                 = (*all.App)(nil)
	_ portal.Metering               = (*all.App)(nil)
	_ portal.Repeats                = (*all.App)(nil)
	_ catalogpage.CatalogExplaining = (*all.App)(nil)
	_ clusterpage.LogSearching      = (*all.App)(nil)
	_ fleetpage.Accounting          = (*all.App)(nil)
	_ healthpage.Checking           = (*all.App)(nil)
	_ homepage.Homing               = (*all.App)(nil)
	_ identitypage.Settling         = (*all.App)(nil)
	_ identitypage.DeviceLogin      = (*all.App)(nil)
	_ identitypage.OwnTokens        = (*all.App)(nil)
	_ operationpage.GoingOn         = (*all.App)(nil)
	_ quotapage.Forecast            = (*all.App)(nil)
	_ templatepage.Pricing          = (*all.App)(nil)
)

// UseCases returns the use cases on top of d, in which it sets what does not differ from place to place.
func UseCases(d all.Deps) *all.App {
	layouts := solver.New()
	d.Solver, d.Explainer, d.Changer, d.Planner = solver.WithNotes(layouts), explain.New(layouts), change.New(), planner.New()
	d.Keys, d.Tries = remote.Keys{}, jobs.Tries
	d.Policies, d.Builds, d.BuildRules, d.TenantFiles = cel.New(), buildsystems.Family{}, cel.NewBuilds(), tenantfile.Files{}
	d.RateOf, d.Sleeps, d.Firewalls = providers.RateOf, providers.Sleeps, providers.Firewalls
	d.DryRuns, d.CheckScript, d.ResourceKinds = automators.DryRuns, shell.Syntax, families.ResourceKinds()
	return all.New(d)
}

// Portal returns the portal on top of c, in which it sets what does not differ from place to place.
func Portal(c portal.Config) *portal.Portal {
	c.Keys, c.Texts, c.Rules = SecurityKeys(), catalog.Texts{}, spec.RuleTexts{}
	return portal.New(c)
}
