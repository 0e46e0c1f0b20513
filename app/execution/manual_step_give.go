package execution

import (
	"context"
	"slices"

	"muster/app"
	"muster/app/template"
)

// giveAnswers puts what people have typed on nodes that a configuration is expanded for, and returns those values that are secret.
// Asked are the services whose answers the configuration names, all the nodes of the cluster. What was answered on the node itself
// counts; where it does not have the service, what was answered on the first node that has.
func (a *ManualSteps) giveAnswers(ctx context.Context, c app.Cluster, asked []string, all *template.MacroCluster, to []*app.Node) (secret []string, err error) {
	if len(asked) == 0 {
		return nil, nil
	}
	index := all.Services()
	from := func(n *app.Node, service string) string {
		if have := index[service]; !slices.Contains(n.Services, service) && len(have) > 0 {
			return all.Nodes[have[0]].Name
		}
		return n.Name
	}
	var nodes []string
	for _, n := range to {
		for _, s := range asked {
			nodes = append(nodes, from(n, s))
		}
	}
	slices.Sort(nodes)
	list, err := a.Store.Answers(ctx, c.Tenant, c.ID, slices.Compact(nodes))
	if err != nil {
		return nil, err
	}
	values := map[[2]string]map[string]app.AnswerValue{}
	for _, answer := range list {
		values[[2]string{answer.Node, answer.Service}] = answer.Values
		for _, v := range answer.Values {
			if v.Secret && v.Text != "" {
				secret = append(secret, v.Text)
			}
		}
	}
	for _, n := range to {
		n.Answers = make(map[string]map[string]app.AnswerValue, len(asked))
		for _, s := range asked {
			n.Answers[s] = values[[2]string{from(n, s), s}]
		}
	}
	slices.Sort(secret)
	return slices.Compact(secret), nil
}
