package portal

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/dashboard"
	"muster/app/execution"
	"muster/app/fleet"
	"muster/app/identity"
	"muster/app/idle"
	"muster/app/layout"
	"muster/app/lease"
	"muster/app/policy"
	"muster/app/providervalue"
	"muster/app/quarantine"
	"muster/app/sharing"
	"muster/app/template"
	"muster/app/usage"
	"muster/app/volume"
	"muster/app/webhook"
	"muster/portal/site"
)

// everything is all use cases at once. A fake embeds it and leaves it nil, so that what a test does not expect to be asked panics.
type everything interface {
	site.SignIns
	site.Accounts
	site.Factors
	site.Emails
	site.Users
	site.Groups
	site.Tokens
	site.Devices
	site.Tenants
	site.TenantSettings
	site.Audit
	site.Clusters
	site.Dashboard
	site.Deletes
	site.Bulk
	site.Activity
	site.Ownership
	site.Labels
	site.ClusterAccess
	site.Creates
	site.Specs
	site.Sharing
	site.Locks
	site.Nodes
	site.Feed
	site.Repeats
	site.Catalogs
	site.Trials
	site.Templates
	site.Operations
	site.RollBacks
	site.Partials
	site.Kept
	site.Backfills
	site.Drifts
	site.Updates
	site.Sleeping
	site.Schedules
	site.Windows
	site.ProviderValues
	site.Leases
	site.Idle
	site.Runs
	site.Scaling
	site.Outputs
	site.Requests
	site.Health
	site.ManualSteps
	site.Queues
	site.Policies
	site.Quotas
	site.Usage
	site.Installation
	site.Provisioners
	site.Plugins
	site.Machines
	site.Pools
	site.Volumes
	site.Images
	site.Terminals
	site.NodeAccess
	site.NodeFiles
	site.Ports
	site.BuildHooks
	site.Builds
	site.BuildCalls
	site.Hooks
	site.Notices
	site.Notifications
	site.Chats
	site.Resources
	site.Versions
	site.Secrets
	site.Metering
}

// useCases returns the use cases of a fake, except those that one of instead has. An instead embeds the use cases of which it replaces only
// some methods. If it embedded the fake, the compiler would have to make all methods of all use cases again for each such type.
func useCases(f *fake, instead ...any) (u site.UseCases) {
	u = apptest.UseCases[site.UseCases](f)
	cases := reflect.ValueOf(&u).Elem()
	for _, x := range instead {
		v, called := reflect.ValueOf(x), map[string]bool{}
		for i := range cases.NumField() {
			c := cases.Field(i)
			if !v.Type().Implements(c.Type()) {
				continue
			}
			if c.Interface() != any(f) {
				panic(fmt.Sprintf("%T and %T both have %s", c.Interface(), x, c.Type()))
			}
			c.Set(v)
			for m := range c.Type().Methods() {
				called[m.Name] = true
			}
		}
		all := v.Type()
		if all.Kind() != reflect.Pointer {
			all = reflect.PointerTo(all) // methods of the pointer would be missing
		}
		for m := range all.Methods() {
			if !called[m.Name] {
				panic(fmt.Sprintf("%T.%s would never be called: embed the use cases of package site that it belongs to", x, m.Name))
			}
		}
		if len(called) == 0 {
			panic(fmt.Sprintf("%T has no use case", x))
		}
	}
	return u
}

type (
	lacksTheRest   struct{}
	onlyOfPointers struct{}
)

func (lacksTheRest) DeleteHook(context.Context, app.Actor, string) error { return nil }

func (*onlyOfPointers) DeleteCluster(context.Context, app.Actor, string) (cluster.View, error) {
	return cluster.View{}, nil
}

func (*onlyOfPointers) DeleteClusterWith(context.Context, app.Actor, string, template.VolumeChoice) (cluster.View, error) {
	return cluster.View{}, nil
}

// A method that replaces none of the fake's is a mistake.
func TestWhatIsInsteadOfTheFakeIsCalled(t *testing.T) {
	f := newFake(nil)
	for name, instead := range map[string][]any{
		"one method of several":      {lacksTheRest{}},
		"methods of pointers only":   {onlyOfPointers{}},
		"no use case":                {struct{}{}},
		"the same use cases by two":  {&onlyOfPointers{}, &onlyOfPointers{}},
		"a method that no one calls": {f},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: it is taken", name)
				}
			}()
			useCases(f, instead...)
		}()
	}
	if got := useCases(f, &onlyOfPointers{}); got.Deletes == site.Deletes(f) || got.Feed != site.Feed(f) {
		t.Error("the wrong use cases are replaced")
	}
}

// Under their own names these would hide methods.
type (
	useHealth      = site.Health
	useManualSteps = site.ManualSteps
	useQueues      = site.Queues
	useRequests    = site.Requests
	useTokens      = site.Tokens
)

// fakeOf is the fake that a site of a test begins with.
func fakeOf(c *Config) *fake { return c.SignIns.(*fake) }

