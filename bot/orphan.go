package bot

import (
	"context"
	"fmt"
	"strings"

	"muster/app"
	"muster/app/fleet"
	"muster/app/humanize"
)

// orphans lists machines that belong to no cluster.
type orphans struct{ orphans Orphans }

func (os orphans) list(ctx context.Context, r request) (Answer, error) {
	report, err := os.orphans.Orphans(ctx, r.actor, false)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: "Orphaned machines", Links: []Link{{"View orphaned machines", r.Page(app.Subject{Kind: app.SubjectOrphans})}}}
	for i, o := range report.Orphans {
		if i == maxListed {
			a.Lines = append(a.Lines, fmt.Sprintf("%d more in the portal.", len(report.Orphans)-i))
			break
		}
		facts := []string{string(o.Kind), "since " + r.moment(o.Since())}
		if o.Price > 0 {
			facts = append(facts, humanize.Money(o.Cost, o.Currency)+" so far")
		}
		switch {
		case o.Error != "":
			facts = append(facts, "couldn't be deleted: "+o.Error)
		case o.State == fleet.OrphanDue && !o.DeleteAt.IsZero():
			facts = append(facts, "will be deleted "+r.moment(o.DeleteAt))
		default:
			facts = append(facts, string(o.State))
		}
		a.Lines = append(a.Lines, fmt.Sprintf("%s at %s – %s", o.Machine, o.Provider, strings.Join(facts, ", ")))
	}
	if len(report.Orphans) == 0 {
		a.Lines = []string{"No orphaned machines."}
	}
	if report.Cost > 0 {
		a.Lines = append(a.Lines, "Total cost so far: "+humanize.Money(report.Cost, report.Currency)+".")
	}
	if report.Unlisted > 0 {
		a.Lines = append(a.Lines, humanize.Count(report.Unlisted, "account")+" couldn't be listed, so there may be more.")
	}
	return a, nil
}
