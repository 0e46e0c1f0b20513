package bot

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/humanize"
)

// maxLogs is how many of a log's last lines are shown in chat.
const maxLogs = 20

func (cs clusters) logs(ctx context.Context, r request) (Answer, error) {
	if len(r.words) < 1 || len(r.words) > 2 {
		return Answer{}, r.usage()
	}
	f := appcluster.LogFilter{}
	if len(r.words) == 2 {
		f.Step = r.words[1]
	}
	return cs.logsOf(ctx, r, r.words[0], f)
}

// logsOf shows the last lines. f.Step may also be the name of a node.
func (cs clusters) logsOf(ctx context.Context, r request, cluster string, f appcluster.LogFilter) (Answer, error) {
	v, err := cs.clusters.Cluster(ctx, r.actor, cluster)
	if err != nil {
		return Answer{}, err
	}
	if slices.ContainsFunc(v.Nodes, func(n app.Node) bool { return n.Name == f.Step }) {
		f.Node, f.Step = f.Step, ""
	}
	f.Tail, f.Limit = true, maxLogs
	lines, err := cs.activity.Logs(ctx, r.actor, v.ID, f)
	if err != nil {
		return Answer{}, err
	}
	q := url.Values{}
	a := Answer{Title: "Log of " + v.Name}
	switch {
	case f.Node != "":
		a.Title += ", " + f.Node
		q.Set("node", f.Node)
	case f.Step != "":
		a.Title += ", " + f.Step
		q.Set("step", f.Step)
	}
	at := r.Page(app.ClusterSubject(v.ID))
	if len(q) > 0 {
		at += "?" + q.Encode()
	}
	a.Links = []Link{{"View full log", at + "#log"}}
	for _, l := range lines {
		text := l.Text
		if f.Step == "" {
			text = l.Step + " | " + text
		}
		a.Log = append(a.Log, text)
	}
	if len(lines) > 0 {
		return a, nil
	}
	if f.Step != "" {
		if err := cs.knownStep(ctx, r, v, f); err != nil {
			return Answer{}, err
		}
	}
	a.Lines = []string{"The log is empty."}
	return a, nil
}

// knownStep rejects an unknown step and suggests the nearest name.
func (cs clusters) knownStep(ctx context.Context, r request, v appcluster.View, f appcluster.LogFilter) error {
	steps, err := cs.activity.Steps(ctx, r.actor, v.ID, f.Operation)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(steps)+len(v.Nodes))
	for _, s := range steps {
		if s.ID == f.Step {
			return nil
		}
		if !s.Join {
			names = append(names, s.ID)
		}
	}
	for _, n := range v.Nodes {
		names = append(names, n.Name)
	}
	e := &app.Error{Code: app.ENotFound, Field: "step", Message: fmt.Sprintf("Cluster %s has no step or node “%s”.", v.Name, humanize.CutText(f.Step, 60))}
	if near := humanize.Nearest(f.Step, names[:min(len(names), maxNear)]); near != "" {
		e.Hint = "Did you mean “" + near + "”?"
	} else if len(v.Nodes) > 0 {
		e.Hint = "Try " + v.Nodes[0].Name + " or " + strings.Join(names[:min(len(names), 1)], "") + "."
	}
	return e
}

// maxNear limits the names that an unknown one is compared with.
const maxNear = 5000

// logsOfStep shows the log of a card's failed step.
func (cs clusters) logsOfStep(ctx context.Context, r request, d action) (Answer, error) {
	return cs.logsOf(ctx, r, d.Cluster, appcluster.LogFilter{Operation: d.Operation, Step: d.Step})
}
