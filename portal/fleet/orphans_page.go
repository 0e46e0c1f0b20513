package fleet

import (
	"fmt"
	"time"

	"muster/app/fleet"
	"muster/app/humanize"
	"muster/portal/page"
)

// Receipt is the page of a cluster's receipt.
type Receipt struct {
	Tabs page.ClusterTabs
	fleet.Receipt
	Now time.Time
}

// Sentence says how many machines are left.
func (r Receipt) Sentence() string {
	switch {
	case r.DeletedAt.IsZero() && len(r.Lines) == 0:
		return "No machines created yet."
	case r.DeletedAt.IsZero():
		return fmt.Sprintf("%d of %s in use.", r.Remaining, humanize.Count(len(r.Lines), "machine"))
	case r.Unproven():
		return r.ProofWords()
	case r.Remaining > 0:
		return humanize.Count(r.Remaining, "machine") + " appeared after the proof that none was left. See Orphaned machines."
	}
	return "0 machines left. Confirmed " + humanize.Ago(r.Now, r.Proof.At) + ", after the last deletion."
}

// OrphanList is the page of orphaned machines.
type OrphanList struct {
	Now     time.Time
	Report  fleet.OrphanReport
	Deleted bool
}

// Summary is the number and cost of orphaned machines.
func (l OrphanList) Summary() string {
	left := 0
	for _, o := range l.Report.Orphans {
		if o.State != fleet.OrphanGone {
			left++
		}
	}
	switch {
	case left == 0 && l.Report.Unlisted > 0:
		return "No orphaned machines found. " + humanize.Count(l.Report.Unlisted, "account") + " couldn't be scanned."
	case left == 0:
		return "No orphaned machines."
	}
	s := humanize.Count(left, "orphaned machine") + "."
	if l.Report.Cost > 0 {
		s += " Cost so far: " + humanize.Money(l.Report.Cost, l.Report.Currency) + "."
	}
	return s
}

// modeWords is the label of a cleanup mode.
func modeWords(m fleet.OrphanMode) string {
	switch m {
	case fleet.OrphansOff:
		return "Off"
	case fleet.OrphansReport:
		return "Report only"
	}
	return "Delete after two scans"
}

// why says why a machine is orphaned.
func why(k fleet.OrphanKind) string {
	switch k {
	case fleet.OrphanEnded:
		return "node was deleted"
	case fleet.OrphanDuplicate:
		return "duplicate of the node's machine"
	}
	return "unknown to Muster"
}

// plannedAction is the planned action for an orphaned machine.
func (l OrphanList) plannedAction(o fleet.Orphan) string {
	switch o.State {
	case fleet.OrphanGone:
		return "deleted " + humanize.Ago(l.Now, o.DeletedAt)
	case fleet.OrphanKept:
		return "kept by " + o.Decided
	case fleet.OrphanDue:
		by := ""
		if o.Decided != "" {
			by = " by " + o.Decided
		}
		if o.DeleteAt.After(l.Now) {
			return "deletion" + by + " in " + humanize.Duration(o.DeleteAt.Sub(l.Now))
		}
		return "deletion" + by + " in the next scan"
	}
	return "waiting for your decision"
}

// age is a machine's age, or its minimum if the time of creation is unknown.
func (l OrphanList) age(o fleet.Orphan) string {
	if o.CreatedAt.IsZero() {
		return "over " + humanize.Rough(l.Now.Sub(o.FirstSeen))
	}
	return humanize.Rough(l.Now.Sub(o.CreatedAt))
}
