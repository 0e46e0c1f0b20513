package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Words that all faces say in the same way.

// Span says how long something takes, with at most two units: "45 s", "3 min", "2 h 10 min", "3 d 4 h". Anything
// under a second is "less than 1 s".
func Span(d time.Duration) string {
	day := 24 * time.Hour
	switch {
	case d < time.Second:
		return "less than 1 s"
	case d < 2*time.Minute:
		return strconv.Itoa(int(d.Round(time.Second)/time.Second)) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Round(time.Minute)/time.Minute)) + " min"
	case d < day:
		d = d.Round(time.Minute)
		return twoUnits(int(d/time.Hour), "h", int(d%time.Hour/time.Minute), "min")
	}
	d = d.Round(time.Hour)
	return twoUnits(int(d/day), "d", int(d%day/time.Hour), "h")
}

// AboutLength is a length that is only roughly known, as one of the functions here says it.
func AboutLength(length string) string {
	if strings.HasPrefix(length, "less than") {
		return length // "about less than" is no English
	}
	return "about " + length
}

func twoUnits(a int, unitA string, b int, unitB string) string {
	if b == 0 {
		return fmt.Sprintf("%d %s", a, unitA)
	}
	return fmt.Sprintf("%d %s %d %s", a, unitA, b, unitB)
}

// Rough is Span with less detail, for places where that would be noise: "5 h", "2 d 4 h", "12 d".
func Rough(d time.Duration) string {
	switch {
	case d >= 7*24*time.Hour:
		return fmt.Sprintf("%d d", int(d.Round(24*time.Hour)/(24*time.Hour)))
	case d >= 47*time.Hour:
		return Span(max(d, 48*time.Hour))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d h", int(d.Round(time.Hour)/time.Hour))
	}
	return Span(d)
}

// LeaseWords says how long a lease is; "no end" for 0.
func LeaseWords(d time.Duration) string {
	if d == 0 {
		return "no end"
	}
	return Span(d)
}

// LeaseEnd says when the lease ends, seen from now; "no end" where it has none.
func (c Cluster) LeaseEnd(now time.Time) string {
	switch {
	case c.Status == ClusterDeleted:
		return "ended"
	case c.ExpiresAt.IsZero():
		return "no end"
	case !c.ExpiresAt.After(now):
		return "over since " + Rough(now.Sub(c.ExpiresAt))
	}
	return "in " + Rough(c.ExpiresAt.Sub(now))
}

