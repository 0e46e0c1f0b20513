package cluster_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest/harness"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/label"
	"muster/app/policy"
)

// A template's labels come with every cluster of it, and one that it requires is asked for at every door. Policies see the labels, and what was
// approved is what the cluster gets.
func TestLabelsOfNewClusters(t *testing.T) {
	b := harness.New(t)
	ctx, ada := t.Context(), b.Actor("ada", app.RoleUser)
	creates := b.Services.Cluster.Creates
	b.Catalog.Templates["web"].Labels = &label.Rules{Defaults: label.Labels{"team": "web", "stage": "dev"},
		Required: map[string]string{"cost-centre": "Ask your team lead."}}
	r := harness.Asks("shop", 1, 8*time.Hour)
	_, asked := creates.Ask(ctx, ada, r)
	_, previewed := creates.Preview(ctx, ada, r)
	_, submitted := creates.SubmitRequest(ctx, ada, r)
	for door, err := range map[string]error{"Ask": asked, "Preview": previewed, "SubmitRequest": submitted} {
		if e := app.AsError(err); err == nil || e.Reason != "label_required" || e.Hint != "Add cost-centre=VALUE. Ask your team lead." {
			t.Errorf("%s: %v", door, err)
		}
	}
	r.Labels, r.Description = label.Labels{"cost-centre": "4711", "stage": "live"}, "Shop of the spring sale"
	want := label.Labels{"cost-centre": "4711", "stage": "live", "team": "web"}
	v := b.Ask(ada, r).Cluster
	if !maps.Equal(v.Labels, want) || v.Description != r.Description {
		t.Errorf("created with %v, %q", v.Labels, v.Description)
	}
	// It is kept by an export and by a clone.
	e, err := b.Services.Cluster.Specs.ExportCluster(ctx, ada, v.ID)
	if err != nil || !maps.Equal(e.Spec.Labels, want) || e.Spec.Description != r.Description {
		t.Errorf("exported as %+v, %v", e.Spec, err)
	}
	twin, err := creates.CloneCluster(ctx, ada, v.ID, "twin", "")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := b.Store.Cluster(ctx, app.DefaultTenant, twin.Request.Cluster); err != nil || !maps.Equal(c.Labels, want) {
		t.Errorf("cloned with %v, %v", c.Labels, err)
	}
	// A change is seen in a comparison.
	if _, err := b.Services.Label.LabelCluster(ctx, ada, "twin", label.Change{Set: label.Labels{"stage": "test"}}); err != nil {
		t.Fatal(err)
	}
	d, err := b.Services.Cluster.Specs.DiffClusters(ctx, ada, "shop", "twin")
	if i := slices.IndexFunc(d.Changes, func(c app.ValueChange) bool { return c.Path == "labels.stage" }); err != nil || i < 0 || d.Changes[i].After != "test" {
		t.Errorf("compared: %+v, %v", d.Changes, err)
	}
	if _, err := b.Services.Label.LabelCluster(ctx, ada, "twin", label.Change{Remove: []string{"cost-centre"}}); app.AsError(err).Reason != "label_required" {
		t.Errorf("a required label is removed: %v", err)
	}
	if _, err := b.Services.Label.LabelCluster(ctx, b.Actor("bob", app.RoleUser), "twin", label.Change{Set: label.Labels{"stage": "x"}}); err == nil {
		t.Error("someone else changes the labels")
	}

	b.Rules(policy.Policy{Name: "live", Order: 1, Enabled: true, When: `labels["stage"] == "live" && !("owner" in labels)`, Effect: policy.EffectApprove, Reason: "Live.",
		Approval: &policy.Approval{Count: 1}})
	r.Name = "waits"
	answer := b.Ask(ada, r)
	if answer.Request.Status != cluster.RequestWaiting || !maps.Equal(answer.Request.Facts.Labels, want) {
		t.Fatalf("it doesn't wait: %+v", answer.Request)
	}
	done, err := b.Approve(b.Actor("cy", app.RoleApprover), answer.Request)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := b.Store.Cluster(ctx, app.DefaultTenant, done.Cluster); err != nil || !maps.Equal(c.Labels, want) || c.Description != r.Description {
		t.Errorf("approved with %v, %v", c.Labels, err)
	}
}

// Labels can't say what Muster finds its machines by, however they got into the database.
func TestLabelsAreNoTagsOfMuster(t *testing.T) {
	c := app.Cluster{ID: "web-1", Tenant: "t", Name: "web", Owner: "o'hara <x>" + strings.Repeat("x", 100),
		Labels: map[string]string{"muster-tenant": "other", "muster-x": "y", "team": "web"}}
	tags := family.TagsFor(c, "i", "n1", "in")
	want := map[string]string{family.TagInstallation: "i", family.TagTenant: "t", family.TagCluster: "web-1", family.TagNode: "n1", family.TagIntent: "in",
		family.TagOwner: "o_hara _x_" + strings.Repeat("x", 53), family.TagClusterName: "web", "team": "web"}
	if !maps.Equal(tags, want) {
		t.Errorf("tags %v", tags)
	}
}
