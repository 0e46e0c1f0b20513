package fleet

import (
	"fmt"
	"time"

	"muster/app/fleet"
	"muster/app/humanize"
	"muster/portal/page"
)

// Receipt is the page that tells what a cluster has had at its provider.
type Receipt struct {
	Tabs page.ClusterTabs
	fleet.Receipt
	Now time.Time
}

// Sentence says what is left, and how that is known.
func (r Receipt) Sentence() string {
	switch {
	case r.DeletedAt.IsZero() && len(r.Lines) == 0:
		return "No machine was created for this cluster yet."
	case r.DeletedAt.IsZero():
		return fmt.Sprintf("%s of %s in use until now.", humanize.Count(r.Left, "machine"), humanize.Count(len(r.Lines), "machine"))
	case r.Unproven():
		return r.ProofWords()
	case r.Left > 0:
		return fmt.Sprintf("%s appeared after it was proven that nothing was left; see Orphans.", humanize.Count(r.Left, "machine"))
	}
	return "0 left. Proven " + humanize.Ago(r.Now, r.Proof.At) + ", after the last deletion."
}

// until says when something was deleted.
func until(l fleet.ReceiptLine) string {
	if l.GoneAt.IsZero() {
		return "–"
	}
	return page.Stamp(l.GoneAt)
}

// orphanList is the page of machines that no one stands behind.
type OrphanList struct {
	Now    time.Time
	Report fleet.OrphanReport
	Gone   bool
}

// Summary says in one sentence what there is.
func (l OrphanList) Summary() string {
	stand := 0
	for _, o := range l.Report.Orphans {
		if o.State != fleet.OrphanGone {
			stand++
		}
	}
	switch {
	case stand == 0 && l.Report.Unlisted > 0:
		return "No orphaned machines in the accounts that could be listed. " + humanize.Count(l.Report.Unlisted, "account") + " could not be listed."
	case stand == 0:
		return "No orphaned machines."
	}
	s := humanize.Count(stand, "orphaned machine") + "."
	if l.Report.Cost > 0 {
		s += " Cost so far: " + humanize.Cost(l.Report.Cost) + "."
	}
	return s
}

// modeWords says what a mode does.
func modeWords(m fleet.OrphanMode) string {
	switch m {
	case fleet.OrphansOff:
		return "not looked for"
	case fleet.OrphansReport:
		return "listed here"
	}
	return "deleted when seen twice"
}

// why says why no one stands behind a machine.
func why(k fleet.OrphanKind) string {
	switch k {
	case fleet.OrphanEnded:
		return "its node was given back"
	case fleet.OrphanDuplicate:
		return "another machine stands for its node"
	}
	return "the ledger does not know it"
}

// whatBecomes says what is to become of an orphan.
func (l OrphanList) whatBecomes(o fleet.Orphan) string {
	switch o.State {
	case fleet.OrphanGone:
		return "gone " + humanize.Ago(l.Now, o.GoneAt)
	case fleet.OrphanKept:
		return "kept, says " + o.Decided
	case fleet.OrphanDue:
		by := ""
		if o.Decided != "" {
			by = ", says " + o.Decided
		}
		if o.DeleteAt.After(l.Now) {
			return "will be deleted in " + humanize.Duration(o.DeleteAt.Sub(l.Now)) + by
		}
		return "will be deleted in the next pass" + by
	}
	return "reported; a person decides"
}

// age says how old a machine is, as far as that is known.
func (l OrphanList) age(o fleet.Orphan) string {
	if o.MadeAt.IsZero() {
		return "over " + humanize.Rough(l.Now.Sub(o.FirstSeen))
	}
	return humanize.Rough(l.Now.Sub(o.MadeAt))
}
