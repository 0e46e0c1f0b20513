package bot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/humanize"
	"muster/app/plan"
	"muster/app/policy"
)

// numberOf reads a number of nodes.
func (r request) numberOf(word, example string) (int, error) {
	size, err := strconv.Atoi(word)
	if err != nil || size < 1 {
		return 0, &app.Error{Code: app.EInvalid, Field: "size", Message: fmt.Sprintf("“%s” isn't a valid number of nodes.", humanize.CutText(word, 40)),
			Hint: "Example: " + r.person.Command + " " + example}
	}
	return size, nil
}

// updates changes clusters: most changes are previewed first, with a button that applies exactly that.
type updates struct {
	clusters Clusters
	updates  Updates
}

func (am updates) resize(ctx context.Context, r request) (Answer, error) {
	if len(r.words) != 2 {
		return Answer{}, r.usage()
	}
	size, err := r.numberOf(r.words[1], "resize web-1 5")
	if err != nil {
		return Answer{}, err
	}
	return am.ask(ctx, r, r.words[0], appcluster.Update{Kind: app.OperationResize, Size: size}, "Resize cluster")
}

// grow and shrink resize by a number of nodes, one by default.
func (am updates) grow(ctx context.Context, r request) (Answer, error) {
	return am.move(ctx, r, "grow", 1)
}

func (am updates) shrink(ctx context.Context, r request) (Answer, error) {
	return am.move(ctx, r, "shrink", -1)
}

func (am updates) move(ctx context.Context, r request, name string, sign int) (Answer, error) {
	if len(r.words) < 1 || len(r.words) > 2 {
		return Answer{}, r.usage()
	}
	by := 1
	if len(r.words) == 2 {
		var err error
		if by, err = r.numberOf(r.words[1], name+" web-1 2"); err != nil {
			return Answer{}, err
		}
	}
	v, err := am.clusters.Cluster(ctx, r.actor, r.words[0])
	if err != nil {
		return Answer{}, err
	}
	size := v.Size + sign*min(by, 1<<30)
	if size < 1 {
		return Answer{}, &app.Error{Code: app.EInvalid, Field: "size", Message: fmt.Sprintf("Cluster %s has %s and must keep at least one.", v.Name, humanize.Count(v.Size, "node")),
			Hint: "To delete the cluster, type “" + r.person.Command + " delete " + v.Name + "”."}
	}
	return am.ask(ctx, r, v.ID, appcluster.Update{Kind: app.OperationResize, Size: size}, "Resize cluster")
}

func (am updates) addServices(ctx context.Context, r request) (Answer, error) {
	if len(r.words) < 2 {
		return Answer{}, r.usage()
	}
	return am.ask(ctx, r, r.words[0], appcluster.Update{Kind: app.OperationAddServices, Services: r.words[1:]}, "Add services")
}

func (am updates) stop(ctx context.Context, r request) (Answer, error) {
	if len(r.words) < 1 {
		return Answer{}, r.usage()
	}
	return am.ask(ctx, r, r.words[0], appcluster.Update{Kind: app.OperationStop, Services: r.words[1:]}, "Stop services")
}

// start needs no preview, since started services can be stopped.
func (am updates) start(ctx context.Context, r request) (Answer, error) {
	if len(r.words) < 1 {
		return Answer{}, r.usage()
	}
	return r.updated(am.updates.Update(ctx, r.actor, r.words[0], appcluster.Update{Kind: app.OperationStart, Services: r.words[1:]}))
}

func (am updates) restart(ctx context.Context, r request) (Answer, error) {
	if len(r.words) == 0 {
		return Answer{}, r.usage()
	}
	return r.updated(am.updates.Update(ctx, r.actor, r.words[0], appcluster.Update{Kind: app.OperationRestart, Services: r.words[1:]}))
}

func (am updates) repair(ctx context.Context, r request) (Answer, error) {
	if len(r.words) < 1 {
		return Answer{}, r.usage()
	}
	return am.ask(ctx, r, r.words[0], appcluster.Update{Kind: app.OperationRepair, Nodes: r.words[1:]}, "Repair cluster")
}

