package execution

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/template"
)

// FactStore returns what services reported in a Finish.
type FactStore interface {
	// FactList returns all that existing nodes of a cluster reported, by node number, service and name.
	FactList(ctx context.Context, tenant, cluster string, limit int) ([]NodeFact, error)
	// FactsNamed returns those of the given names that nodes of a cluster reported: of each name those of the given nodes, and that of the first node that
	// reported it.
	FactsNamed(ctx context.Context, tenant, cluster string, names []app.FactName, nodes []string) ([]NodeFact, error)
}

// FactsConfig is what Facts is created from. Only what says so may be nil.
type FactsConfig struct {
	Store    FactStore
	Clusters *cluster.Finder
}

// Facts are what services of a cluster have reported.
type Facts struct {
	FactsConfig
}

// NewFacts returns them on top of what c holds.
func NewFacts(c FactsConfig) *Facts { return &Facts{FactsConfig: c} }

// Limits of what one action may tell.
const (
	maxFacts     = 50
	maxFactValue = 60 << 10  // bytes
	maxFactTotal = 200 << 10 // bytes of all values
)

// NodeFact is what a service's action reported about a node, such as the key with which others join it.
type NodeFact struct {
	Node    string    `json:"node"`
	Service string    `json:"service"`
	Name    string    `json:"name"`
	Value   string    `json:"value"` // "" for people, of one that is secret
	Secret  bool      `json:"secret,omitempty"`
	At      time.Time `json:"at"`
}

// CheckFacts refuses what is too much, or could not be spoken of. The error is EInvalid.
func CheckFacts(facts map[string]string) error {
	if len(facts) > maxFacts {
		return &app.Error{Code: app.EInvalid, Reason: "facts", Message: "The action reported too many facts: " + humanize.Count(len(facts), "value") + ".",
			Hint: "The limit is " + humanize.Count(maxFacts, "value") + "."}
	}
	total := 0
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		switch total += len(facts[name]); {
		case total > maxFactTotal:
			return &app.Error{Code: app.EInvalid, Reason: "facts", Message: "The action reported facts that are too long.",
				Hint: "The limit is " + humanize.Bytes(maxFactTotal) + " for all of them."}
		case !app.FactPattern.MatchString(name):
			return &app.Error{Code: app.EInvalid, Reason: "facts", Message: "The action reported a fact with an invalid name: " + template.Quoted(humanize.CutText(name, 80)) + ".",
				Hint: "Start with a letter. Use at most 64 lowercase letters, digits and underscores."}
		case len(facts[name]) > maxFactValue:
			return &app.Error{Code: app.EInvalid, Reason: "facts", Message: "The action reported a fact that is too long: " + name + ".",
				Hint: "The limit is " + humanize.Bytes(maxFactValue) + "."}
		case strings.ContainsRune(facts[name], 0) || !utf8.ValidString(facts[name]):
			return &app.Error{Code: app.EInvalid, Reason: "facts", Message: "The action reported a fact that isn't valid text: " + name + "."}
		}
	}
	return nil
}

// factsOf returns what a succeeded step reported. Where that breaks the rules, which a worker has checked before, the step fails.
func factsOf(r *Report) map[string]app.AnswerValue {
	if len(r.Facts) == 0 || r.Err != nil {
		return nil
	}
	if err := CheckFacts(r.Facts); err != nil {
		r.Err = app.AsError(err)
		return nil
	}
	values := make(map[string]app.AnswerValue, len(r.Facts))
	for name, v := range r.Facts {
		values[name] = app.AnswerValue{Text: v, Secret: app.SecretFact(name)}
	}
	return values
}

// giveFacts sets what services reported on nodes that a configuration is expanded for, and returns those values that are secret. What the node
// itself reported counts; where it reported nothing of that name, what the first node did.
func (a *Facts) giveFacts(ctx context.Context, c app.Cluster, names []app.FactName, to []*app.Node) (secret []string, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	nodes := make([]string, len(to))
	for i, n := range to {
		nodes[i] = n.Name
	}
	list, err := a.Store.FactsNamed(ctx, c.Tenant, c.ID, names, nodes)
	if err != nil {
		return nil, err
	}
	type place struct{ node, service, name string }
	notified := make(map[place]string, len(list))
	first := make(map[app.FactName]string, len(names))
	for _, f := range list { // in the order of nodes
		notified[place{f.Node, f.Service, f.Name}] = f.Value
		if name := (app.FactName{Service: f.Service, Name: f.Name}); first[name] == "" {
			first[name] = f.Value
		}
		if f.Secret && f.Value != "" {
			secret = append(secret, f.Value)
		}
	}
	for _, n := range to {
		n.Facts = make(map[app.FactName]string, len(names))
		for _, name := range names {
			if v, ok := notified[place{n.Name, name.Service, name.Name}]; ok {
				n.Facts[name] = v
			} else {
				n.Facts[name] = first[name]
			}
		}
	}
	slices.Sort(secret)
	return slices.Compact(secret), nil
}

// mostFacts is how many facts are listed at once.
const mostFacts = 5000

// ClusterFacts returns what the services of a cluster reported about its nodes, by node, without the values of those that are secret.
func (a *Facts) ClusterFacts(ctx context.Context, actor app.Actor, cluster string) ([]NodeFact, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "ClusterFacts", cluster)
	if err != nil {
		return nil, err
	}
	if err := actor.MayChange("ClusterFacts", c); err != nil {
		return nil, err
	}
	list, err := a.Store.FactList(ctx, actor.Tenant, c.ID, mostFacts)
	for i := range list {
		if list[i].Secret {
			list[i].Value = ""
		}
	}
	return list, err
}
