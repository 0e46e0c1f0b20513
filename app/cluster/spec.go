package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/label"
	"muster/app/layout"
	"muster/app/secret"
	"muster/app/template"
)

// SpecStore is what Specs needs of the database.
type SpecStore interface {
	Definition(ctx context.Context, tenant string, cluster string) (Definition, error)
	// LeftBy returns a cluster as an operation left it, or as it was at that time where the operation changed nothing: template, size, services,
	// cost and definition.
	LeftBy(ctx context.Context, tenant string, cluster string, operation int64) (Change, error)
	Nodes(ctx context.Context, tenant string, cluster string) ([]app.Node, error)
}

// SpecsConfig is what Specs is created from.
type SpecsConfig struct {
	Store    SpecStore
	Catalogs *catalog.Service
	Clusters *Finder
}

// Specs exports and compares what clusters were requested as.
type Specs struct {
	SpecsConfig
}

// NewSpecs returns Specs on top of their needs.
func NewSpecs(c SpecsConfig) *Specs { return &Specs{SpecsConfig: c} }

// Spec is what to ask for to get a cluster like another one, with the catalog as it is. It is written for people, and read by
// `muster cluster create -f`. Empty fields leave the choice to the template.
type Spec struct {
	Name       string              `json:"name,omitempty"`
	Template   string              `json:"template"`
	Size       int                 `json:"size"`
	Provider   string              `json:"provider,omitempty"`
	Zone       string              `json:"zone,omitempty"`
	Services   []string            `json:"services,omitempty"`
	Hardware   string              `json:"hardware,omitempty"` // where all nodes have the same
	Image      string              `json:"image,omitempty"`    // where all nodes have the same
	Prefer     template.Preference `json:"prefer,omitempty"`
	Lease      string              `json:"lease,omitempty"` // such as 8h, or forever
	DNSSuffix  string              `json:"dns_suffix,omitempty"`
	Config     map[string]any      `json:"config,omitempty"` // over the template's own
	Parameters map[string]any      `json:"parameters,omitempty"`
	OnFailure  app.FailureChoice   `json:"on_failure,omitempty"`

	Description string            `json:"description,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	template.PartialOverride
	layout.PlaceOptions
}

// SpecExport is a spec with what it does not say. Groups are the nodes as they are; a create works them out from the rest.
type SpecExport struct {
	Spec Spec `json:"spec"`
	// Omitted are the paths of values that may be secret, which have to be entered again for a create.
	Omitted []string           `json:"omitted"`
	Groups  []layout.NodeGroup `json:"groups"`
}

// ExportCluster returns the spec of a cluster to those who may change it. Values that may be secret are left out; references to
// secrets are not secret.
func (a *Specs) ExportCluster(ctx context.Context, actor app.Actor, cluster string) (SpecExport, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "ExportCluster", cluster)
	if err != nil {
		return SpecExport{}, err
	}
	if err := actor.MayChange("ExportCluster", c); err != nil {
		return SpecExport{}, err
	}
	e, err := a.export(ctx, c)
	if err != nil {
		return SpecExport{}, err
	}
	e.Omitted = []string{}
	e.Spec.Config = withoutSecrets("config", e.Spec.Config, &e.Omitted)
	e.Spec.Parameters = withoutSecrets("parameters", e.Spec.Parameters, &e.Omitted)
	return e, nil
}

// export is the spec with all of its values.
func (a *Specs) export(ctx context.Context, c app.Cluster) (SpecExport, error) {
	if c.Status == app.ClusterDeleted {
		return SpecExport{}, app.Errorf(app.EConflict, "Cluster %q was deleted.", c.Name)
	}
	d, err := a.Store.Definition(ctx, c.Tenant, c.ID)
	if err != nil {
		return SpecExport{}, err
	}
	nodes, err := a.Store.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return SpecExport{}, err
	}
	catalog, err := a.Catalogs.CatalogOf(ctx, c.Tenant)
	if err != nil {
		return SpecExport{}, err
	}
	return specOf(c, d, nodes, catalog.Templates[c.Template]), nil
}

// specOf writes down what a cluster is. The template is the one of today; nil where there is none any more.
func specOf(c app.Cluster, d Definition, nodes []app.Node, t *template.Template) SpecExport {
	e := SpecExport{Omitted: []string{}, Groups: groupsOf(nodes)}
	e.Spec = Spec{Name: c.Name, Template: c.Template, Size: len(nodes), Provider: c.Provider, Services: slices.Clone(c.Services), DNSSuffix: c.DNSSuffix,
		Config: d.Overrides, Parameters: d.Parameters, Lease: "forever", Description: c.Description, Labels: c.Labels}
	if d.Overrides == nil && t != nil { // from before it was kept apart
		e.Spec.Config = difference(t.Defaults.Config, d.Config)
	}
	if !c.ExpiresAt.IsZero() {
		lease := c.ExpiresAt.Sub(c.CreatedAt)
		if t != nil && t.Lease.Initial > 0 {
			lease = min(lease, t.Lease.Initial) // what came later was an extension
		}
		e.Spec.Lease = leaseText(lease)
	}
	if len(e.Groups) > 0 {
		e.Spec.Hardware, e.Spec.Image = e.Groups[0].Hardware, e.Groups[0].Image
	}
	for _, g := range e.Groups {
		if g.Hardware != e.Spec.Hardware {
			e.Spec.Hardware = ""
		}
		if g.Image != e.Spec.Image {
			e.Spec.Image = ""
		}
	}
	return e
}

// groupsOf counts nodes that are alike, in the order of the first of each.
func groupsOf(nodes []app.Node) []layout.NodeGroup {
	groups := []layout.NodeGroup{}
	for _, n := range nodes {
		i := slices.IndexFunc(groups, func(g layout.NodeGroup) bool {
			return g.Hardware == n.AskedHardware() && g.Image == n.Image && g.Zone == n.Zone && slices.Equal(g.Services, n.Services)
		})
		if i < 0 {
			i = len(groups)
			groups = append(groups, layout.NodeGroup{Hardware: n.AskedHardware(), Image: n.Image, Zone: n.Zone, Services: n.Services})
		}
		groups[i].Count++
	}
	return groups
}

// difference returns what has to be laid over base to get full, as far as that can be said: what full lacks is not.
func difference(base, full map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range full {
		b, had := base[k]
		bm, bIs := b.(map[string]any)
		vm, vIs := v.(map[string]any)
		switch {
		case had && bIs && vIs:
			if sub := difference(bm, vm); len(sub) > 0 {
				out[k] = sub
			}
		case !had || !template.SameValue(b, v):
			out[k] = v
		}
	}
	return out
}

// withoutSecrets leaves out what may be secret, and names it.
func withoutSecrets(path string, config map[string]any, left *[]string) map[string]any {
	if len(config) == 0 {
		return nil
	}
	out := map[string]any{}
	for _, k := range slices.Sorted(maps.Keys(config)) {
		at, v := template.PathOf(path, k), config[k]
		if m, is := v.(map[string]any); is && !secret.SecretKeyPattern.MatchString(k) {
			if len(m) == 0 {
				out[k] = m
			} else if sub := withoutSecrets(at, m, left); len(sub) > 0 {
				out[k] = sub
			}
			continue
		}
		if hides(k, v) {
			*left = append(*left, at)
			continue
		}
		out[k] = v
	}
	return out
}

// hides reports whether a value under a key may be secret.
func hides(key string, v any) bool {
	if text, is := v.(string); is && text != "" && app.SecretReference.ReplaceAllString(text, "") == "" {
		return false
	}
	return secret.SecretKeyPattern.MatchString(key) || !template.SameValue(v, Concealed(v))
}

// leaseText writes a duration as ParseLength reads it, to the minute.
func leaseText(d time.Duration) string {
	text := ""
	for _, u := range []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if n := d / u.size; n > 0 {
			text += fmt.Sprintf("%d%s", n, u.name)
			d -= n * u.size
		}
	}
	if text == "" {
		return "1m"
	}
	return text
}

// Request is what to ask for.
func (s Spec) Request() (CreateRequest, error) {
	r := CreateRequest{Name: s.Name, DNSSuffix: s.DNSSuffix, Config: s.Config, Parameters: s.Parameters, OnFailure: s.OnFailure,
		PartialOverride: s.PartialOverride, PlaceOptions: s.PlaceOptions,
		Description: s.Description, Labels: s.Labels,
		Request: layout.Request{Template: s.Template, Size: s.Size, Provider: s.Provider, Zone: s.Zone, Services: s.Services, Hardware: s.Hardware,
			Image: s.Image, Prefer: s.Prefer}}
	var err error
	r.Lease, err = s.leaseLength()
	return r, err
}

// leaseLength reads the lease: nil where nothing is said, 0 forever.
func (s Spec) leaseLength() (*time.Duration, error) {
	switch s.Lease {
	case "":
		return nil, nil
	case "forever":
		return new(time.Duration), nil
	}
	lease, err := template.ParseLength(s.Lease)
	if err != nil || lease <= 0 {
		return nil, &app.Error{Code: app.EInvalid, Field: "lease", Message: fmt.Sprintf("Invalid lease %.40q.", s.Lease), Hint: "Use a duration such as 90m, 8h or 7d, or forever."}
	}
	return &lease, nil
}

// Complaints are what is wrong with a spec whatever the catalog says, each with its field.
func (s Spec) Complaints() (list []*app.Error) {
	_, lease := s.leaseLength()
	checks := []error{label.CheckDescription(s.Description), label.Check(s.Labels), s.Prefer.Check(), lease, s.OnFailure.Check(),
		s.PartialOverride.Check(s.OnFailure), s.PlaceOptions.Check()}
	if s.Name != "" {
		checks = append(checks, app.CheckClusterName(s.Name))
	}
	if s.DNSSuffix != "" {
		checks = append(checks, app.CheckDNSSuffix(s.DNSSuffix))
	}
	for _, err := range checks {
		if err != nil {
			list = append(list, app.AsError(err))
		}
	}
	return list
}
