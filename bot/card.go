package bot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/layout"
)

// Card is a message that shows an operation's progress, as plain text.
type Card struct {
	Title   string
	Bar     string
	Lines   []string
	Log     []string // the failed step's last lines
	Asides  []string
	Link    Link
	Buttons []Button
}

// barWidth is the width of a progress bar, in letters.
const barWidth = 20

func bar(done, total int, of string) string {
	n := 0
	if total > 0 {
		n = barWidth * min(max(done, 0), total) / total
	}
	return strings.Repeat("█", n) + strings.Repeat("░", barWidth-n) + fmt.Sprintf(" %d of %s", done, humanize.Count(total, of))
}

// NewCard makes an operation's current card, with amounts without a currency. URL is its cluster's page, or that of the command it runs.
func NewCard(p chat.Progress, url string, now time.Time) Card { return voice{}.card(p, url, now) }

func (v voice) card(p chat.Progress, url string, now time.Time) Card {
	if p.Run != nil {
		return v.runCard(p, url, now)
	}
	o, c := p.Operation, p.Cluster
	card := Card{Title: o.Headline(c), Bar: bar(o.Done, o.Total, "step"), Link: Link{"View cluster", url}}
	facts := []string{humanize.Count(len(p.Nodes), "node"), "owner " + c.Owner}
	if price := perHour(c.CostPerHour, c.Currency); price != "" && o.Kind != app.OperationDelete {
		facts = append(facts, price)
	}
	card.Lines = append(card.Lines, strings.Join(facts, ", "))
	if o.Kind != app.OperationDelete || !o.Status.Ended() {
		card.Lines = append(card.Lines, nodeLine(p.Nodes))
	}
	if o.Kind != app.OperationDelete && o.Kind != app.OperationRollBack {
		card.Asides = layout.NodesLayout(p.Nodes).Lines(maxLayout)
	}
	card.Lines = append(card.Lines, v.pace(o, now))
	if o.Message != "" && p.Failed == nil {
		card.Lines = append(card.Lines, o.Message)
	}
	if p.Failed != nil {
		card.Lines = append(card.Lines, app.StepTitle(*p.Failed)+": "+p.Failed.Error)
		card.Log = p.Lines
	}
	card.Buttons = cardButtons(o, p)
	card.Lines = slices.DeleteFunc(card.Lines, func(l string) bool { return l == "" })
	return card
}

// maxLayout limits the kinds of node shown for a layout in chat.
const maxLayout = 6

// pace is how long an operation took or has left, or what it's waiting for.
func (v voice) pace(o app.Operation, now time.Time) string {
	switch {
	case o.Status.Ended() && !o.StartedAt.IsZero() && o.EndedAt.After(o.StartedAt):
		return "Took " + humanize.Duration(o.EndedAt.Sub(o.StartedAt).Round(time.Second)) + "."
	case o.Status.Ended():
		return ""
	case !o.HeldUntil.IsZero():
		return "Waiting for a webhook until " + v.moment(o.HeldUntil) + "."
	case o.Status == app.OperationRunning && !o.StartedAt.IsZero():
		if left := o.Expected - now.Sub(o.StartedAt); left >= time.Second {
			text := "About " + humanize.Duration(left.Round(time.Second)) + " left"
			if from := o.Expects.From(); from != "" {
				text += ", " + from
			}
			return text + "."
		}
		if o.Expected > 0 {
			return "Taking longer than expected."
		}
		return ""
	}
	return operationLine(o)
}

// cardButtons are the next actions for a failed operation. They're the same for everyone who sees the card; pressing one needs permission.
func cardButtons(o app.Operation, p chat.Progress) []Button {
	if !o.Status.Ended() || o.Status == app.OperationSucceeded {
		return nil
	}
	d := action{Cluster: p.Cluster.ID, Operation: o.ID, Beside: true}
	list := wayButtons(p.Ways, d)
	logs := d.as(doLogs)
	if p.Failed != nil && len(p.Failed.ID) <= maxStepName {
		logs.Step = p.Failed.ID
	}
	b := logs.button("View log", false)
	b.Quiet = true
	return append(list, b)
}

// offeredWays are the next actions that chat buttons offer; the others are in the portal.
var offeredWays = map[cluster.RecoveryKind]string{cluster.RecoveryResume: doResume, cluster.RecoveryRepair: doRepairAsk, cluster.RecoveryRollBack: doRollBackAsk}

// wayButtons are the buttons of the next actions, the best first. Those that need a preview show it.
func wayButtons(ways []cluster.RecoveryOption, d action) (list []Button) {
	for _, w := range ways {
		if do := offeredWays[w.Kind]; do != "" {
			b := d.as(do).button(w.Title, false)
			b.Quiet = len(list) > 0
			list = append(list, b)
		}
	}
	return list
}

// maxStepName limits the step name in a button's value.
const maxStepName = 500

// nodeLine lists nodes by state, or counts them if there are many.
func nodeLine(nodes []app.Node) string {
	var parts []string
	for _, s := range []app.NodeStatus{app.NodeReady, app.NodeCreated, app.NodePlanned} {
		var names []string
		for _, n := range nodes {
			if n.Status == s {
				names = append(names, n.Name)
			}
		}
		if len(names) > 0 {
			parts = append(parts, cluster.NodesInWords(names)+" "+string(s))
		}
	}
	return strings.Join(parts, "; ")
}
