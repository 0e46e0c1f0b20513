package bot

import (
	"context"
	"encoding/json"
	"fmt"

	"muster/app"
	"muster/app/cluster"
	"muster/app/operation"
)

// deed is what stands behind a button: what is done, with what was shown.
type deed struct {
	Do        string            `json:"do"`
	Cluster   string            `json:"cluster,omitempty"` // its id
	Operation int64             `json:"operation,omitempty"`
	Kind      app.OperationKind `json:"kind,omitempty"` // of an amendment
	Size      int               `json:"size,omitempty"`
	Services  []string          `json:"services,omitempty"`
	Nodes     []string          `json:"nodes,omitempty"`
	Step      string            `json:"step,omitempty"`
	Index     int               `json:"index,omitempty"`   // of a step that asks
	Attempt   int               `json:"attempt,omitempty"` // of it, that was shown
	Request   int64             `json:"request,omitempty"`
	Reason    string            `json:"reason,omitempty"`
	Hash      string            `json:"hash,omitempty"` // of the plan that was shown
	By        int64             `json:"by,omitempty"`   // seconds by which a lease moves
	End       int64             `json:"end,omitempty"`  // where the lease ended when that was shown, in seconds since 1970
	Template  string            `json:"template,omitempty"`
	// Beside says that what becomes of it is told beside the message with the button; see Answer.Beside.
	Beside bool `json:"beside,omitempty"`
}

// The deeds.
const (
	doResize      = "resize" // of buttons from before there was doAmend
	doAmend       = "amend"
	doDelete      = "delete"
	doApprove     = "approve"
	doApproveAsk  = "look"
	doResume      = "resume"
	doRollBackAsk = "undo"
	doRollBack    = "rollback"
	doRepairAsk   = "mend"
	doLogs        = "logs"
	doExtend      = "extend"
	doCreate      = "create"
	doLink        = "link"
	doLease       = "lease"
	doAnswer      = "answer"
	doQuestions   = "questions"
	doConfirm     = "confirm"  // take an offer
	doWithdraw    = "withdraw" // a request, or, of one with an offer, decline that
)

func (d deed) as(do string) deed { d.Do = do; return d }

func (d deed) button(name string, danger bool) Button {
	b, err := json.Marshal(d)
	if err != nil {
		panic(err) // numbers and strings only
	}
	return Button{Name: name, Value: string(b), Danger: danger}
}

// mostDeed is what a chat takes behind a button, in bytes.
const mostDeed = 2000

// asking is button for what somebody has written down: it may be too much for one.
func (d deed) asking(name string, danger bool) (Button, error) {
	b := d.button(name, danger)
	if len(b.Value) > mostDeed {
		return b, &app.Error{Code: app.ETooLarge, Message: "That is too much for one button.", Hint: "Do it in the portal, or name fewer at once."}
	}
	return b, nil
}

// ofStranger does what those may press who are linked to no account: link themselves.
func (b *Bot) ofStranger(ctx context.Context, p Person, value string) (a Answer, did bool) {
	var d deed
	if json.Unmarshal([]byte(value), &d) != nil || d.Do != doLink {
		return a, false
	}
	a, err := b.link(ctx, request{person: p})
	if err != nil {
		a = b.sorry(p, err)
	}
	a.Beside = d.Beside
	return a, true
}

func (b *Bot) press(ctx context.Context, r request, value string) (Answer, error) {
	var d deed
	if err := json.Unmarshal([]byte(value), &d); err != nil {
		return Answer{}, &app.Error{Code: app.EInvalid, Message: "This button is not one of ours.", Hint: "Type the command again."}
	}
	a, err := b.done(ctx, r, d)
	if err != nil {
		a = b.sorry(r.person, err)
	}
	a.Beside = d.Beside
	return a, nil
}

