package bot

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	apptemplate "muster/app/template"
)

// mostListed is how many lines a list has in a chat; the portal has the rest.
const mostListed = 25

// catalogs lists what clusters can be created from.
type catalogs struct{ catalogs Catalogs }

func (ct catalogs) list(ctx context.Context, r request) (Answer, error) {
	c, err := ct.catalogs.Catalog(ctx, r.actor)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: "Templates", Links: []Link{{"New cluster", r.Page(app.Subject{Kind: app.SubjectNewCluster})}}}
	names := slices.Sorted(maps.Keys(c.Templates))
	for i, name := range names {
		if i == mostListed {
			a.Lines = append(a.Lines, fmt.Sprintf("And %d more.", len(names)-i))
			break
		}
		t := c.Templates[name]
		a.Lines = append(a.Lines, strings.TrimSuffix(name+" – "+t.Description, " – "))
	}
	if len(names) == 0 {
		a.Lines = []string{"There are none."}
	}
	return a, nil
}

// clusters shows clusters, and deletes them.
type clusters struct {
	clusters Clusters
	queues   Queues
}

func (cs clusters) list(ctx context.Context, r request) (Answer, error) {
	list, err := cs.clusters.Clusters(ctx, r.actor, app.ClusterFilter{Limit: mostListed + 1})
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: "Clusters", Links: []Link{{"All clusters", r.Page(app.Subject{Kind: app.SubjectClusters})}}}
	for i, c := range list {
		if i == mostListed {
			a.Lines = append(a.Lines, "There are more in the portal.")
			break
		}
		a.Lines = append(a.Lines, fmt.Sprintf("%s – %s, %s, of %s, %s", c.Name, c.Status, several(c.Size, "node"), c.Owner, r.leaseEnd(c.Cluster)))
	}
	if len(list) == 0 {
		a.Lines = []string{"There are none.", "Type “" + r.person.Command + " create TEMPLATE” to have one."}
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
	return r.shown(v, v.Name+" is "+string(v.Status)), nil
}

// shown is a cluster as a whole.
func (r reader) shown(v cluster.ClusterView, title string) Answer {
	a := Answer{Title: title, Links: []Link{{"Open", r.Page(app.ClusterSubject(v.ID))}}}
	facts := []string{several(v.Size, "node"), "of " + v.Owner, "from " + v.Template}
	if p := r.perHour(v.CostPerHour); p != "" {
		facts = append(facts, p)
	}
	a.Lines = append(a.Lines, strings.Join(append(facts, r.leaseEnd(v.Cluster)), ", "))
	if v.Trouble != nil {
		a.Lines = append(a.Lines, r.troubleLines(*v.Trouble)...)
		a.Buttons = wayButtons(v.Trouble.Ways, deed{Cluster: v.ID, Operation: v.Trouble.Operation, Beside: true})
	} else if v.Message != "" {
		a.Lines = append(a.Lines, v.Message)
	}
	if len(v.Operations) > 0 && v.Status != app.ClusterActive && v.Trouble == nil {
		a.Lines = append(a.Lines, operationLine(v.Operations[0]))
	}
	for i, n := range v.Nodes {
		if i == mostListed {
			a.Lines = append(a.Lines, fmt.Sprintf("And %d more nodes.", len(v.Nodes)-i))
			break
		}
		a.Lines = append(a.Lines, strings.TrimRight(fmt.Sprintf("%s – %s, %s %s", n.Name, n.State(), strings.Join(n.Services, " "), n.Address(app.AddressAccess)), " ,"))
	}
	for _, l := range v.Links {
		a.Lines = append(a.Lines, l.Label+": "+l.URL)
	}
	return a
}

// troubleLines say what is wrong with a cluster, since when, and what it costs meanwhile. What leads on are buttons, or ways in the portal.
func (r reader) troubleLines(t cluster.Trouble) []string {
	lines := []string{t.What}
	for _, f := range t.Failures {
		lines = append(lines, f.Step+": "+f.Error)
	}
	if t.MoreFailures > 0 {
		lines = append(lines, "And "+several(t.MoreFailures, "more failed step")+".")
	}
	since := "Since " + r.moment(t.Since) + "."
	if p := r.perHour(t.CostPerHour); p != "" {
		since += " Its machines cost " + p + " in the meantime."
	}
	return append(lines, strings.TrimSpace(since+" "+t.Soon))
}

// parseCreate reads [NAME] TEMPLATE [NODES] [[for] LENGTH].
func parseCreate(words []string) (q cluster.ClusterRequest, ok bool, err error) {
	if n := len(words); n > 1 && !slices.Contains(words, "for") && isLength(words[n-1]) {
		words = append(slices.Clone(words[:n-1]), "for", words[n-1])
	}
	if i := slices.Index(words, "for"); i >= 0 {
		if i != len(words)-2 {
			return q, false, nil
		}
		var lease time.Duration
		if lease, err = apptemplate.ParseLength(words[i+1]); err == nil && lease <= 0 {
			err = &app.Error{Code: app.EInvalid, Field: "lease", Message: "A cluster lives for some time.", Hint: "Write it like 90m, 4h or 2d."}
		}
		if err != nil {
			return q, false, err
		}
		q.Lease, words = &lease, words[:i]
	}
	if n := len(words); n > 1 {
		size, e := strconv.Atoi(words[n-1])
		if e == nil && size < 1 {
			return q, false, &app.Error{Code: app.EInvalid, Field: "size", Message: "A cluster has at least one node."}
		}
		if e == nil {
			q.Size, words = size, words[:n-1]
		}
	}
	switch len(words) {
	case 1:
		q.Template = words[0]
	case 2:
		q.Name, q.Template = words[0], words[1]
	default:
		return q, false, nil
	}
	return q, true, nil
}

