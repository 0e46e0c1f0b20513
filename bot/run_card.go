package bot

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/plan"
)

// maxFailedNodes limits the failed nodes that a card lists; the page has the rest.
const maxFailedNodes = 10

// runCard is the card of an action, or of a command: on how many nodes it ended, and how.
func (v voice) runCard(p chat.Progress, url string, now time.Time) Card {
	o, c := p.Operation, p.Cluster
	ended := 0
	var names []string
	for _, n := range p.Run.Results {
		names = append(names, n.Node)
		if n.State == app.StepSucceeded || n.State == app.StepFailed {
			ended++
		}
	}
	card := Card{Title: c.Name + ": " + runTitle(p), Bar: bar(ended, len(names), "node"), Log: p.Lines, Link: Link{"View output", url}}
	card.Lines = []string{"Run by " + o.Requester + " on " + cluster.NodesInWords(names), runCounts(p.Run.Results)}
	card.Lines = append(card.Lines, failedNodes(p.Run.Results)...)
	if pace := v.pace(o, now); pace != "" && (o.Status == app.OperationRunning || o.Status.Ended()) {
		card.Lines = append(card.Lines, pace)
	}
	if o.Message != "" && o.Status != app.OperationFailed {
		card.Lines = append(card.Lines, o.Message)
	}
	d := action{Cluster: c.ID, Operation: o.ID, Beside: true}
	switch {
	case !o.Status.Ended() && o.Status != app.OperationCancelling:
		b := d.as(doCancelRun).button("Cancel "+runNoun(p), true)
		b.Confirm = &Confirm{Title: "Cancel the " + runNoun(p) + "?", Text: "It's stopped on the nodes where it runs, and doesn't start on others.",
			Yes: "Cancel " + runNoun(p), No: "Keep it running"}
		card.Buttons = []Button{b}
	case o.Status.Ended():
		card.Buttons = againButtons(p, d)
	}
	return card
}

// againButtons run the action of a card again, and show its log if it failed.
func againButtons(p chat.Progress, d action) (list []Button) {
	again := d.as(doRunAsk)
	again.Action = p.Run.Action
	quiet := func(d action, name string) {
		b := d.button(name, false)
		b.Quiet = true
		list = append(list, b)
	}
	failed := 0
	for _, n := range p.Run.Results {
		if n.State != app.StepSucceeded {
			failed++
		}
	}
	if again.Action != "" {
		if again.Failed = true; failed > 0 && failed < len(p.Run.Results) {
			name := "Run on failed nodes…"
			if p.Operation.Status == app.OperationCancelled {
				name = "Run on unfinished nodes…"
			}
			quiet(again, name)
		}
		again.Failed = false
		quiet(again, "Run again…")
	}
	if p.Operation.Status != app.OperationSucceeded {
		quiet(d.as(doLogs), "View log")
	}
	return list
}

func runNoun(p chat.Progress) string {
	if p.Run.Action == "" {
		return "command"
	}
	return "action"
}

// runTitle says how far it is: "action backup failed on 2 of 3 nodes".
func runTitle(p chat.Progress) string {
	what := strings.TrimSpace(runNoun(p) + " " + p.Run.Action)
	switch p.Operation.Status {
	case app.OperationSucceeded:
		return what + " succeeded"
	case app.OperationFailed:
		failed := 0
		for _, n := range p.Run.Results {
			if n.State == app.StepFailed {
				failed++
			}
		}
		return fmt.Sprintf("%s failed on %d of %s", what, failed, humanize.Count(len(p.Run.Results), "node"))
	case app.OperationCancelled:
		return what + " was cancelled"
	case app.OperationCancelling:
		return "cancelling " + what
	case app.OperationPaused:
		return what + " is paused"
	case app.OperationRunning:
		return "running " + what
	}
	return what + " is waiting"
}

// runCounts counts nodes by how far it is there: "2 succeeded, 1 unfinished".
func runCounts(all []plan.RunResult) string {
	var words []string
	count := map[string]int{}
	for _, n := range all {
		n.Exit = plan.NoExit // the failed ones are listed with theirs
		word := n.Words()
		if !n.State.Ended() { // a card isn't edited when a step starts
			word = "unfinished"
		}
		if count[word]++; count[word] == 1 {
			words = append(words, word)
		}
	}
	for i, word := range words {
		words[i] = strconv.Itoa(count[word]) + " " + word
	}
	return strings.Join(words, ", ")
}

// failedNodes list the nodes on which it failed, with its exit code there, or why it has none.
func failedNodes(all []plan.RunResult) (lines []string) {
	failed := 0
	for _, n := range all {
		if n.State != app.StepFailed {
			continue
		}
		if failed++; failed > maxFailedNodes {
			continue
		}
		line := "✗ " + n.Node + ": " + n.Words()
		if n.Exit == plan.NoExit && n.Error != "" {
			line = "✗ " + n.Node + ": " + humanize.CutText(n.Error, 300)
		}
		lines = append(lines, line)
	}
	if failed > maxFailedNodes {
		lines = append(lines, humanize.Count(failed-maxFailedNodes, "more failed node")+" in the portal.")
	}
	return lines
}