func (b *Bot) done(ctx context.Context, r request, d deed) (Answer, error) {
	switch d.Do {
	case doResize:
		d.Kind = app.OperationResize
		fallthrough
	case doAmend:
		answer, err := b.muster.Amend(ctx, r.actor, d.Cluster, d.amendment())
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
	case doReviewApprove, doReviewDeny, doReviewOffer:
		return b.reviewAsk(ctx, r, d)
	case doApprove:
		q, err := b.muster.Review(ctx, r.actor, d.Request, operation.ReviewRequest{Verdict: cluster.VerdictApprove, Reason: d.Reason, PlanHash: d.Hash})
		if err != nil {
			return Answer{}, err
		}
		return b.reviewed(ctx, r, q)
	case doConfirm:
		q, err := b.muster.Confirm(ctx, r.actor, d.Request, d.Hash)
		if err != nil {
			return Answer{}, err
		}
		return b.reviewed(ctx, r, q)
	case doWithdraw:
		q, err := b.muster.Withdraw(ctx, r.actor, d.Request, "")
		if err != nil {
			return Answer{}, err
		}
		return b.reviewed(ctx, r, q)
	case doApproveAsk:
		return b.requestShow(ctx, r, d.Request, "")
	case doResume:
		v, err := b.muster.ResumeOperation(ctx, r.actor, d.Cluster, d.Operation)
		if err != nil {
			return Answer{}, err
		}
		return b.begun(v, d.Operation), nil
	case doRepairAsk:
		return b.amendAsk(ctx, r, d.Cluster, cluster.Amendment{Kind: app.OperationRepair}, "Repair cluster")
	case doRollBackAsk:
		return b.rollBackAsk(ctx, r, d)
	case doRollBack:
		v, err := b.muster.RollBack(ctx, r.actor, d.Cluster, d.Operation, d.Hash)
		if err != nil {
			return Answer{}, err
		}
		return b.begun(v, 0), nil
	case doLogs:
		return b.logsOf(ctx, r, d.Cluster, cluster.LogFilter{Operation: d.Operation, Step: d.Step})
	case doExtend:
		return b.extend(ctx, r, d)
	case doAnswer:
		return b.questionAsk(ctx, r, d)
	case doQuestions:
		return b.questionsOf(ctx, r, d.Cluster)
	case doLease:
		return b.leaseOf(ctx, r, d)
	case doCreate:
		m, err := b.createModal(ctx, r, Form{Values: map[string][]string{}}, note{Channel: r.person.Channel, Template: d.Template})
		return Answer{Title: "New cluster", Lines: []string{"Slack couldn’t open the form. Try again."}, Modal: &m}, err
	}
	return Answer{}, &app.Error{Code: app.EInvalid, Message: "This button is not known any more.", Hint: "Type the command again."}
}

func (d deed) amendment() cluster.Amendment {
	return cluster.Amendment{Kind: d.Kind, Size: d.Size, Services: d.Services, Nodes: d.Nodes, PlanHash: d.Hash}
}

// rollBackAsk shows what a roll-back would do.
func (b *Bot) rollBackAsk(ctx context.Context, r request, d deed) (Answer, error) {
	p, err := b.muster.PreviewRollBack(ctx, r.actor, d.Cluster, d.Operation)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: "Roll back the " + p.Operation.Kind.Words() + "?", Links: []Link{{"Open", b.Page(app.ClusterSubject(d.Cluster))}}}
	if len(p.GivesBack) > 0 {
		a.Lines = append(a.Lines, several(len(p.GivesBack), "machine")+" will be deleted, with all data: "+cluster.NodesInWords(p.GivesBack)+".")
	}
	if p.Untouched > 0 {
		a.Lines = append(a.Lines, several(p.Untouched, "other node")+" won't change.")
	}
	if p.Gone {
		a.Lines = append(a.Lines, "Nothing of the cluster remains.")
	}
	if p.Duration > 0 {
		a.Lines = append(a.Lines, "It takes "+takes(p.Duration, p.Plan.Expects)+".")
	}
	d = deed{Do: doRollBack, Cluster: d.Cluster, Operation: p.Operation.ID, Hash: p.PlanHash}
	a.Buttons = []Button{d.button("Roll back "+p.Operation.Kind.Words(), true)}
	return a, nil
}

// clusterDeleteAsk asks first: what is lost is lost.
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
		Lines:   []string{lost(v.Cluster)},
		Links:   []Link{{"Open", b.Page(app.ClusterSubject(v.ID))}},
		Buttons: []Button{deleteButton(v.Cluster, false)}}, nil
}

func lost(c app.Cluster) string {
	return fmt.Sprintf("All data on its %s will be lost. It belongs to %s.", several(c.Size, "node"), c.Owner)
}

func deleteButton(c app.Cluster, beside bool) Button {
	d := deed{Do: doDelete, Cluster: c.ID, Beside: beside}.button("Delete cluster", true)
	d.Confirm = &Confirm{Title: "Delete " + c.Name + "?", Text: lost(c), Yes: "Delete cluster", No: "Keep cluster"}
	return d
}