// Cost writes an amount in the account's own currency, which we do not know the sign of. Small amounts keep enough
// digits to tell them from nothing; 0 means unknown and is a dash.
func Cost(x float64) string {
	switch {
	case x <= 0:
		return "–"
	case x < 0.1:
		text := strconv.FormatFloat(x, 'f', 4, 64)
		return text[:4] + strings.TrimRight(text[4:], "0")
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// Words says how many nodes there may be: "2 to 5 nodes", "3, 5 or 7 nodes".
func (r SizeRange) Words() string {
	lo := r.Least()
	switch n := len(r.OneOf); {
	case n > 1:
		var first []string
		for _, size := range r.OneOf[:n-1] {
			first = append(first, strconv.Itoa(size))
		}
		return fmt.Sprintf("%s or %d nodes", strings.Join(first, ", "), r.OneOf[n-1])
	case r.Max == 0 || r.Max >= Unlimited:
		return fmt.Sprintf("%d or more nodes", lo)
	case r.Max == lo:
		return "exactly " + Several(lo, "node")
	}
	return fmt.Sprintf("%d to %d nodes", lo, r.Max)
}

// StatusWord is the state in one word. A pending cluster is told by what is being done to it.
func (c Cluster) StatusWord(op *Operation) string {
	if c.Status == ClusterPending && op != nil {
		switch {
		case op.Status == OperationCancelling:
			return "stopping"
		case op.Status == OperationPaused:
			return "paused"
		}
		return op.Kind.Doing()
	}
	return string(c.Status)
}

// StepWords says what a step does: "create n1", "start app on n1".
func StepWords(node string, a Action, service string) string {
	switch {
	case a == ActionNames:
		return strings.TrimSpace("write names of all nodes on " + node)
	case service == "":
		return strings.TrimSpace(string(a) + " " + node)
	}
	return string(a) + " " + service + " on " + node
}

// StepTitle is StepWords of a step in the ledger.
func StepTitle(s Step) string {
	if s.Action == "" {
		return s.ID
	}
	return StepWords(s.Node, s.Action, s.Service)
}

// Headline says how an operation of a cluster stands, in a few words: "web: creating", "web is active".
func (o Operation) Headline(c Cluster) string {
	switch {
	case o.Status == OperationSucceeded && o.Kind == OperationDelete:
		return c.Name + " is gone"
	case o.Status == OperationSucceeded && c.Status == ClusterActive:
		return c.Name + " is active"
	case o.Status == OperationSucceeded:
		return c.Name + ": the " + o.Kind.Words() + " is done"
	case o.Status == OperationFailed:
		return c.Name + ": the " + o.Kind.Words() + " has failed"
	case o.Status == OperationCancelled:
		return c.Name + ": the " + o.Kind.Words() + " was cancelled"
	case o.Status == OperationPaused:
		return c.Name + ": the " + o.Kind.Words() + " is paused"
	}
	return c.Name + ": " + o.Kind.Doing()
}

// NodesLayout groups nodes that stand as a layout does, in the order of their numbers; what each group costs is not known.
func NodesLayout(nodes []Node) Layout {
	var l Layout
	for _, n := range nodes {
		same := func(g NodeGroup) bool {
			return g.Hardware == n.Hardware && g.Image == n.Image && g.Zone == n.Zone && slices.Equal(g.Services, n.Services)
		}
		if i := slices.IndexFunc(l.Groups, same); i >= 0 {
			l.Groups[i].Count++
			continue
		}
		l.Groups = append(l.Groups, NodeGroup{Count: 1, Hardware: n.Hardware, Image: n.Image, Zone: n.Zone, Services: n.Services})
	}
	return l
}

// Lines say what a layout is made of, a line for each kind of node: "3 × small with web and lb". At most so many; the last one
// then says how many more there are.
func (l Layout) Lines(most int) []string {
	var lines []string
	for i, g := range l.Groups {
		if i == most-1 && len(l.Groups) > most {
			rest := 0
			for _, g := range l.Groups[i:] {
				rest += g.Count
			}
			return append(lines, fmt.Sprintf("and %s of %s", Several(rest, "node"), Several(len(l.Groups)-i, "other kind")))
		}
		text := fmt.Sprintf("%d × %s", g.Count, g.Hardware)
		if g.Zone != "" {
			text += " in " + g.Zone
		}
		if len(g.Services) > 0 {
			text += " with " + SomeOf(g.Services, 8)
		}
		lines = append(lines, text)
	}
	return lines
}

// Words say how much of a limit is left: "3 of 5 clusters of the group ops".
func (l QuotaLine) Words() string {
	switch l.Measure {
	case MeasurePerHour:
		return fmt.Sprintf("%s of %s an hour of %s", Quantity(l.Left), Quantity(l.Limit), l.Whose())
	case MeasurePerMonth:
		return fmt.Sprintf("%s of %s a month of %s", Quantity(l.Left), Quantity(l.Limit), l.Whose())
	}
	return fmt.Sprintf("%s of %s of %s", Quantity(l.Left), l.Measure.Count(l.Limit), l.Whose())
}

// Sentences say what policies make of a request; none where nothing is to be said.
func (d *Decision) Sentences() []string {
	if d == nil {
		return nil
	}
	var out []string
	for _, c := range d.Changes {
		out = append(out, strings.TrimSpace(fmt.Sprintf("The policy %s made the lease %s. %s", c.Policy, LeaseWords(c.To), c.Reason)))
	}
	switch d.Outcome {
	case OutcomeRefuse:
		out = append(out, fmt.Sprintf("The policy %s refuses it: %s", d.Policy, d.Reason))
	case OutcomeApprove:
		var who []string
		for _, n := range d.Needs {
			who = append(who, n.Words())
		}
		out = append(out, "Others have to approve it first: "+AndList(who)+".")
	}
	return out
}

// Lengths are those that people use and the lease allows, for a list to choose from; what it begins with is left out, and 0 is
// for ever.
func (l Lease) Lengths() []time.Duration {
	const day = 24 * time.Hour
	var out []time.Duration
	for _, d := range []time.Duration{time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, day, 2 * day, 3 * day, 7 * day, 14 * day, 30 * day, 90 * day, 0} {
		switch {
		case d == l.Initial, d == 0 && l.Max > 0, l.Max > 0 && d > l.Max, l.Step > 0 && d%l.Step != 0:
			continue
		}
		out = append(out, d)
	}
	return out
}
