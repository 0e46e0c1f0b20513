package cluster

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/plan"
	"muster/app/policy"
	"muster/cmd/muster/cli"
	"muster/planner"
)

// updateText prints a preview.
type updateText struct {
	w     io.Writer
	paint func(colour, text string) string
}

func (t updateText) write(v cluster.View, p cluster.UpdatePreview, steps bool) error {
	if p.NoChanges {
		_, err := fmt.Fprintf(t.w, "%s (%s): no changes needed.\n", v.Name, v.ID)
		return err
	}
	cli.Line(t.w, "%s (%s): %s", v.Name, v.ID, p.Title())
	for _, e := range p.Effects() {
		cli.Line(t.w, "  %s", e)
	}
	if err := t.nodes(p); err != nil {
		return err
	}
	t.changes(p)
	cli.Line(t.w, "")
	t.figures(v, p, time.Now())
	for _, n := range p.Notes {
		cli.Line(t.w, "  - %s", n)
	}
	t.decision(p.Decision)
	if steps && len(p.Plan.Steps) > 0 {
		cli.Line(t.w, "")
		return planner.Text(t.w, p.Plan)
	}
	return nil
}

// nodes lists the nodes that change.
func (t updateText) nodes(p cluster.UpdatePreview) error {
	touched, rest := nodesTouched(p)
	if len(touched) == 0 {
		return nil
	}
	has := func(is func(cluster.UpdatedNode) string) bool {
		return slices.ContainsFunc(touched, func(n cluster.UpdatedNode) bool { return is(n) != "" })
	}
	zone, why := func(n cluster.UpdatedNode) string { return n.Zone }, func(n cluster.UpdatedNode) string { return n.Reason }
	head := []string{"", "NODE", "HARDWARE", "IMAGE", "SERVICES"}
	if has(zone) {
		head = append(head, "ZONE")
	}
	if has(why) {
		head = append(head, "REASON")
	}
	table := cli.NewTable(head...)
	var colours []string
	for _, n := range touched {
		sign, colour := signOf(n)
		colours = append(colours, colour)
		row := []string{sign, n.Name, n.Hardware, n.Image, nodeServices(n)}
		if has(zone) {
			row = append(row, n.Zone)
		}
		if has(why) {
			row = append(row, n.Reason)
		}
		table.Add(row...)
	}
	var b bytes.Buffer
	if err := table.Write(&b); err != nil {
		return err
	}
	cli.Line(t.w, "")
	for i, text := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		if i > 0 {
			text = t.paint(colours[i-1], text)
		}
		cli.Line(t.w, "  %s", text)
	}
	switch {
	case rest == 1:
		cli.Line(t.w, "  The other node doesn't change.")
	case rest > 1:
		cli.Line(t.w, "  The other %d nodes don't change.", rest)
	}
	return nil
}

// signOf returns a node's mark: + for a new one, - for a removed one, ± for a replaced one, ~ for a changed one.
func signOf(n cluster.UpdatedNode) (sign, colour string) {
	switch n.Change {
	case plan.NodeNew:
		return "+", cli.ColourComes
	case plan.NodeGone:
		return "-", cli.ColourGoes
	case plan.NodeReplaced:
		return "±", cli.ColourChanges
	}
	return "~", cli.ColourChanges
}

// nodeServices lists the services of a node, with what happens to each.
func nodeServices(n cluster.UpdatedNode) string {
	var words []string
	for _, s := range n.Services {
		switch {
		case n.Change != "":
			words = append(words, s)
		case slices.Contains(n.Added, s):
			words = append(words, "+"+s)
		case n.Work[s] != "":
			words = append(words, s+" ("+string(n.Work[s])+")")
		}
	}
	// Work may concern services that the definition no longer has.
	for _, s := range slices.Sorted(maps.Keys(n.Work)) {
		if n.Change == "" && !slices.Contains(n.Services, s) {
			words = append(words, s+" ("+string(n.Work[s])+")")
		}
	}
	for _, s := range n.Removed {
		words = append(words, "-"+s)
	}
	return strings.Join(words, ", ")
}

func (t updateText) changes(p cluster.UpdatePreview) {
	if len(p.Changes) == 0 {
		return
	}
	cli.Line(t.w, "\n  Configuration changes:")
	for _, ch := range p.Changes {
		cli.Line(t.w, "    %s", ch.Path)
		if ch.Before != "" {
			cli.Line(t.w, "      %s", t.paint(cli.ColourGoes, "- "+indented(ch.Before)))
		}
		if ch.After != "" {
			cli.Line(t.w, "      %s", t.paint(cli.ColourComes, "+ "+indented(ch.After)))
		}
	}
}

// indented aligns the further lines of a value with its first.
func indented(s string) string {
	return strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n        ")
}

// figures prints cost and duration.
func (t updateText) figures(v cluster.View, p cluster.UpdatePreview, now time.Time) {
	if p.Before.Nodes != p.After.Nodes {
		cli.Line(t.w, "  Nodes: %d → %d", p.Before.Nodes, p.After.Nodes)
	}
	if before, after := p.Before.CostPerHour, p.After.CostPerHour; before != after {
		text := fmt.Sprintf("  Cost per hour: %s → %s", humanize.Price(before, p.Before.Currency), humanize.Price(after, p.After.Currency))
		if left := v.ExpiresAt.Sub(now); !v.ExpiresAt.IsZero() && left > 0 {
			text += fmt.Sprintf("; %[2]s until the lease expires in %[1]s", humanize.Duration(left), signedMoney((after-before)*left.Hours(), p.After.Currency))
		}
		cli.Line(t.w, "%s", text)
	} else if after > 0 {
		cli.Line(t.w, "  Cost per hour: %s (unchanged)", humanize.Price(after, p.After.Currency))
	}
	text := "  " + humanize.Count(p.Plan.Acts(), "step")
	if p.Duration > 0 {
		text += ", " + withPeople(takes(p.Duration, p.Plan.Expects), p.Plan.PeopleInWords())
	}
	cli.Line(t.w, "%s", text)
	if p.FromPools != nil {
		cli.Line(t.w, "  %s", p.FromPools.Text())
	}
	for _, l := range p.ProblemLines() {
		cli.Line(t.w, "  %s", l)
	}
}

func signedMoney(v float64, currency string) string {
	if v < 0 {
		return humanize.Money(v, currency)
	}
	return "+" + humanize.Money(v, currency)
}

// decision prints the policies' decision.
func (t updateText) decision(d *policy.Decision) {
	if d == nil {
		return
	}
	for _, ch := range d.Changes {
		cli.Line(t.w, "  %s", t.paint(cli.ColourChanges, ch.Sentence()))
	}
	switch d.Outcome {
	case policy.OutcomeRefuse:
		cli.Line(t.w, "  %s", t.paint(cli.ColourGoes, d.RefusalText()))
	case policy.OutcomeApprove:
		for _, n := range d.Needs {
			text := "  Requires " + n.Text()
			if n.Reason != "" {
				text += ": " + n.Reason
			}
			cli.Line(t.w, "%s", t.paint(cli.ColourChanges, text))
		}
	}
}
