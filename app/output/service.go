package output

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/humanize"
	"muster/app/template"
)

// Store is what Service needs of the database.
type Store interface {
	Definition(ctx context.Context, tenant, cluster string) (cluster.Definition, error)
	ClusterSecrets(ctx context.Context, tenant, cluster string) (cluster.Secrets, error)
	Nodes(ctx context.Context, tenant, cluster string) ([]app.Node, error)
	FactsNamed(ctx context.Context, tenant, cluster string, names []app.FactName, nodes []string) ([]execution.NodeFact, error)
	AddAuditEntry(ctx context.Context, d app.AuditEntry) error
}

// Config is what Service is created from.
type Config struct {
	Store    Store
	Now      func() time.Time
	Clusters *cluster.Finder
}

// Service hands the outputs of clusters to people.
type Service struct{ Config }

// New returns the service.
func New(c Config) *Service { return &Service{Config: c} }

// Output is a value of a cluster.
type Output struct {
	Name        string              `json:"name"`
	Type        template.OutputType `json:"type"`
	Description string              `json:"description,omitempty"`
	Secret      bool                `json:"secret,omitempty"`
	Value       string              `json:"value,omitempty"` // "" of one that is secret, until it is revealed, and where there is none yet
	Variable    string              `json:"variable"`
	File        string              `json:"file,omitempty"`
	Mode        string              `json:"mode,omitempty"`
	Missing     string              `json:"missing,omitempty"` // why there is no value yet
}

// List is the outputs of a cluster, in the template's order.
type List struct {
	Cluster   string   `json:"cluster"`
	Name      string   `json:"name"`
	Outputs   []Output `json:"outputs"`
	MayReveal bool     `json:"may_reveal"` // the reader may have the secret ones
}

// ClusterOutputs returns a cluster's outputs, without the values of those that are secret.
func (s *Service) ClusterOutputs(ctx context.Context, actor app.Actor, id string) (List, error) {
	c, err := s.Clusters.AuthorizedCluster(ctx, actor, "ClusterOutputs", id)
	if err != nil {
		return List{}, err
	}
	list, err := s.list(ctx, actor, c, nil)
	for i := range list.Outputs {
		if list.Outputs[i].Secret {
			list.Outputs[i].Value = ""
		}
	}
	return list, err
}

// maxNames is how many outputs can be named at once.
const maxNames = MaxOutputs

// RevealOutputs returns the named outputs of a cluster, all where none is named, with the values of those that are
// secret, to those who can use the cluster. The audit log says which. ENotFound names an output that there isn't,
// EConflict one that has no value yet.
func (s *Service) RevealOutputs(ctx context.Context, actor app.Actor, id string, names []string) (List, error) {
	c, err := s.Clusters.AuthorizedCluster(ctx, actor, "RevealOutputs", id)
	if err != nil {
		return List{}, err
	}
	if err := actor.MayChange("RevealOutputs", c); err != nil {
		return List{}, err
	}
	if len(names) > maxNames {
		return List{}, &app.Error{Code: app.EInvalid, Field: "names", Message: fmt.Sprintf("%d outputs are named; the limit is %d.", len(names), maxNames),
			Hint: "Name none to get all."}
	}
	list, err := s.list(ctx, actor, c, names)
	if err != nil {
		return List{}, err
	}
	var shown []string
	for _, o := range list.Outputs {
		if o.Secret && o.Missing == "" {
			shown = append(shown, o.Name)
		}
	}
	if len(shown) == 0 {
		return list, nil
	}
	return list, s.Store.AddAuditEntry(ctx, actor.AuditEntry(s.Now(), "cluster.outputs", c.ID, strings.Join(shown, ", ")))
}

// list returns the named outputs with their values; all where none is named.
func (s *Service) list(ctx context.Context, actor app.Actor, c app.Cluster, names []string) (List, error) {
	list := List{Cluster: c.ID, Name: c.Name, Outputs: []Output{}, MayReveal: actor.MayIn("RevealOutputs", c)}
	if c.Status == app.ClusterDeleted {
		return list, missing(c, list, names)
	}
	d, err := s.Store.Definition(ctx, c.Tenant, c.ID)
	if err != nil {
		return list, err
	}
	if d.Outputs = slices.DeleteFunc(slices.Clone(d.Outputs), func(o template.Output) bool {
		return len(names) > 0 && !slices.Contains(names, o.Name) || !has(c, o)
	}); len(d.Outputs) == 0 {
		return list, missing(c, list, names)
	}
	e, err := s.expander(ctx, c, d)
	if err != nil {
		return list, err
	}
	for _, o := range d.Outputs {
		list.Outputs = append(list.Outputs, e.output(c, o))
	}
	return list, missing(c, list, names)
}

// has reports whether the cluster has all services that an output names. Templates can have optional ones.
func has(c app.Cluster, o template.Output) bool {
	services, _ := Uses(o)
	return !slices.ContainsFunc(services, func(s string) bool { return !slices.Contains(c.Services, s) })
}

// missing refuses names that no output has.
func missing(c app.Cluster, l List, names []string) error {
	var have []string
	for _, o := range l.Outputs {
		have = append(have, o.Name)
	}
	for _, n := range names {
		if slices.Contains(have, n) {
			continue
		}
		return &app.Error{Code: app.ENotFound, Reason: "output", Message: fmt.Sprintf("Cluster %q has no output %.70q.", c.Name, n),
			Hint: "List its outputs: muster cluster outputs " + humanize.ShellQuote(c.Name)}
	}
	return nil
}