// isLength tells whether a word is a length of time such as 8h or 1d12h, and not a name or a number of nodes.
func isLength(word string) bool {
	_, err := apptemplate.ParseLength(word)
	return err == nil && word[0] >= '0' && word[0] <= '9'
}

// fitted gives a request that was typed in one line the template's least size, where it says none and no parameter sets it. Asks
// tells that the template has parameters which must be filled in first.
func (cr *creates) fitted(ctx context.Context, r request, q cluster.ClusterRequest) (_ cluster.ClusterRequest, asks bool, err error) {
	c, err := cr.catalogs.Catalog(ctx, r.actor)
	if err != nil {
		return q, false, err
	}
	t := c.Templates[q.Template]
	if t == nil {
		return q, false, nil // what's wrong with it says the request's answer
	}
	if f := (&createForm{template: t}); q.Size == 0 && !f.sets("size") {
		q.Size = max(1, t.Constraints.Size.Min)
	}
	return q, len(t.Complaints(nil)) > 0, nil
}

// typed is a form in which stands what was typed in one line.
func typed(q cluster.ClusterRequest) Form {
	f := Form{Values: map[string][]string{"name": {q.Name}}}
	c := createForm{template: &apptemplate.Template{About: apptemplate.About{Name: q.Template}}}
	if q.Size > 0 {
		f.Values[c.field("size")] = []string{strconv.Itoa(q.Size)}
	}
	if q.Lease != nil {
		f.Values[c.field("lease")] = []string{"=" + q.Lease.String()}
	}
	return f
}

// create makes a cluster in one line; without one, and where the template has to ask for more, it opens the form.
func (cr *creates) create(ctx context.Context, r request) (Answer, error) {
	form := func(f Form, template string) (Answer, error) {
		m, err := cr.modal(ctx, r, f, note{Channel: r.person.Channel, Template: template})
		return Answer{Title: "New cluster", Lines: []string{"Slack couldn’t open the form. Type the command again, or create the cluster in one line: " +
			r.person.Command + " create [NAME] TEMPLATE [NODES] [8h]"}, Buttons: []Button{deed{Do: doCreate, Template: template, Beside: true}.button("Open form", false)},
			Links: []Link{{"New cluster in the portal", r.Page(app.Subject{Kind: app.SubjectNewCluster})}}, Modal: &m}, err
	}
	if len(r.words) == 0 {
		return form(Form{}, "")
	}
	q, ok, err := parseCreate(r.words)
	if err != nil {
		return Answer{}, err
	}
	if !ok {
		return Answer{}, r.usage()
	}
	q, asks, err := cr.fitted(ctx, r, q)
	if err != nil {
		return Answer{}, err
	}
	if asks {
		return form(typed(q), q.Template)
	}
	answer, err := cr.creates.Ask(ctx, r.actor, q)
	if err != nil {
		return Answer{}, err
	}
	return r.created(answer), nil
}

// created tells what became of a create.
func (r reader) created(answer cluster.Answer) Answer {
	if answer.Cluster == nil {
		a := r.asked(answer.Request)
		a.Lines = append(a.Lines, answer.Warnings...)
		return a
	}
	a := r.begun(*answer.Cluster, 0)
	a.Lines = append(append(a.Lines, answer.Request.Decision.Sentences()...), answer.Warnings...)
	return a
}

// begun tells of an operation that was begun, 0 for the newest.
func (r reader) begun(v cluster.ClusterView, operation int64) Answer {
	a := Answer{Title: v.Name, Links: []Link{{"Open", r.Page(app.ClusterSubject(v.ID))}}}
	for _, o := range v.Operations {
		if operation != 0 && o.ID != operation {
			continue
		}
		a.Title = v.Name + ": " + o.Kind.Doing()
		facts := []string{several(v.Size, "node")}
		if p := r.perHour(v.CostPerHour); p != "" && o.Kind != app.OperationDelete {
			facts = append(facts, p)
		}
		if o.Expected > 0 {
			facts = append(facts, "takes "+takes(o.Expected, o.Expects))
		}
		a.Lines = append(a.Lines, strings.Join(facts, ", "))
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
	a := Answer{Title: "Why " + v.Name + " is not further", Lines: []string{w.Text}, Links: []Link{{"Open", r.Page(app.Subject{Kind: app.SubjectWaiting, ID: v.ID})}}}
	for _, g := range w.Groups {
		a.Lines = append(a.Lines, several(g.Count, "step")+": "+g.Text)
	}
	if w.Status != app.OperationFailed {
		return a, nil
	}
	steps, err := cs.clusters.Steps(ctx, r.actor, v.ID, w.Operation)
	if err != nil {
		return Answer{}, err
	}
	said := cluster.SaidErrors{}
	for _, s := range steps {
		if s.State == app.StepFailed && len(a.Lines) < mostListed {
			a.Lines = append(a.Lines, s.ID+": "+said.Say(s.ID, s.Error))
		}
	}
	return a, nil
}
