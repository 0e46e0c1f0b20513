package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
	appexecution "muster/app/execution"
	"muster/app/humanize"
	"muster/portal/page"
	"muster/portal/plan"

	"github.com/a-h/templ"
)

// Sentence describes the cluster's state.
func (c Show) Sentence() string {
	op := c.Operation()
	switch c.View.Status {
	case app.ClusterActive:
		s := "Running as requested."
		if c.View.KeptFrom != "" {
			s = "Kept for inspection, out of service."
		}
		if stopped := stoppedServices(c); stopped != "" {
			s = "Stopped as requested: " + stopped + "."
		}
		if !c.View.ExpiresAt.IsZero() {
			return s + " The lease " + page.LeaseEnd(c.Now, c.View.Cluster) + "."
		}
		return s
	case app.ClusterAsleep:
		s := "Asleep. Its machines are stopped and keep their data. Wake the cluster to use or change it."
		if !c.View.ExpiresAt.IsZero() {
			s += " The lease " + page.LeaseEnd(c.Now, c.View.Cluster) + "."
		}
		return s
	case app.ClusterDeleted:
		how := "Deleted"
		if op != nil && op.Kind == app.OperationRollBack {
			how = "Rolled back"
		}
		if op != nil && op.Kind == app.OperationCreate && op.StartedAt.IsZero() {
			return "Cancelled before anything was created, " + humanize.Ago(c.Now, c.View.DeletedAt) + "."
		}
		return how + ": all machines were deleted " + humanize.Ago(c.Now, c.View.DeletedAt) + "."
	case app.ClusterFailed:
		if op == nil {
			return "The cluster failed."
		}
		return endedSentence(c, op)
	}
	return progressSentence(c, op)
}

// sentenceTick keeps the duration in Sentence, or in the sentence about the operation whose page this is, current.
func sentenceTick(c Show) templ.Attributes {
	op := c.Operation()
	if c.Pinned != nil {
		if op == nil || op.ID != c.Pinned.ID || op.Status.Ended() {
			return nil
		}
		return leftTick(c, op)
	}
	switch c.View.Status {
	case app.ClusterActive, app.ClusterAsleep:
		return page.TickLease(c.Now, c.View.Cluster)
	case app.ClusterDeleted:
		return page.TickAgo(c.View.DeletedAt)
	case app.ClusterFailed:
		return nil
	}
	return leftTick(c, op)
}

// leftTick is for progressSentence.
func leftTick(c Show, op *app.Operation) templ.Attributes {
	if op == nil || op.Status != app.OperationRunning || !op.HeldUntil.IsZero() {
		return nil
	}
	left, ok := plan.Remaining(c.Now, *op, c.Steps)
	if !ok {
		return nil
	}
	return page.TickLeft(c.Now, left)
}

// waitTick is for the text of a group of steps that are tried again later.
func waitTick(g appexecution.WaitGroup) templ.Attributes {
	if g.Reason != appexecution.WaitBackOff {
		return nil
	}
	return page.TickUntil(g.Until)
}

// endedSentence says how an operation ended that didn't succeed. The banner lists the options.
func endedSentence(c Show, op *app.Operation) string {
	kind, sofar := humanize.Upper(op.Kind.The()), fmt.Sprintf("after %d of %s", op.Done, humanize.Count(op.Total, "step"))
	if retriedSoon(c) {
		return fmt.Sprintf("%s stopped %s. Muster is checking whether it can continue with the machines that were created.", kind, sofar)
	}
	if c.undoneSoon() {
		return fmt.Sprintf("%s stopped %s and will be rolled back.", kind, sofar)
	}
	word := "failed"
	if op.Status == app.OperationCancelled {
		word = "was cancelled"
	}
	return fmt.Sprintf("%s %s %s.", kind, word, sofar)
}

