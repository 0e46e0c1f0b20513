package cluster

import (
	"context"
	"slices"
	"sync"

	"muster/app"
	"muster/app/health"
	"muster/app/secret"
	"muster/app/template"
)

// Output and errors of steps can contain values of the configuration. Readers see the same values there as in ClusterConfig: none without the right to read
// the configuration, and otherwise none that may be secret. Defaults of the template, parameters and names stay readable, since other pages show them too.

// MaskFor returns the redactor that hides the values of a cluster's configuration that the actor may not read; nil if there are none.
func (a *Masks) MaskFor(ctx context.Context, actor app.Actor, c app.Cluster) (*secret.Redactor, error) {
	return a.MaskOf(ctx, c, actor.MayIn("ClusterConfig", c))
}

// MaskOf is MaskFor a reader who may read the configuration, or may not.
func (a *Masks) MaskOf(ctx context.Context, c app.Cluster, reads bool) (*secret.Redactor, error) {
	all, err := a.masksOf(ctx, c.Tenant, []app.Cluster{c}, func(app.Cluster) bool { return reads })
	if err != nil {
		return nil, err
	}
	m, ok := all[c.ID]
	if !ok {
		return nil, app.Errorf(app.ENotFound, "Cluster %q doesn't exist.", c.ID)
	}
	return m, nil
}

// masksOf returns the redactors of clusters of a tenant by id, in two questions to the database, however many clusters there are. A cluster that is
// gone has none.
func (a *Masks) masksOf(ctx context.Context, tenant string, clusters []app.Cluster, reads func(app.Cluster) bool) (map[string]*secret.Redactor, error) {
	if len(clusters) == 0 {
		return nil, nil
	}
	ids := make([]string, len(clusters))
	for i, c := range clusters {
		ids[i] = c.ID
	}
	states, err := a.Store.DefinitionStates(ctx, tenant, ids)
	if err != nil {
		return nil, err
	}
	catalog, err := a.Catalogs.CachedCatalogOf(ctx, tenant)
	if err != nil {
		return nil, err
	}
	masks := make(map[string]*secret.Redactor, len(clusters))
	var unknown []string
	for _, c := range clusters {
		state, there := states[c.ID]
		if m := a.masks.get(maskKey{c.ID, reads(c)}, state, catalog); m != nil {
			masks[c.ID] = m.values
		} else if there {
			unknown = append(unknown, c.ID)
		}
	}
	if len(unknown) == 0 {
		return masks, nil
	}
	definitions, err := a.Store.Definitions(ctx, tenant, unknown)
	if err != nil {
		return nil, err
	}
	templates := catalog.For(app.Actor{Tenant: tenant, Role: app.RoleViewer}).Templates
	for _, c := range clusters {
		if !slices.Contains(unknown, c.ID) {
			continue
		}
		all, legible := definitions[c.ID]
		switch k := (maskKey{c.ID, reads(c)}); {
		case legible:
			masks[c.ID] = a.masks.keep(k, mask{states[c.ID], catalog, secret.NewRedactor(maskedValues(c, templates[c.Template], all, k.reads))})
		case k.reads:
			masks[c.ID] = nil
		default: // without the values, they can't be found in a text
			masks[c.ID] = secret.HideAll()
		}
	}
	return masks, nil
}

// MaxDefinitions is how many earlier definitions of a cluster are looked at for values that its log may hold.
const MaxDefinitions = 200

// maskKey names a mask, and mask is one with what it was made from.
type maskKey struct {
	cluster string
	reads   bool
}

type mask struct {
	state   string
	catalog *template.Catalog
	values  *secret.Redactor
}

// maskCache remembers some: an open page asks for the same one again and again.
type maskCache struct {
	mu   sync.Mutex
	kept map[maskKey]mask
}

const mostMasks = 512

func (m *maskCache) get(k maskKey, state string, c *template.Catalog) *mask {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found, ok := m.kept[k]; ok && found.state == state && found.catalog == c {
		return &found
	}
	return nil
}

