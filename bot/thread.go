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
)

// maxDetails limits the lines below a card.
const maxDetails = 60

// detailsOf lists below a card how the steps of its operation ended, a line per node, failed ones first.
func detailsOf(c chat.Card, steps []app.Step) Answer {
	a := Answer{Title: fmt.Sprintf("%d of %s", c.Done, humanize.Count(c.Total, "step"))}
	var nodes []string
	done, said := map[string][]string{}, cluster.RepeatedErrors{}
	for _, s := range steps {
		switch {
		case s.State == app.StepFailed:
			a.Lines = append(a.Lines, "✗ "+app.StepTitle(s)+": "+said.Say(app.StepTitle(s), s.Error))
		case s.State == app.StepSucceeded && s.Node != "":
			if done[s.Node] == nil {
				nodes = append(nodes, s.Node)
			}
			done[s.Node] = append(done[s.Node], strings.TrimSpace(string(s.Action)+" "+s.Service)+took(s))
		}
	}
	slices.SortStableFunc(nodes, func(x, y string) int { return app.NodeNumber(x) - app.NodeNumber(y) })
	for _, n := range nodes {
		a.Lines = append(a.Lines, "✓ "+n+": "+strings.Join(done[n], ", "))
	}
	if len(a.Lines) > maxDetails {
		more := len(a.Lines) - maxDetails
		a.Lines = append(a.Lines[:maxDetails:maxDetails], fmt.Sprintf("%d more in the portal.", more))
	}
	return a
}

func took(s app.Step) string {
	if d := s.EndedAt.Sub(s.StartedAt); !s.StartedAt.IsZero() && d >= time.Second {
		return " (" + humanize.Duration(d.Round(time.Second)) + ")"
	}
	return ""
}
