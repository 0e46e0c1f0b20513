package resource_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/apptest/harness"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/resource"
	"muster/app/template"
)

// kitchen is a harness whose "web" and "cache" are set up by chef-solo, without naming what they need.
func newKitchen(t *testing.T) *withWorker {
	f := newWithWorker(t)
	f.Services.Resource.ResourceKinds = []resource.Types{{Family: resource.ForAutomator, Member: "chef-solo", Types: []template.ResourceType{
		{Name: "cookbooks", Format: resource.FormatArchive, Common: true}, {Name: "roles", Format: resource.FormatFile, Common: true}, {Name: "notes", Format: resource.FormatFile}}}}
	f.cook("web")
	f.cook("cache")
	return f
}

// cook has chef-solo set up a service, with resources that its start names.
func (f *withWorker) cook(name string, start ...template.ResourceRef) {
	s := *f.Catalog.Services[name]
	s.Actions = maps.Clone(s.Actions)
	for a := range s.Actions {
		s.Actions[a] = &template.ServiceAction{Automator: "chef-solo", Fields: map[string]string{"run_list": name}}
	}
	s.Actions[app.ActionStart].Resources = start
	c := *f.Catalog // a catalog that was published doesn't change
	c.Services = maps.Clone(c.Services)
	c.Services[name] = &s
	f.Catalog = &c
}

// use puts the next version of resources, each type/name, into use.
func (f *withWorker) use(resources ...string) {
	f.Helper()
	who := f.Actor("root", app.RoleAdmin)
	for _, r := range resources {
		kind, name, _ := strings.Cut(r, "/")
		f.Made++
		b := resource.Blob{Hash: fmt.Sprintf("%064x", f.Made), Size: 1}
		blob, err := f.Store.AnnounceBlob(f.Context(), who.Tenant, b, 0, f.Clock.Now())
		if err != nil {
			f.Fatal(err)
		}
		id := resource.ID{Family: resource.ForAutomator, Member: "chef-solo", Type: kind, Name: name}
		if _, _, err := f.Store.AddResourceVersion(f.Context(), who, resource.Push{ID: id, Format: resource.FormatArchive, Stage: true}, b, blob, f.Clock.Now()); err != nil {
			f.Fatal(err)
		}
	}
	if _, err := f.Store.SyncResources(f.Context(), who, resource.Filter{}, false, f.Clock.Now()); err != nil {
		f.Fatal(err)
	}
}

// brought are the resources of an action in the cluster's definition.
func brought(d cluster.Definition, service string, a app.Action) (all []string) {
	for _, r := range d.Services[service].Actions[a].Resources {
		if r.Hash == "" {
			all = append(all, "unpinned!")
		}
		all = append(all, r.String())
	}
	return all
}

func TestActionsWithoutResourcesAreNeverRefused(t *testing.T) {
	many := func(kind string, n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("%s/%03d", kind, i))
		}
		return all
	}
	for name, c := range map[string]struct {
		use      []string
		n        int
		has, not []string
		note     string
	}{
		"nothing in use":          {},
		"what is not common":      {use: []string{"notes/a"}},
		"all":                     {use: []string{"cookbooks/web", "roles/base", "notes/a"}, n: 2, has: []string{"cookbooks/web@1", "roles/base@1"}},
		"a cookbook and a role":   {use: []string{"roles/web", "cookbooks/web", "roles/z"}, n: 2, has: []string{"cookbooks/web@1", "roles/z@1"}, note: "name is used twice: roles/web (beside cookbooks/web). Push"},
		"many of the same name":   {use: append(many("roles", 9), many("cookbooks", 8)...), n: 9, has: []string{"roles/008@1"}, note: "roles/004 (beside cookbooks/004) and 3 more. Push"},
		"just as many as can be":  {use: many("cookbooks", 200), n: 200, has: []string{"cookbooks/199@1"}},
		"too many":                {use: append(many("cookbooks", 199), "roles/a", "roles/b", "roles/c"), n: 200, has: []string{"cookbooks/198@1", "roles/a@1"}, not: []string{"roles/b@1"}, note: "at most 200, so not roles/b and roles/c. Put"},
		"too many of a same name": {use: append(many("cookbooks", 200), "roles/000"), n: 200, not: []string{"roles/000@1"}, note: "roles/000 (beside cookbooks/000)"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newKitchen(t)
			f.use(c.use...)
			lease := f.Catalog.Templates["shop"].Lease.Initial
			p, err := f.Services.Cluster.Creates.Preview(t.Context(), f.Who, cluster.CreateRequest{Name: "shop", Request: layout.Request{Template: "shop", Size: 3}, Lease: &lease})
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Join(p.Warnings, " ")
			if c.note == "" && said != "" || !strings.Contains(said, c.note) {
				t.Errorf("warns %q, want %q", said, c.note)
			}
			f.Shop(3, nil)
			for _, a := range []app.Action{app.ActionInstall, app.ActionStart} {
				got := brought(f.Definition(), "web", a)
				if len(got) != c.n {
					t.Errorf("%s has %d: %v", a, len(got), got)
				}
				for _, r := range c.has {
					if !slices.Contains(got, r) {
						t.Errorf("%s has no %s: %v", a, r, got)
					}
				}
				for _, r := range c.not {
					if slices.Contains(got, r) {
						t.Errorf("%s has %s", a, r)
					}
				}
			}
			if got := brought(f.Definition(), "db", app.ActionStart); len(got) > 0 {
				t.Errorf("one of shell's has %v", got)
			}
			// Services that are added are notified of the same.
			q := f.Preview(cluster.Update{Kind: app.OperationAddServices, Services: []string{"cache"}})
			if !strings.Contains(strings.Join(q.Notes, " "), c.note) {
				t.Errorf("added services say %q, want %q", q.Notes, c.note)
			}
		})
	}
}

