package bot

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/phrase"
	"muster/app/plan"
	"muster/app/policy"
)

// numberOf reads a number of nodes.
func (r request) numberOf(word, example string) (int, error) {
	size, err := strconv.Atoi(word)
	if err != nil || size < 1 {
		return 0, &app.Error{Code: app.EInvalid, Field: "size", Message: fmt.Sprintf("“%s” is not a number of nodes.", phrase.CutText(word, 40)),
			Hint: "Such as " + r.person.Command + " " + example + "."}
	}
	return size, nil
}

func (b *Bot) clusterResize(ctx context.Context, r request) (Answer, error) {
	if len(r.words) != 2 {
		return Answer{}, r.usage("resize")
	}
	size, err := r.numberOf(r.words[1], "resize web-1 5")
	if err != nil {
		return Answer{}, err
	}
	return b.amendAsk(ctx, r, r.words[0], appcluster.Amendment{Kind: app.OperationResize, Size: size}, "Resize")
}

// clusterGrow and clusterShrink are resize by how many nodes more or fewer there shall be: one, unless it is said.
func (b *Bot) clusterGrow(ctx context.Context, r request) (Answer, error) {
	return b.move(ctx, r, "grow", 1)
}

func (b *Bot) clusterShrink(ctx context.Context, r request) (Answer, error) {
	return b.move(ctx, r, "shrink", -1)
}

func (b *Bot) move(ctx context.Context, r request, name string, sign int) (Answer, error) {
	if len(r.words) < 1 || len(r.words) > 2 {
		return Answer{}, r.usage(name)
	}
	by := 1
	if len(r.words) == 2 {
		var err error
		if by, err = r.numberOf(r.words[1], name+" web-1 2"); err != nil {
			return Answer{}, err
		}
	}
	v, err := b.muster.Cluster(ctx, r.actor, r.words[0])
	if err != nil {
		return Answer{}, err
	}
	size := v.Size + sign*min(by, 1<<30)
	if size < 1 {
		return Answer{}, &app.Error{Code: app.EInvalid, Field: "size", Message: fmt.Sprintf("%s has %s: a cluster has at least one.", v.Name, several(v.Size, "node")),
			Hint: "To give all of it back: " + r.person.Command + " delete " + v.Name + "."}
	}
	return b.amendAsk(ctx, r, v.ID, appcluster.Amendment{Kind: app.OperationResize, Size: size}, "Resize")
}

func (b *Bot) serviceAdd(ctx context.Context, r request) (Answer, error) {
	if len(r.words) < 2 {
		return Answer{}, r.usage("add")
	}
	return b.amendAsk(ctx, r, r.words[0], appcluster.Amendment{Kind: app.OperationAddServices, Services: r.words[1:]}, "Add")
}

func (b *Bot) serviceStop(ctx context.Context, r request) (Answer, error) {
	if len(r.words) < 1 {
		return Answer{}, r.usage("stop")
	}
	return b.amendAsk(ctx, r, r.words[0], appcluster.Amendment{Kind: app.OperationStop, Services: r.words[1:]}, "Stop")
}

// serviceStart does it at once: what is started can be stopped.
func (b *Bot) serviceStart(ctx context.Context, r request) (Answer, error) {
	if len(r.words) < 1 {
		return Answer{}, r.usage("start")
	}
	return b.amended(b.muster.Amend(ctx, r.actor, r.words[0], appcluster.Amendment{Kind: app.OperationStart, Services: r.words[1:]}))
}

func (b *Bot) clusterRestart(ctx context.Context, r request) (Answer, error) {
	if len(r.words) == 0 {
		return Answer{}, r.usage("restart")
	}
	return b.amended(b.muster.Amend(ctx, r.actor, r.words[0], appcluster.Amendment{Kind: app.OperationRestart, Services: r.words[1:]}))
}

func (b *Bot) nodeRepair(ctx context.Context, r request) (Answer, error) {
	if len(r.words) < 1 {
		return Answer{}, r.usage("repair")
	}
	return b.amendAsk(ctx, r, r.words[0], appcluster.Amendment{Kind: app.OperationRepair, Nodes: r.words[1:]}, "Repair")
}

// amendAsk shows what an amendment would do, with a button that does just that.
func (b *Bot) amendAsk(ctx context.Context, r request, cluster string, m appcluster.Amendment, name string) (Answer, error) {
	v, err := b.muster.Cluster(ctx, r.actor, cluster)
	if err != nil {
		return Answer{}, err
	}
	p, err := b.muster.PreviewAmend(ctx, r.actor, v.ID, m)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: v.Name + ": " + p.Title(), Lines: p.Effects(), Links: []Link{{"Open", b.Page(app.ClusterSubject(v.ID))}}}
	if len(a.Lines) > mostListed {
		a.Lines = append(a.Lines[:mostListed:mostListed], fmt.Sprintf("And %d more.", len(a.Lines)-mostListed))
	}
	if p.Nothing {
		a.Lines = append(a.Lines, "It is so already.")
		return a, nil
	}
	if p.After.CostPerHour > 0 && p.After.CostPerHour != p.Before.CostPerHour {
		a.Lines = append(a.Lines, fmt.Sprintf("Then it costs %s an hour instead of %s.", b.cost(p.After.CostPerHour), b.cost(p.Before.CostPerHour)))
	}
	if p.Duration > 0 {
		a.Lines = append(a.Lines, "It takes "+takes(p.Duration, p.Plan.Expects)+".")
	}
	a.Lines = append(append(append(a.Lines, p.Notes...), p.ProblemLines()...), p.Decision.Sentences()...)
	if d := p.Decision; d != nil && d.Outcome == policy.OutcomeRefuse {
		return a, nil
	} else if d != nil && d.Outcome == policy.OutcomeApprove {
		name = "Ask for it"
	}
	harm := slices.ContainsFunc(p.Nodes, func(n appcluster.AmendedNode) bool {
		return n.Change == plan.NodeGone || n.Change == plan.NodeReplaced || len(n.Removed) > 0
	})
	button, err := deed{Do: doAmend, Cluster: v.ID, Kind: m.Kind, Size: m.Size, Services: m.Services, Nodes: m.Nodes, Hash: p.PlanHash}.
		asking(name, harm || m.Kind == app.OperationStop)
	if err != nil {
		return Answer{}, err
	}
	a.Buttons = []Button{button}
	return a, nil
}

// amended tells what became of an amendment.
func (b *Bot) amended(answer appcluster.AmendAnswer, err error) (Answer, error) {
	switch {
	case err != nil:
		return Answer{}, err
	case answer.Cluster == nil && answer.Request != nil:
		return b.asked(*answer.Request), nil
	case answer.Cluster == nil:
		return Answer{}, app.Errorf(app.EInternal, "an amendment is neither done nor asked for")
	case answer.Operation == 0:
		return Answer{Title: answer.Cluster.Name, Lines: []string{"It is so already."}}, nil
	}
	return b.begun(*answer.Cluster, answer.Operation), nil
}

// takes says how long an operation takes, and how that is known. Those from before that was kept have one figure only.
func takes(d time.Duration, e app.Expectation) string {
	if e.Typical > 0 {
		return e.Words()
	}
	return "about " + phrase.Length(d.Round(time.Second))
}