// ask previews a change, with a button that applies exactly that.
func (am updates) ask(ctx context.Context, r request, cluster string, m appcluster.Update, name string) (Answer, error) {
	v, err := am.clusters.Cluster(ctx, r.actor, cluster)
	if err != nil {
		return Answer{}, err
	}
	p, err := am.updates.PreviewUpdate(ctx, r.actor, v.ID, m)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: v.Name + ": " + p.Title(), Lines: r.updateLines(p), Links: []Link{{"View cluster", r.Page(app.ClusterSubject(v.ID))}}}
	if p.NoChanges || p.Decision != nil && p.Decision.Outcome == policy.OutcomeRefuse {
		return a, nil
	}
	name = submitName(p, name)
	harm := slices.ContainsFunc(p.Nodes, func(n appcluster.UpdatedNode) bool {
		return n.Change == plan.NodeGone || n.Change == plan.NodeReplaced || len(n.Removed) > 0
	})
	button, err := action{Do: doUpdate, Cluster: v.ID, Kind: m.Kind, Size: m.Size, Services: m.Services, Nodes: m.Nodes, Action: m.Action,
		Parameters: parameterTexts(m.Parameters), Hash: p.PlanHash, Operation: latest(v)}.
		asking(name, harm || m.Kind == app.OperationStop)
	if err != nil {
		return Answer{}, err
	}
	a.Buttons = []Button{button}
	return a, nil
}

// updateLines say what a change does.
func (r reader) updateLines(p appcluster.UpdatePreview) []string {
	lines := p.Effects()
	if p.Kind == app.OperationRun {
		lines = append(runLines(p), lines...)
	}
	if len(lines) > maxListed {
		lines = append(lines[:maxListed:maxListed], fmt.Sprintf("%d more in the portal.", len(lines)-maxListed))
	}
	if p.NoChanges {
		return append(lines, "Nothing to change.")
	}
	if p.After.CostPerHour > 0 && p.After.CostPerHour != p.Before.CostPerHour {
		was := cmp.Or(perHour(p.Before.CostPerHour, p.Before.Currency), "unknown")
		lines = append(lines, "Cost: "+perHour(p.After.CostPerHour, p.After.Currency)+", was "+was+".")
	}
	if p.Duration > 0 {
		lines = append(lines, "Takes "+takes(p.Duration, p.Plan.Expects)+".")
	}
	return append(append(append(lines, p.Notes...), p.ProblemLines()...), p.Decision.Sentences()...)
}

// submitName is the label of the button that applies a change: name, unless it has to wait.
func submitName(p appcluster.UpdatePreview, name string) string {
	switch {
	case p.Decision != nil && p.Decision.Outcome == policy.OutcomeApprove:
		return "Request approval"
	case p.Window != nil && p.Window.Waits:
		return "Schedule changes"
	}
	return name
}

// updated is the answer to a change.
func (r reader) updated(answer appcluster.UpdateAnswer, err error) (Answer, error) {
	switch {
	case err != nil:
		return Answer{}, err
	case answer.Cluster == nil && answer.Request != nil:
		return r.asked(*answer.Request), nil
	case answer.Cluster == nil:
		return Answer{}, app.Errorf(app.EInternal, "an update is neither done nor asked for")
	case answer.Operation == 0:
		return Answer{Title: answer.Cluster.Name, Lines: []string{"Nothing to change."}}, nil
	}
	return r.begun(*answer.Cluster, answer.Operation), nil
}

// takes is an operation's expected duration and its basis. Older operations have a single figure only.
func takes(d time.Duration, e app.Expectation) string {
	if e.Typical > 0 {
		return e.Text()
	}
	return humanize.About(humanize.Duration(d.Round(time.Second)))
}

// update applies the change that a button was shown for.
func (am updates) update(ctx context.Context, r request, d action) (Answer, error) {
	if d.Kind != app.OperationRun {
		return r.updated(am.updates.Update(ctx, r.actor, d.Cluster, d.update()))
	}
	v, err := am.clusters.Cluster(ctx, r.actor, d.Cluster)
	if err != nil {
		return Answer{}, err
	}
	if latest(v) != d.Operation { // the button was pressed twice, say
		return Answer{}, &app.Error{Code: app.EConflict, Message: "Another operation was started after this preview was shown, so nothing was run.",
			Hint: "To run the action as well, enter the command again."}
	}
	answer, err := am.updates.Update(ctx, r.actor, d.Cluster, d.update())
	return r.ran(d.Action, answer, err)
}

// resizeNow handles buttons from before doUpdate existed.
func (am updates) resizeNow(ctx context.Context, r request, d action) (Answer, error) {
	d.Kind = app.OperationResize
	return am.update(ctx, r, d)
}

func (am updates) repairAsk(ctx context.Context, r request, d action) (Answer, error) {
	return am.ask(ctx, r, d.Cluster, appcluster.Update{Kind: app.OperationRepair}, "Repair cluster")
}