func progressSentence(c Show, op *app.Operation) string {
	switch {
	case op == nil:
		return "Waiting to start."
	case !op.HeldUntil.IsZero():
		return op.Message
	case op.Status == app.OperationWaiting:
		return "Waiting for the previous operation to finish."
	case op.Status == app.OperationRunning && len(c.ManualSteps) > 0:
		return fmt.Sprintf("%d of %s done. Waiting for an answer.", op.Done, humanize.Count(op.Total, "step"))
	case op.Status == app.OperationCancelling && op.OnFailure == app.FailureRollBack:
		return "Cancelling. No new steps start, and running steps are asked to stop. Then Muster rolls back."
	case op.Status == app.OperationCancelling:
		return "Cancelling. No new steps start, and running steps are asked to stop."
	case op.Status == app.OperationPaused:
		s := fmt.Sprintf("Paused after %d of %s.", op.Done, humanize.Count(op.Total, "step"))
		if c.Waiting.Running > 0 {
			s += fmt.Sprintf(" %s still running.", humanize.CountOf(c.Waiting.Running, "step is", "steps are"))
		}
		return s
	}
	s := fmt.Sprintf("%s: %d of %s done", doingWords(c, op), op.Done, humanize.Count(op.Total, "step"))
	if left, ok := plan.Remaining(c.Now, *op, c.Steps); ok {
		s += ", " + humanize.About(humanize.Rough(max(left, time.Second))) + " left"
		if slip := plan.Slipped(c.Now, *op, left); slip > 0 {
			s += ", " + humanize.Duration(slip) + " longer than expected"
		}
		if from := op.Expects.From(); from != "" {
			s += " (" + from + ")"
		}
	}
	return s + "."
}

// doingWords names the operation in progress: "Creating", "Growing from 3 to 5 nodes".
func doingWords(c Show, op *app.Operation) string {
	switch op.Kind {
	case app.OperationCreate:
		return "Creating"
	case app.OperationDelete:
		return "Deleting"
	case app.OperationRollBack:
		return "Rolling back"
	case app.OperationResize:
		if comes, goes := nodeMoves(c); comes > goes {
			return fmt.Sprintf("Growing from %d to %s", c.View.Size-comes+goes, humanize.Count(c.View.Size, "node"))
		} else if goes > comes {
			return fmt.Sprintf("Shrinking from %d to %s", c.View.Size-comes+goes, humanize.Count(c.View.Size, "node"))
		}
	}
	words := op.Kind.Doing()
	return strings.ToUpper(words[:1]) + words[1:]
}

// nodeMoves counts the nodes that the latest operation adds and removes.
func nodeMoves(c Show) (comes, goes int) {
	made, gone := map[string]bool{}, map[string]bool{}
	for _, s := range c.Steps {
		switch s.Action {
		case app.ActionCreate:
			made[s.Node] = true
		case app.ActionDelete:
			gone[s.Node] = true
		}
	}
	for n := range made {
		if !gone[n] {
			comes++
		}
	}
	for n := range gone {
		if !made[n] {
			goes++
		}
	}
	return comes, goes
}

// stoppedServices names the services that the latest operation has stopped; "" for none.
func stoppedServices(c Show) string {
	op := c.Operation()
	if op == nil || op.Kind != app.OperationStop || op.Status != app.OperationSucceeded {
		return ""
	}
	services := map[string]bool{}
	for _, s := range c.Steps {
		if s.Action == app.ActionStop {
			services[s.Service] = true
		}
	}
	return humanize.Some(slices.Sorted(maps.Keys(services)), 4)
}

func opWords(o app.Operation) string {
	s := o.Kind.Text() + " " + string(o.Status)
	if o.Status == app.OperationRunning || o.Status == app.OperationFailed {
		s += fmt.Sprintf(", %d of %s", o.Done, humanize.Count(o.Total, "step"))
	}
	return s
}

func opTook(now time.Time, o app.Operation) string {
	switch {
	case o.StartedAt.IsZero():
		return ""
	case o.EndedAt.IsZero():
		return "for " + humanize.Duration(now.Sub(o.StartedAt))
	}
	return "took " + humanize.Duration(o.EndedAt.Sub(o.StartedAt))
}
