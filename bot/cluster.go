package bot

import (
	"context"
	"fmt"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/humanize"
)

// maxListed limits the lines of a list in chat; the portal has the rest.
const maxListed = 25

// clusters shows clusters, and deletes them.
type clusters struct {
	clusters Clusters
	activity Activity
	deletes  Deletes
	queues   Queues
	runs     Runs
}

func (cs clusters) list(ctx context.Context, r request) (Answer, error) {
	list, err := cs.clusters.Clusters(ctx, r.actor, app.ClusterFilter{Limit: maxListed + 1})
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: "Clusters", Links: []Link{{"View all clusters", r.Page(app.Subject{Kind: app.SubjectClusters})}}}
	for i, c := range list {
		if i == maxListed {
			a.Lines = append(a.Lines, "More in the portal.")
			break
		}
		a.Lines = append(a.Lines, fmt.Sprintf("%s – %s, %s, owner %s, %s", c.Name, c.Status, humanize.Count(c.Size, "node"), c.Owner, r.leaseEnd(c.Cluster)))
	}
	if len(list) == 0 {
		a.Lines = []string{"No clusters yet.", "Type “" + r.person.Command + " create” to create one."}
	}
	return a, nil
}

func (cs clusters) show(ctx context.Context, r request) (Answer, error) {
	if len(r.words) != 1 {
		return Answer{}, r.usage()
	}
	v, err := cs.clusters.Cluster(ctx, r.actor, r.words[0])
	if err != nil {
		return Answer{}, err
	}
	a := r.shown(v, v.Name+" is "+string(v.Status))
	if offersRun(ctx, r, cs.runs, v) {
		b := action{Do: doRunAsk, Cluster: v.ID, Beside: true}.button("Run action…", false)
		b.Quiet = true
		a.Buttons = append(a.Buttons, b)
	}
	return a, nil
}

// shown is a cluster as a whole.
func (r reader) shown(v cluster.View, title string) Answer {
	a := Answer{Title: title, Links: []Link{{"View cluster", r.Page(app.ClusterSubject(v.ID))}}}
	facts := []string{humanize.Count(v.Size, "node"), "owner " + v.Owner, "from " + v.Template}
	if p := perHour(v.CostPerHour, v.Currency); p != "" {
		facts = append(facts, p)
	}
	a.Lines = append(a.Lines, strings.Join(append(facts, r.leaseEnd(v.Cluster)), ", "))
	if v.Problem != nil {
		a.Lines = append(a.Lines, r.troubleLines(*v.Problem)...)
		a.Buttons = wayButtons(v.Problem.Options, action{Cluster: v.ID, Operation: v.Problem.Operation, Beside: true})
	} else if v.Message != "" {
		a.Lines = append(a.Lines, v.Message)
	}
	if len(v.Operations) > 0 && v.Status != app.ClusterActive && v.Problem == nil {
		a.Lines = append(a.Lines, operationLine(v.Operations[0]))
	}
	for i, n := range v.Nodes {
		if i == maxListed {
			a.Lines = append(a.Lines, humanize.Count(len(v.Nodes)-i, "more node")+" in the portal.")
			break
		}
		a.Lines = append(a.Lines, strings.TrimRight(fmt.Sprintf("%s – %s, %s %s", n.Name, n.State(), strings.Join(n.Services, " "), n.Address(app.AddressAccess)), " ,"))
	}
	for _, l := range v.Links {
		a.Lines = append(a.Lines, l.Label+": "+l.URL)
	}
	return a
}

// troubleLines say what is wrong with a cluster, since when, and what it costs meanwhile. Next actions are buttons, or in the portal.
func (r reader) troubleLines(t cluster.Problem) []string {
	lines := []string{t.Text}
	for _, f := range t.Failures {
		lines = append(lines, f.Step+": "+f.Error)
	}
	if t.MoreFailures > 0 {
		lines = append(lines, humanize.Count(t.MoreFailures, "more failed step")+".")
	}
	since := "Since " + r.moment(t.Since) + "."
	if p := perHour(t.CostPerHour, t.Currency); p != "" {
		since += " Its machines still cost " + p + "."
	}
	return append(lines, strings.TrimSpace(since+" "+t.Soon))
}

// begun is the answer for an operation that was started, 0 for the newest.
func (r reader) begun(v cluster.View, operation int64) Answer {
	a := Answer{Title: v.Name, Links: []Link{{"View cluster", r.Page(app.ClusterSubject(v.ID))}}}
	for _, o := range v.Operations {
		if operation != 0 && o.ID != operation {
			continue
		}
		a.Title = v.Name + ": " + o.Kind.Doing()
		var facts []string
		if o.Kind != app.OperationRun {
			facts = append(facts, humanize.Count(v.Size, "node"))
		}
		if p := perHour(v.CostPerHour, v.Currency); p != "" && o.Kind != app.OperationDelete && o.Kind != app.OperationRun {
			facts = append(facts, p)
		}
		if o.Expected > 0 {
			facts = append(facts, "takes "+takes(o.Expected, o.Expects))
		}
		a.Lines = append(a.Lines, humanize.Upper(strings.Join(facts, ", ")))
		a.Started = []Started{{Tenant: v.Tenant, Cluster: v.ID, Operation: o.ID}}
		break
	}
	return a
}

func (cs clusters) why(ctx context.Context, r request) (Answer, error) {
	if len(r.words) != 1 {
		return Answer{}, r.usage()
	}
	v, err := cs.clusters.Cluster(ctx, r.actor, r.words[0])
	if err != nil {
		return Answer{}, err
	}
	w, err := cs.queues.Waiting(ctx, r.actor, v.ID, execution.WaitingFilter{Limit: 10})
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: "What " + v.Name + " is waiting for", Lines: []string{w.Text}, Links: []Link{{"View details", r.Page(app.Subject{Kind: app.SubjectWaiting, ID: v.ID})}}}
	for _, g := range w.Groups {
		a.Lines = append(a.Lines, humanize.Count(g.Count, "step")+": "+g.Text)
	}
	if w.Status != app.OperationFailed {
		return a, nil
	}
	steps, err := cs.activity.Steps(ctx, r.actor, v.ID, w.Operation)
	if err != nil {
		return Answer{}, err
	}
	said := cluster.RepeatedErrors{}
	for _, s := range steps {
		if s.State == app.StepFailed && len(a.Lines) < maxListed {
			a.Lines = append(a.Lines, s.ID+": "+said.Say(s.ID, s.Error))
		}
	}
	return a, nil
}