// What pages ask beside what they are about: of it, a fake has nothing.

func (f *fake) Requests(context.Context, app.Actor, cluster.RequestFilter) ([]cluster.Request, error) {
	return nil, nil
}

func (f *fake) UnreadNotifications(context.Context, app.Actor) (int, error) { return 0, nil }

func (f *fake) ManualSteps(context.Context, app.Actor, execution.ManualStepQuery) ([]execution.ManualStep, error) {
	return nil, nil
}

func (f *fake) Home(context.Context, app.Actor) (dashboard.Data, error) {
	return dashboard.Data{}, nil
}

func (f *fake) Usage(context.Context, app.Actor, usage.Filter) (usage.Usage, error) {
	return usage.Usage{}, nil
}

func (f *fake) ManyMachines(context.Context, app.Actor) (bool, error) { return false, nil }

func (f *fake) QuotasTakeTime(context.Context, app.Actor) (bool, error) { return false, nil }

func (f *fake) QuotaLimits(context.Context, app.Actor) ([]policy.Quota, error) { return nil, nil }

func (f *fake) QuotaLeft(context.Context, app.Actor) (policy.QuotaLeft, error) {
	return policy.QuotaLeft{}, nil
}

func (f *fake) ClusterIdle(_ context.Context, _ app.Actor, id string) (idle.View, error) {
	return idle.View{Cluster: id, State: "none", Reasons: []string{}}, nil
}

func (f *fake) IdleWarnings(context.Context, app.Actor) ([]idle.View, error) { return nil, nil }

func (f *fake) IdleSavings(context.Context, app.Actor, time.Time, time.Time) (idle.Savings, error) {
	return idle.Savings{}, nil
}

func (f *fake) IdlePolicy(context.Context, app.Actor) (*template.IdlePolicy, error) { return nil, nil }

func (f *fake) LeaseOutlook(context.Context, app.Actor, string) (lease.Outlook, error) {
	return lease.Outlook{}, nil
}

func (f *fake) TemplatePrices(context.Context, app.Actor) (map[string]float64, error) {
	return nil, nil
}

func (f *fake) KeptMachines(context.Context, app.Actor, string) ([]quarantine.Machine, error) {
	return nil, nil
}

func (f *fake) TenantNames(context.Context, app.Actor) ([]string, error) { return nil, nil }

func (f *fake) KnownAddress(context.Context, string, string, string) bool { return false }

func (f *fake) NoteRefusal(context.Context, identity.Refusal) {}

func (f *fake) Places(context.Context, app.Actor, string) (*layout.Places, error) { return nil, nil }

func (f *fake) Explain(context.Context, app.Actor, cluster.CreateRequest) (layout.Explanation, error) {
	return layout.Explanation{}, nil
}

func (f *fake) StepGraph(ctx context.Context, a app.Actor, cluster string, operation int64) ([]app.Step, error) {
	return f.Steps(ctx, a, cluster, operation)
}

// Ask has no policies: it creates at once.
func (f *fake) Ask(ctx context.Context, a app.Actor, r cluster.CreateRequest) (cluster.Answer, error) {
	v, err := f.CreateCluster(ctx, a, r)
	return cluster.Answer{Cluster: &v}, err
}

func (f *fake) SubmitRequest(ctx context.Context, a app.Actor, r cluster.CreateRequest) (cluster.Answer, error) {
	v, err := f.CreateCluster(ctx, a, r)
	return cluster.Answer{Request: cluster.Request{Cluster: v.ID}}, err
}

// What wants an admin's attention: nothing.

func (f *fake) Orphans(context.Context, app.Actor, bool) (fleet.OrphanReport, error) {
	return fleet.OrphanReport{}, nil
}

func (f *fake) Provisioners(context.Context, app.Actor) ([]app.Provisioner, error) { return nil, nil }

func (f *fake) Quotas(context.Context, app.Actor) ([]policy.QuotaUse, error) { return nil, nil }

func (f *fake) Hooks(context.Context, app.Actor) ([]webhook.Endpoint, error) { return nil, nil }

func (f *fake) ProviderHealth(context.Context, app.Actor) ([]fleet.ProviderHealth, error) {
	return nil, nil
}

// PreviewUpdate has nothing to update.
func (f *fake) PreviewUpdate(context.Context, app.Actor, string, cluster.Update) (cluster.UpdatePreview, error) {
	return cluster.UpdatePreview{NoChanges: true}, nil
}

func (f *fake) ClusterSharing(_ context.Context, _ app.Actor, id string) (sharing.ClusterSharing, error) {
	return sharing.ClusterSharing{Cluster: id, Visibility: app.VisibleTenant}, nil
}

// Volumes are none, unless a test says otherwise.
func (f *fake) Volumes(context.Context, app.Actor, volume.Filter) ([]volume.Volume, error) {
	return f.volumes, nil
}

func (f *fake) FieldsIn(*template.Catalog, string) []providervalue.Field { return nil }
