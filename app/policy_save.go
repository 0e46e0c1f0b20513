package app

import "strings"

// Words say a decision in a line: "approve: 2 of the group finance", "refuse: too many", "accept, lease at most 8h0m0s".
func (d Decision) Words() string {
	text := string(d.Outcome)
	switch d.Outcome {
	case OutcomeRefuse:
		return text + ": " + d.Reason
	case OutcomeApprove:
		var who []string
		for _, n := range d.Needs {
			who = append(who, n.Words())
		}
		text += ": " + strings.Join(who, ", and ")
	}
	for _, c := range d.Changes {
		text += ", lease " + LeaseText(c.To)
	}
	return text
}

// Same tells whether two decisions come to the same for who asked.
func (d Decision) Same(o Decision) bool { return d.Words() == o.Words() }
