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

// Card is a message that shows how far an operation is, as plain text.
type Card struct {
	Title   string
	Bar     string
	Lines   []string
	Log     []string // the last lines of what failed
	Asides  []string
	Link    Link
	Buttons []Button
}

// barWidth is the width of a progress bar, in letters.
const barWidth = 20

func bar(done, total int) string {
	n := 0
	if total > 0 {
		n = barWidth * min(max(done, 0), total) / total
	}
	return strings.Repeat("█", n) + strings.Repeat("░", barWidth-n) + fmt.Sprintf(" %d of %s", done, several(total, "step"))
}

// NewCard makes the card of an operation as it is now, with plain amounts. URL is the page of its cluster.
func NewCard(p chat.ChatProgress, url string, now time.Time) Card { return voice{}.card(p, url, now) }

func (v voice) card(p chat.ChatProgress, url string, now time.Time) Card {
	o, c := p.Operation, p.Cluster
	card := Card{Title: o.Headline(c), Bar: bar(o.Done, o.Total), Link: Link{"Open", url}}
	facts := []string{several(len(p.Nodes), "node"), "of " + c.Owner}
	if price := v.perHour(c.CostPerHour); price != "" && o.Kind != app.OperationDelete {
		facts = append(facts, price)
	}
	card.Lines = append(card.Lines, strings.Join(facts, ", "))
	if o.Kind != app.OperationDelete || !o.Status.Ended() {
		card.Lines = append(card.Lines, nodeLine(p.Nodes))
	}
	if o.Kind != app.OperationDelete && o.Kind != app.OperationRollBack {
		card.Asides = layout.NodesLayout(p.Nodes).Lines(mostLayout)
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

// mostLayout is how many kinds of node a layout is told by in a chat.
const mostLayout = 6

// pace says how long it took, or how long it takes, or what it waits for.
func (v voice) pace(o app.Operation, now time.Time) string {
	switch {
	case o.Status.Ended() && !o.StartedAt.IsZero() && o.EndedAt.After(o.StartedAt):
		return "It took " + humanize.Duration(o.EndedAt.Sub(o.StartedAt).Round(time.Second)) + "."
	case o.Status.Ended():
		return ""
	case !o.HeldUntil.IsZero():
		return "It waits for the answer of a hook, until " + v.moment(o.HeldUntil) + " at the latest."
	case o.Status == app.OperationRunning && !o.StartedAt.IsZero():
		if left := o.Expected - now.Sub(o.StartedAt); left >= time.Second {
			text := "About " + humanize.Duration(left.Round(time.Second)) + " left"
			if from := o.Expects.From(); from != "" {
				text += ", " + from
			}
			return text + "."
		}
		if o.Expected > 0 {
			return "It takes longer than expected."
		}
		return ""
	}
	return operationLine(o)
}

// cardButtons are what can be done about an operation where its card is shown. Who presses one needs the right to it; the
// buttons are the same for everyone who reads the card.
func cardButtons(o app.Operation, p chat.ChatProgress) []Button {
	if !o.Status.Ended() || o.Status == app.OperationSucceeded {
		return nil
	}
	d := deed{Cluster: p.Cluster.ID, Operation: o.ID, Beside: true}
	list := wayButtons(p.Ways, d)
	logs := d.as(doLogs)
	if p.Failed != nil && len(p.Failed.ID) <= mostStepName {
		logs.Step = p.Failed.ID
	}
	b := logs.button("Logs", false)
	b.Quiet = true
	return append(list, b)
}

// waysHere are the ways on that a button of a chat leads to; the others are for the portal.
var waysHere = map[cluster.WayKind]string{cluster.WayResume: doResume, cluster.WayRepair: doRepairAsk, cluster.WayRollBack: doRollBackAsk}

// wayButtons are those of the ways on, the best first. Where something is to be seen before it's done, they show that.
func wayButtons(ways []cluster.Way, d deed) (list []Button) {
	for _, w := range ways {
		if do := waysHere[w.Kind]; do != "" {
			b := d.as(do).button(w.Title, false)
			b.Quiet = len(list) > 0
			list = append(list, b)
		}
	}
	return list
}

// mostStepName is the longest name of a step that a button carries.
const mostStepName = 500

// nodeLine names nodes by their state, or counts them where there are many.
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
