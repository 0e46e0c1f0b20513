package bot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
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

// NewCard makes the card of an operation as it is now. URL is the page of its cluster.
func NewCard(p app.ChatProgress, url string, now time.Time) Card {
	o, c := p.Operation, p.Cluster
	card := Card{Bar: bar(o.Done, o.Total), Link: Link{"Open", url}}
	switch o.Status {
	case app.OperationSucceeded:
		card.Title = c.Name + ": the " + o.Kind.Words() + " is done"
		if c.Status == app.ClusterActive {
			card.Title = c.Name + " is active"
		}
		if o.Kind == app.OperationDelete {
			card.Title = c.Name + " is gone"
		}
	case app.OperationFailed:
		card.Title = c.Name + ": the " + o.Kind.Words() + " has failed"
	case app.OperationCancelled:
		card.Title = c.Name + ": the " + o.Kind.Words() + " was cancelled"
	default:
		card.Title = c.Name + ": " + o.Kind.Doing()
	}
	facts := []string{several(len(p.Nodes), "node"), "of " + c.Owner}
	if price := perHour(c.CostPerHour); price != "" && o.Kind != app.OperationDelete {
		facts = append(facts, price)
	}
	card.Lines = append(card.Lines, strings.Join(facts, ", "))
	if o.Kind != app.OperationDelete || !o.Status.Ended() {
		card.Lines = append(card.Lines, nodeLine(p.Nodes))
	}
	switch {
	case o.Status.Ended() && !o.StartedAt.IsZero() && o.EndedAt.After(o.StartedAt):
		card.Lines = append(card.Lines, "It took "+app.Length(o.EndedAt.Sub(o.StartedAt).Round(time.Second))+".")
	case !o.HeldUntil.IsZero():
		card.Lines = append(card.Lines, "It waits for the answer of a hook, until "+moment(o.HeldUntil)+" at the latest.")
	case o.Status == app.OperationRunning && !o.StartedAt.IsZero():
		if left := o.Expected - now.Sub(o.StartedAt); left >= time.Second {
			card.Lines = append(card.Lines, "About "+app.Length(left.Round(time.Second))+" left.")
		}
	case !o.Status.Ended():
		card.Lines = append(card.Lines, operationLine(o))
	}
	if o.Message != "" && p.Failed == nil {
		card.Lines = append(card.Lines, o.Message)
	}
	if p.Failed != nil {
		card.Lines = append(card.Lines, p.Failed.ID+": "+p.Failed.Error)
		card.Log = p.Lines
	}
	card.Lines = slices.DeleteFunc(card.Lines, func(l string) bool { return l == "" })
	return card
}

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
			parts = append(parts, app.NodesInWords(names)+" "+string(s))
		}
	}
	return strings.Join(parts, "; ")
}