func (m *maskCache) keep(k maskKey, made mask) *secret.Redactor {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil || len(m.kept) >= mostMasks {
		m.kept = map[maskKey]mask{}
	}
	m.kept[k] = made
	return made.values
}

// maskedValues are the values of a cluster's configuration, as it is and as it was, that a reader may not see.
func maskedValues(c app.Cluster, t *template.Template, all []Definition, reads bool) []string {
	v := secret.NewValues(reads, append([]string{c.ID, c.Name, c.Owner, c.Template, c.Provider}, c.Services...)...)
	if !reads {
		if t != nil {
			v.Show(t.Defaults.Config)
		}
		for _, d := range all {
			v.Show(d.redactedParameters(t))
		}
	}
	for _, d := range all {
		v.Add(d.Config)
	}
	return v.List()
}

// MaskSteps, and those that follow, take values out of what a reader is given. Nothing that others may hold is changed.
func MaskSteps(m *secret.Redactor, steps []app.Step) []app.Step {
	if m == nil {
		return steps
	}
	for i := range steps {
		steps[i].Error = m.Hide(steps[i].Error)
	}
	return steps
}

func MaskLines(m *secret.Redactor, lines []app.LogLine) []app.LogLine {
	if m == nil {
		return lines
	}
	for i := range lines {
		lines[i].Text = m.Hide(lines[i].Text)
	}
	return lines
}

func MaskHealth(m *secret.Redactor, h *health.ClusterHealth) *health.ClusterHealth {
	if m == nil || h == nil {
		return h
	}
	out := *h
	out.Reason, out.Note, out.Nodes = m.Hide(h.Reason), m.Hide(h.Note), slices.Clone(h.Nodes)
	for i := range out.Nodes {
		reasons := slices.Clone(out.Nodes[i].Reasons)
		for j := range reasons {
			reasons[j] = m.Hide(reasons[j])
		}
		out.Nodes[i].Reasons = reasons
	}
	return &out
}

// MaskView takes values out of what is said about a cluster.
func MaskView(m *secret.Redactor, v *View) {
	if m == nil {
		return
	}
	v.Message = m.Hide(v.Message)
	for i := range v.Operations {
		v.Operations[i].Message = m.Hide(v.Operations[i].Message)
	}
	v.Health = MaskHealth(m, v.Health)
	if v.Problem != nil {
		t := *v.Problem
		t.Text, t.Failures = m.Hide(t.Text), slices.Clone(t.Failures)
		for i := range t.Failures {
			t.Failures[i].Error = m.Hide(t.Failures[i].Error)
		}
		v.Problem = &t
	}
	if v.Backfill != nil {
		t := *v.Backfill
		t.Note = m.Hide(t.Note)
		v.Backfill = &t
	}
}

// MaskSummaries does so for lists. Only clusters with messages cost anything.
func (a *Masks) MaskSummaries(ctx context.Context, actor app.Actor, list []app.ClusterSummary) error {
	reported := func(s app.ClusterSummary) bool {
		return s.Message != "" || s.Operation != nil && s.Operation.Message != ""
	}
	var clusters []app.Cluster
	for _, s := range list {
		if reported(s) {
			clusters = append(clusters, s.Cluster)
		}
	}
	masks, err := a.masksOf(ctx, actor.Tenant, clusters, func(c app.Cluster) bool { return actor.MayIn("ClusterConfig", c) })
	if err != nil {
		return err
	}
	for i := range list {
		s := &list[i]
		if !reported(*s) {
			continue
		}
		m, ok := masks[s.ID]
		if !ok {
			m = secret.HideAll() // it is gone meanwhile
		}
		s.Message = m.Hide(s.Message)
		if s.Operation != nil {
			o := *s.Operation
			o.Message = m.Hide(o.Message)
			s.Operation = &o
		}
	}
	return nil
}

// MaskError takes values out of a refusal that quotes what a step said.
func MaskError(m *secret.Redactor, err error) error {
	e := app.AsError(err)
	if m == nil || m.Hide(e.Message) == e.Message {
		return err
	}
	out := *e
	out.Message = m.Hide(e.Message)
	return &out
}
