package template

import (
	"fmt"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/humanize"
)

// PartialResults is what a template says of creates and growths of which not all machines come.
type PartialResults struct {
	// MinAvailable is with how many nodes it is gone on at the least; "" is with as few as the constraints allow.
	MinAvailable NodeShare `json:"min_available,omitempty"`
	// NoBackfill says that the nodes which are missing are not asked for again later.
	NoBackfill bool `json:"no_backfill,omitempty"`
}

// PartialOverride is what a request says of continuing with fewer machines than it asked for; it counts only where OnFailure says so.
type PartialOverride struct {
	// MinAvailable is with how many nodes, of the cluster as a whole, it is gone on at the least.
	MinAvailable NodeShare `json:"min_available,omitempty"`
	// NoBackfill says that the nodes which are missing are not asked for again later.
	NoBackfill bool `json:"no_backfill,omitempty"`
	// KeepFailed says for how long failed machines are kept for inspection, whatever OnFailure says.
	KeepFailed KeepTime `json:"keep_failed,omitempty"`
}

// NodeShare is a number of nodes, "3", or a part of those that were asked for, "60%". Parts are rounded up; "" is none.
type NodeShare string

// Of returns the number, of so many. It is 0 for "" and for what Check refuses.
func (s NodeShare) Of(nodes int) int {
	if text, isShare := strings.CutSuffix(string(s), "%"); isShare {
		percent, err := strconv.Atoi(text)
		if err != nil || percent < 1 || percent > 100 {
			return 0
		}
		return (nodes*percent + 99) / 100
	}
	n, err := strconv.Atoi(string(s))
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// Check refuses what is neither: EInvalid, field min_available.
func (s NodeShare) Check() error {
	if s == "" || len(s) <= 8 && s.Of(100) > 0 && s.Of(100) <= MaxNodes && !strings.HasPrefix(string(s), "+") {
		return nil
	}
	return &app.Error{Code: app.EInvalid, Field: "min_available", Message: fmt.Sprintf("Invalid number or share of nodes %.20q.", string(s)),
		Hint: "Use a number, such as 3, or a share from 1% to 100%, such as 60%."}
}

// Check refuses what makes no sense beside the choice: EInvalid, with the field.
func (s PartialOverride) Check(c app.FailureChoice) error {
	if err := s.MinAvailable.Check(); err != nil {
		return err
	}
	if err := s.KeepFailed.Check(); err != nil {
		return err
	}
	if (s.MinAvailable != "" || s.NoBackfill) && c != "" && !c.GoesOn() {
		field := "min_available"
		if s.MinAvailable == "" {
			field = "no_backfill"
		}
		return &app.Error{Code: app.EInvalid, Field: field, Message: fmt.Sprintf("%s only applies with on_failure accept_partial.", field),
			Hint: "Set on_failure to accept_partial, or leave it out."}
	}
	return nil
}

// Resolved returns what holds where a request says nothing: what the template says. Size is how many nodes are asked for. It is EInvalid
// where more are wanted at the least than asked for.
func (t *PartialResults) Resolved(c app.FailureChoice, s PartialOverride, size int) (app.FailureChoice, PartialOverride, error) {
	said := s
	switch {
	case c == app.FailureStay:
		return app.FailureLeave, PartialOverride{}, nil
	case c == app.FailureLeave && t != nil:
		c = app.FailureAcceptPartial
		fallthrough
	case c.GoesOn() && t != nil:
		if s.MinAvailable == "" {
			s.MinAvailable = t.MinAvailable
		}
		s.NoBackfill = s.NoBackfill || t.NoBackfill
	case c == app.FailureLeave && (s.MinAvailable != "" || s.NoBackfill):
		c = app.FailureAcceptPartial // who says how means that
	}
	if !c.GoesOn() {
		return c, PartialOverride{}, nil
	}
	if least := said.MinAvailable.Of(size); least > size {
		return c, s, &app.Error{Code: app.EInvalid, Field: "min_available", Message: fmt.Sprintf("Minimum available (%d) is more than the cluster's %s.", least, humanize.Count(size, "node")),
			Hint: fmt.Sprintf("Choose at most %d.", size)}
	}
	s.MinAvailable = NodeShare(fmt.Sprint(min(max(s.MinAvailable.Of(size), 1), size)))
	return c, s, nil
}
