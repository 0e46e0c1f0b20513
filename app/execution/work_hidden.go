package execution

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/secret"
	"muster/app/template"
)

// mostHidden bounds, in bytes, what a command's worker hides of other nodes. What the step's own node reported is hidden beside it.
const mostHidden = 256 << 10

// clusterHidden is what a cluster keeps secret beside the values in its configuration. It's read once for a command: nothing changes it while one runs.
type clusterHidden struct {
	values []string
	facts  []app.FactName // that are secret, or part of a secret output
}

// hiddenOf returns what the output of a command on a node may not show, beside what the cluster's configuration names: secret facts, answers to
// manual steps, and secrets of services, actions and outputs. A person can print all of them on the node.
func (a *Service) hiddenOf(ctx context.Context, as *Assignment, c *ClaimedStep, oc *operationConfig) ([]string, error) {
	oc.mu.Lock()
	defer oc.mu.Unlock()
	if oc.hidden == nil {
		h, err := a.readHidden(ctx, c.Cluster, oc)
		if err != nil {
			return nil, err
		}
		oc.hidden = h
	}
	if len(oc.hidden.facts) == 0 {
		return oc.hidden.values, nil
	}
	own, err := a.Facts.Store.FactsNamed(ctx, c.Tenant, c.Cluster.ID, oc.hidden.facts, []string{as.Node.Name})
	if err != nil {
		return nil, err
	}
	all := slices.Clone(oc.hidden.values)
	for _, f := range own {
		all = append(all, f.Value)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// readHidden reads what is the same for all nodes.
func (a *Service) readHidden(ctx context.Context, c app.Cluster, oc *operationConfig) (*clusterHidden, error) {
	h, most := &clusterHidden{}, mostHidden
	add := func(v string) {
		if v != "" && len(v) <= most && !slices.Contains(h.values, v) {
			h.values, most = append(h.values, v), most-len(v)
		}
	}
	named, generated := secret.CutGenerated(secretsNamed(oc.definition))
	values, err := a.Inputs.SecretValues(ctx, c.Tenant, named, a.Now()) // one that is missing hides nothing
	if err != nil {
		return nil, err
	}
	for _, v := range slices.Sorted(maps.Values(values)) {
		add(v)
	}
	for _, v := range slices.Sorted(maps.Values(secret.GeneratedValues(oc.secrets.PrivateKey, generated))) {
		add(v)
	}
	settings, facts := outputsNamed(oc.definition)
	for _, v := range settings {
		add(v)
	}
	list, err := a.Facts.Store.FactList(ctx, c.Tenant, c.ID, mostFacts)
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		name := app.FactName{Service: f.Service, Name: f.Name}
		if !f.Secret && !slices.Contains(facts, name) {
			continue
		}
		if add(f.Value); !slices.Contains(h.facts, name) {
			h.facts = append(h.facts, name)
		}
	}
	for nodes := range slices.Chunk(oc.nodes.Nodes, 500) {
		names := make([]string, len(nodes))
		for i, n := range nodes {
			names[i] = n.Name
		}
		answers, err := a.ManualSteps.Store.Answers(ctx, c.Tenant, c.ID, names)
		if err != nil {
			return nil, err
		}
		for _, answer := range answers {
			for _, v := range answer.Values {
				if v.Secret {
					add(v.Text)
				}
			}
		}
	}
	return h, nil
}

// secretsNamed returns the secrets to which services, actions and outputs of a cluster refer, sorted.
func secretsNamed(d cluster.Definition) []string {
	var texts []any
	for _, s := range d.Services {
		for _, a := range s.Actions {
			texts = append(texts, a.Fields)
		}
	}
	for _, a := range d.Actions {
		texts = append(texts, a.Run)
	}
	for _, o := range d.Outputs {
		texts = append(texts, o.Value)
	}
	return app.SecretNames(texts...)
}

// outputSetting is how an output names a setting.
var outputSetting = regexp.MustCompile(`\$\{config:([^}|]*)(\|url)?\}`)

// outputsNamed returns what outputs of the type secret are: values of the configuration, and facts. Where one is put together of several, only what
// has a secret's name counts: the rest is a host or a port.
func outputsNamed(d cluster.Definition) (settings []string, facts []app.FactName) {
	for _, o := range d.Outputs {
		if o.Type != template.OutputSecret {
			continue
		}
		for _, m := range outputSetting.FindAllStringSubmatch(o.Value, -1) {
			var v any = d.Config
			for key := range strings.SplitSeq(m[1], ".") {
				in, _ := v.(map[string]any)
				v = in[key]
			}
			if text, ok := v.(string); ok && (m[0] == o.Value || secret.SecretKeyPattern.MatchString(m[1])) {
				settings = append(settings, text)
			}
		}
		if _, named := template.MacrosOf(o.Value); len(named) == 1 && o.Value == "%fact."+named[0].Service+"."+named[0].Name+"%" {
			facts = append(facts, named...)
		}
	}
	return settings, facts
}
