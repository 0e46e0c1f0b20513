package output

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/secret"
	"muster/app/template"
)

// expander works out the values of a cluster's outputs.
type expander struct {
	nodes     template.MacroCluster
	self      app.Node // no node: it has what the first node reported of each fact
	config    map[string]any
	generated map[string]string
	secrets   map[app.FactName]bool
}

// expander reads what the outputs of a definition name, in one query each.
func (s *Service) expander(ctx context.Context, c app.Cluster, d cluster.Definition) (*expander, error) {
	nodes, err := s.Store.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	e := &expander{nodes: template.NewMacroCluster(c.Owner, app.Counting(nodes)), config: d.Config, secrets: map[app.FactName]bool{}}
	facts, generated := e.named(d.Outputs)
	if len(generated) > 0 {
		keys, err := s.Store.ClusterSecrets(ctx, c.Tenant, c.ID)
		if err != nil {
			return nil, err
		}
		e.generated = secret.GeneratedValues(keys.PrivateKey, generated)
	}
	e.self.Facts = map[app.FactName]string{}
	if len(facts) == 0 || len(nodes) == 0 {
		return e, nil
	}
	list, err := s.Store.FactsNamed(ctx, c.Tenant, c.ID, facts, []string{""})
	for _, f := range list { // in the order of nodes
		name := app.FactName{Service: f.Service, Name: f.Name}
		if e.self.Facts[name] == "" {
			e.self.Facts[name], e.secrets[name] = f.Value, f.Secret
		}
	}
	return e, err
}

// named returns the facts and generated secrets that outputs name, themselves or by the configuration.
func (e *expander) named(outputs []template.Output) (facts []app.FactName, generated []string) {
	for _, o := range outputs {
		for _, p := range Parts(o.Value) {
			text, _ := inner(p.Text, e.setting)
			if p.Config != "" {
				text, _ = e.setting(p.Config)
			}
			_, more := template.MacrosOf(text)
			facts = append(facts, more...)
			_, own := secret.CutGenerated(append(app.SecretNames(text), p.Secret))
			generated = append(generated, own...)
		}
	}
	slices.SortFunc(facts, func(a, b app.FactName) int { return strings.Compare(a.Service+"."+a.Name, b.Service+"."+b.Name) })
	return slices.Compact(facts), generated
}

// setting returns a value of the configuration as text, or why there is none.
func (e *expander) setting(path string) (text, why string) {
	var v any = e.config
	for _, key := range strings.Split(path, ".") {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	switch v := v.(type) {
	case string:
		return v, ""
	case nil:
		return "", "Configuration " + path + " isn't set."
	case map[string]any, []any:
		return "", "Configuration " + path + " isn't a single value."
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "", "Configuration " + path + " isn't a single value."
	}
	return string(b), ""
}

// output works out one.
func (e *expander) output(c app.Cluster, o template.Output) Output {
	out := Output{Name: o.Name, Type: o.Type, Description: o.Description, Secret: IsSecret(o), Variable: Variable(o, c.Name)}
	if o.Type == template.OutputFile {
		out.File, out.Mode = cmp.Or(o.File, o.Name), cmp.Or(o.Mode, "0600")
	}
	var b strings.Builder
	for _, p := range Parts(o.Value) {
		text, hidden, why := e.part(p)
		out.Secret = out.Secret || hidden
		if b.WriteString(text); why == "" && b.Len() > MaxOutput {
			why = "The value is longer than " + humanize.Bytes(MaxOutput) + "."
		}
		if why != "" {
			out.Missing = why
			return out
		}
	}
	if out.Value = b.String(); out.Value == "" {
		out.Missing = "The value is empty."
	}
	return out
}

// part works out a piece of a value. Hidden tells that it may be secret; why tells why there is none.
func (e *expander) part(p Part) (text string, hidden bool, why string) {
	switch {
	case p.Secret != "":
		text, hidden, why = e.secret(p.Secret)
	case p.Config == "":
		if text, why = inner(p.Text, e.setting); why != "" {
			return "", false, why
		}
		text, hidden, why = e.text(text)
		hidden = hidden || secretSetting(p.Text)
	default:
		if text, why = e.setting(p.Config); why != "" {
			return "", false, why
		}
		keyed := secret.SecretKeyPattern.MatchString(p.Config) || secret.SecretTextPattern.MatchString(text)
		text, hidden, why = e.setText(text)
		hidden = hidden || keyed
	}
	if p.Escaped {
		text = strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
	}
	return text, hidden, why
}

// secretSetting reports whether a text names a setting that may be secret within its macros.
func secretSetting(text string) bool {
	return slices.ContainsFunc(reference.FindAllString(text, -1), secret.SecretKeyPattern.MatchString)
}

// setText expands a text of the configuration, in which there may be references to secrets.
func (e *expander) setText(text string) (out string, hidden bool, why string) {
	var b strings.Builder
	pos := 0
	for _, m := range app.SecretReference.FindAllStringSubmatchIndex(text, -1) {
		for _, piece := range []func() (string, bool, string){
			func() (string, bool, string) { return e.text(text[pos:m[0]]) },
			func() (string, bool, string) { return e.secret(text[m[2]:m[3]]) },
		} {
			s, _, wrong := piece()
			if wrong != "" {
				return "", true, wrong
			}
			b.WriteString(s)
		}
		pos, hidden = m[1], true
	}
	rest, more, why := e.text(text[pos:])
	return b.String() + rest, hidden || more, why
}

func (e *expander) secret(name string) (text string, hidden bool, why string) {
	if v := e.generated[name]; v != "" {
		return v, true, ""
	}
	if secret.IsGenerated(name) {
		return "", true, "The cluster's key is gone, and the secret with it."
	}
	return "", true, "It uses the tenant's secret " + name + ", which is never shown."
}

// mostExpanded bounds what the macros of a text may come to: its length, for each node.
const mostExpanded = 4 << 20

// text expands macros.
func (e *expander) text(text string) (out string, hidden bool, why string) {
	services, facts := template.MacrosOf(text)
	if len(services) > 0 && len(text)*len(e.nodes.Nodes) > mostExpanded {
		return "", false, "The value would be longer than " + humanize.Bytes(MaxOutput) + "."
	}
	for _, f := range facts {
		hidden = hidden || e.secrets[f] || app.SecretFact(f.Name)
		if e.self.Facts[f] == "" {
			return "", hidden, "Service " + f.Service + " hasn't reported " + f.Name + " yet."
		}
	}
	for _, s := range services {
		if len(e.nodes.Index[s]) == 0 {
			return "", hidden, "No node has service " + s + "."
		}
	}
	out, err := template.ExpandString(text, e.nodes, &e.self)
	if err != nil {
		return "", hidden, reason(err)
	}
	return out, hidden, ""
}

// reason says in a sentence why macros can't be expanded.
func reason(err error) string {
	if a := app.AsError(err); a.Reason == "incomplete" {
		return "Available when its nodes are running."
	}
	return app.AsError(err).Message
}