// An upgrade takes over what is in use now, and runs again what names what has changed, or is otherwise another one.
func TestUpgradesSkipUnusedResources(t *testing.T) {
	named := template.ResourceRef{Name: "named"}
	for name, c := range map[string]struct {
		before, between []string
		named           bool // web's start names cookbooks/named
		change          func(f *withWorker)
		work            string
		start, install  string
		notes           string
		nothing         bool
	}{
		"from before there were any": {between: []string{"cookbooks/a"}, start: "[cookbooks/a@1]", install: "[cookbooks/a@1]", notes: "Nothing runs again because of this"},
		"one that others need":       {before: []string{"cookbooks/a"}, between: []string{"cookbooks/b"}, start: "[cookbooks/a@1 cookbooks/b@1]", install: "[cookbooks/a@1 cookbooks/b@1]", notes: "Resources used by web have changed"},
		"another version":            {before: []string{"cookbooks/a"}, between: []string{"cookbooks/a"}, start: "[cookbooks/a@2]", install: "[cookbooks/a@2]", notes: "Resources used by web have changed"},
		"none":                       {before: []string{"cookbooks/a"}, start: "[cookbooks/a@1]", install: "[cookbooks/a@1]", notes: "Nothing to change", nothing: true},
		"a named one is another":     {before: []string{"cookbooks/named"}, between: []string{"cookbooks/named"}, named: true, work: "n3.web upgrade", start: "[cookbooks/named@2]", install: "[cookbooks/named@2]"},
		"one beside a named one":     {before: []string{"cookbooks/named"}, between: []string{"cookbooks/b"}, named: true, start: "[cookbooks/named@1]", install: "[cookbooks/b@1 cookbooks/named@1]", notes: "Resources used by web have changed"},
		"names what it had":          {before: []string{"cookbooks/named"}, change: func(f *withWorker) { f.cook("web", named) }, work: "n3.web upgrade", start: "[cookbooks/named@1]", install: "[cookbooks/named@1]"},
		"the run list, and another one": {before: []string{"cookbooks/a"}, between: []string{"cookbooks/b"}, change: func(f *withWorker) {
			f.cook("web")
			f.Catalog.Services["web"].Actions[app.ActionStart].Fields["run_list"] = "new"
		}, work: "n3.web upgrade", start: "[cookbooks/a@1 cookbooks/b@1]", install: "[cookbooks/a@1 cookbooks/b@1]"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newKitchen(t)
			if c.named {
				f.cook("web", named)
			}
			if c.before != nil {
				f.use(c.before...)
			}
			f.Shop(3, nil)
			if c.between != nil {
				f.use(c.between...)
			}
			if c.change != nil {
				c.change(f)
			}
			var p cluster.UpdatePreview
			if c.nothing {
				p = f.Preview(cluster.Update{Kind: app.OperationUpgrade})
			} else {
				p, _ = f.Carried(cluster.Update{Kind: app.OperationUpgrade})
			}
			f.Want("work", harness.WorkOf(p), c.work)
			if said := strings.Join(p.Notes, " "); !strings.Contains(said, c.notes) || c.notes == "" && strings.Contains(said, "Resources used by") {
				t.Errorf("notes %q, want %q", said, c.notes)
			}
			f.Want("start", fmt.Sprint(brought(f.Definition(), "web", app.ActionStart)), c.start)
			f.Want("install", fmt.Sprint(brought(f.Definition(), "web", app.ActionInstall)), c.install)
			if again := f.Preview(cluster.Update{Kind: app.OperationUpgrade}); !again.NoChanges {
				t.Errorf("a second upgrade has work: %s, %v", harness.WorkOf(again), again.Changes)
			}
		})
	}
}
