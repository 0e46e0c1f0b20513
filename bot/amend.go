package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"muster/app"
)

// deed is what stands behind a button: what is done, with what was shown.
type deed struct {
	Do      string `json:"do"`
	Cluster string `json:"cluster,omitempty"` // its id
	Size    int    `json:"size,omitempty"`
	Request int64  `json:"request,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Hash    string `json:"hash,omitempty"` // of the plan that was shown
}

// The deeds.
const (
	doResize  = "resize"
	doDelete  = "delete"
	doApprove = "approve"
)

func (d deed) button(name string, danger bool) Button {
	b, err := json.Marshal(d)
	if err != nil {
		panic(err) // numbers and strings only
	}
	return Button{Name: name, Value: string(b), Danger: danger}
}

func (b *Bot) press(ctx context.Context, r request, value string) (Answer, error) {
	var d deed
	if err := json.Unmarshal([]byte(value), &d); err != nil {
		return Answer{}, &app.Error{Code: app.EInvalid, Message: "This button is not one of ours.", Hint: "Type the command again."}
	}
	switch d.Do {
	case doResize:
		answer, err := b.muster.Amend(ctx, r.actor, d.Cluster, app.Amendment{Kind: app.OperationResize, Size: d.Size, PlanHash: d.Hash})
		return b.amended(answer, err)
	case doDelete:
		v, err := b.muster.DeleteCluster(ctx, r.actor, d.Cluster)
		if err != nil {
			return Answer{}, err
		}
		if v.Status == app.ClusterDeleted {
			return Answer{Title: v.Name + " is gone already"}, nil
		}
		return b.begun(v, 0), nil
	case doApprove:
		q, err := b.muster.Review(ctx, r.actor, d.Request, app.ReviewRequest{Verdict: app.VerdictApprove, Reason: d.Reason, PlanHash: d.Hash})
		if err != nil {
			return Answer{}, err
		}
		return b.reviewed(ctx, r, q)
	}
	return Answer{}, &app.Error{Code: app.EInvalid, Message: "This button is not known any more.", Hint: "Type the command again."}
}

func (b *Bot) clusterResize(ctx context.Context, r request) (Answer, error) {
	if len(r.words) != 2 {
		return Answer{}, r.usage("resize")
	}
	size, err := strconv.Atoi(r.words[1])
	if err != nil || size < 1 {
		return Answer{}, &app.Error{Code: app.EInvalid, Field: "size", Message: fmt.Sprintf("“%s” is not a number of nodes.", app.CutText(r.words[1], 40)),
			Hint: "Such as " + r.person.Command + " resize web-1 5."}
	}
	v, err := b.muster.Cluster(ctx, r.actor, r.words[0])
	if err != nil {
		return Answer{}, err
	}
	p, err := b.muster.PreviewAmend(ctx, r.actor, v.ID, app.Amendment{Kind: app.OperationResize, Size: size})
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: v.Name + ": " + p.Title(), Lines: p.Effects(), Links: []Link{{"Open", b.at("/clusters/" + v.ID)}}}
	if p.Nothing {
		a.Lines = append(a.Lines, "It is so already.")
		return a, nil
	}
	if p.After.CostPerHour > 0 {
		a.Lines = append(a.Lines, fmt.Sprintf("Then it costs %.2f an hour instead of %.2f.", p.After.CostPerHour, p.Before.CostPerHour))
	}
	if p.Duration > 0 {
		a.Lines = append(a.Lines, "It takes about "+app.Length(p.Duration.Round(time.Second))+".")
	}
	a.Lines = append(a.Lines, p.Notes...)
	name := "Resize"
	if d := p.Decision; d != nil {
		switch d.Outcome {
		case app.OutcomeRefuse:
			a.Lines = append(a.Lines, d.Reason)
			return a, nil
		case app.OutcomeApprove:
			a.Lines = append(a.Lines, "Others have to approve it.")
			name = "Ask for it"
		}
	}
	a.Buttons = []Button{deed{Do: doResize, Cluster: v.ID, Size: size, Hash: p.PlanHash}.button(name, p.After.Nodes < p.Before.Nodes)}
	return a, nil
}

func (b *Bot) clusterRestart(ctx context.Context, r request) (Answer, error) {
	if len(r.words) == 0 {
		return Answer{}, r.usage("restart")
	}
	return b.amended(b.muster.Amend(ctx, r.actor, r.words[0], app.Amendment{Kind: app.OperationRestart, Services: r.words[1:]}))
}

// amended tells what became of an amendment.
func (b *Bot) amended(answer app.AmendAnswer, err error) (Answer, error) {
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

func (b *Bot) clusterDeleteAsk(ctx context.Context, r request) (Answer, error) {
	if len(r.words) != 1 {
		return Answer{}, r.usage("delete")
	}
	v, err := b.muster.Cluster(ctx, r.actor, r.words[0])
	if err != nil {
		return Answer{}, err
	}
	if v.Status == app.ClusterDeleted {
		return Answer{Title: v.Name + " is gone already"}, nil
	}
	return Answer{Title: "Delete " + v.Name + "?",
		Lines:   []string{fmt.Sprintf("All that is on its %s is lost. It belongs to %s.", several(v.Size, "node"), v.Owner)},
		Links:   []Link{{"Open", b.at("/clusters/" + v.ID)}},
		Buttons: []Button{deed{Do: doDelete, Cluster: v.ID}.button("Delete it", true)}}, nil
}
