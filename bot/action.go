package bot

import (
	"context"
	"encoding/json"

	"muster/app"
	"muster/app/cluster"
)

// action is a button's value: the action and what was shown.
type action struct {
	Do        string            `json:"do"`
	Cluster   string            `json:"cluster,omitempty"` // its id
	Operation int64             `json:"operation,omitempty"`
	Kind      app.OperationKind `json:"kind,omitempty"` // of an update
	Size      int               `json:"size,omitempty"`
	Services  []string          `json:"services,omitempty"`
	Nodes     []string          `json:"nodes,omitempty"`
	Step      string            `json:"step,omitempty"`
	Index     int               `json:"index,omitempty"`   // of a manual step
	Attempt   int               `json:"attempt,omitempty"` // of the step, as shown
	Request   int64             `json:"request,omitempty"`
	Reason    string            `json:"reason,omitempty"`
	Hash      string            `json:"hash,omitempty"` // of the plan that was shown
	By        int64             `json:"by,omitempty"`   // seconds by which a lease is extended, or for which a cluster is kept
	End       int64             `json:"end,omitempty"`  // when the lease was shown to expire, in seconds since 1970
	Template  string            `json:"template,omitempty"`
	// Action is one of the template's to run, with values of its Parameters.
	Action     string            `json:"action,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"`
	Failed     bool              `json:"failed,omitempty"` // only the nodes on which the operation failed
	// Beside sends the result beside the message with the button; see Answer.Beside.
	Beside bool `json:"beside,omitempty"`
}

// The actions.
const (
	doResize      = "resize" // of buttons from before doUpdate existed
	doUpdate      = "update"
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
	doKeep        = "keep"
	doAnswer      = "answer"
	doManualSteps = "questions"
	doRunAsk      = "run" // open the form of an action
	doCancelRun   = "cancel-run"
	doConfirm     = "confirm"  // take an offer
	doWithdraw    = "withdraw" // a request, or, of one with an offer, decline that
)

func (d action) as(do string) action { d.Do = do; return d }

func (d action) button(name string, danger bool) Button {
	b, err := json.Marshal(d)
	if err != nil {
		panic(err) // numbers and strings only
	}
	return Button{Name: name, Value: string(b), Danger: danger}
}

// maxAction limits a button's value, in bytes.
const maxAction = 2000

// asking is button for values that people typed, which may be too long for one.
func (d action) asking(name string, danger bool) (Button, error) {
	b := d.button(name, danger)
	if len(b.Value) > maxAction {
		e := &app.Error{Code: app.ETooLarge, Message: "That's too many names for one command.", Hint: "Use fewer at once, or use the portal."}
		if len(d.Parameters) > 0 {
			e.Message, e.Hint = "The values are too long for one command.", "Leave them out to open the form."
		}
		return b, e
	}
	return b, nil
}

// unlinked handles the one button that people without a linked account may press.
func (b *Bot) unlinked(ctx context.Context, p Person, value string) (a Answer, did bool) {
	var d action
	if json.Unmarshal([]byte(value), &d) != nil || d.Do != doLink {
		return a, false
	}
	a, err := b.accounts.link(ctx, b.request(p, app.Actor{}))
	if err != nil {
		a = b.sorry(p, err)
	}
	a.Beside = d.Beside
	return a, true
}

func (b *Bot) press(ctx context.Context, r request, value string) (Answer, error) {
	var d action
	if err := json.Unmarshal([]byte(value), &d); err != nil {
		return Answer{}, &app.Error{Code: app.EInvalid, Message: "This button isn't valid.", Hint: "Type the command again."}
	}
	do := b.actions[d.Do]
	if do == nil {
		do = func(context.Context, request, action) (Answer, error) {
			return Answer{}, &app.Error{Code: app.EInvalid, Message: "This button has expired.", Hint: "Type the command again."}
		}
	}
	a, err := do(ctx, r, d)
	if err != nil {
		a = b.sorry(r.person, err)
	}
	a.Beside = d.Beside
	return a, nil
}

func (d action) update() cluster.Update {
	m := cluster.Update{Kind: d.Kind, Size: d.Size, Services: d.Services, Nodes: d.Nodes, Action: d.Action, PlanHash: d.Hash}
	if len(d.Parameters) > 0 {
		m.Parameters = map[string]any{}
		for name, value := range d.Parameters {
			m.Parameters[name] = value
		}
	}
	return m
}
