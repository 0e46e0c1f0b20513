package sharing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/template"
)

// How long a share with an end can last.
const (
	minShare = time.Minute
	maxShare = 366 * 24 * time.Hour
	// endAtOnce is how many ended shares are removed in one transaction.
	endAtOnce = 100
)

// EndShares removes shares that have ended, in all tenants. They no longer count since then; this leaves the traces.
func (a *Service) EndShares(ctx context.Context) error {
	for {
		n, err := a.Store.EndShares(ctx, a.Now(), endAtOnce)
		if err != nil || n < endAtOnce {
			return err
		}
	}
}

// withEnds is the change with the time at which each share ends. Those whose own access ends can't grant access for longer.
func (s SharingChange) withEnds(c app.Cluster, now time.Time) (SharingChange, error) {
	s.Add = slices.Clone(s.Add)
	for i := range s.Add {
		one, field := &s.Add[i], fmt.Sprintf("add[%d]", i)
		if err := one.setEnd(now); err != nil {
			e := app.AsError(err)
			return s, &app.Error{Code: app.EInvalid, Field: field + "." + e.Field, Message: e.Message, Hint: e.Hint}
		}
		if ends := c.AccessUntil; !ends.IsZero() && (one.Until.IsZero() || one.Until.After(ends)) {
			return s, c.AccessEnds("Share the cluster until then at the latest.")
		}
	}
	if s.Visibility != "" && s.Visibility != c.Visibility && !c.AccessUntil.IsZero() {
		return s, c.AccessEnds("Ask " + c.Owner + " to change the visibility.")
	}
	return s, nil
}

func (s *Share) setEnd(now time.Time) error {
	field := "until"
	if s.For != "" {
		field = "for"
		length, err := template.ParseLength(s.For)
		if err != nil {
			return &app.Error{Code: app.EInvalid, Field: field, Message: app.AsError(err).Message, Hint: app.AsError(err).Hint}
		}
		if !s.Until.IsZero() {
			return &app.Error{Code: app.EInvalid, Field: field, Message: "A share has either a duration or an end.", Hint: "Use one of for and until."}
		}
		s.Until, s.For = now.Add(length), ""
	} else if s.Until.IsZero() {
		return nil
	}
	s.Until = s.Until.UTC().Truncate(time.Second)
	if s.Until.Before(now.Add(minShare).Truncate(time.Second)) || s.Until.After(now.Add(maxShare)) {
		return &app.Error{Code: app.EInvalid, Field: field,
			Message: fmt.Sprintf("A share can last from 1 min to 366 days; this one would end on %s.", app.Moment(s.Until)),
			Hint:    "Choose a time in the next 366 days, or no end."}
	}
	return nil
}

func (s Share) untilText() string {
	if s.Until.IsZero() {
		return ""
	}
	return ", until " + app.Moment(s.Until)
}

// EndNotices are for those whose access has ended, and the owner.
func (s Share) EndNotices(c app.Cluster, at time.Time) []app.Notice {
	n := app.Notice{At: at, Tenant: c.Tenant, Kind: app.NoticeCluster, Cluster: c.ID, About: app.ClusterSubject(c.ID),
		Title: fmt.Sprintf("Your access to cluster %s has ended.", c.Name), Text: "Ask " + c.Owner + " to share it again if you still need it."}
	owner := n
	owner.Users, owner.Text = []string{c.Owner}, "Access: "+s.Access.String()+"."
	owner.Title = fmt.Sprintf("The access of %s to cluster %s has ended.", s.Name(), c.Name)
	if s.Person != "" {
		n.Users = []string{s.Person}
	} else {
		n.Groups, n.Title = []string{s.Group}, fmt.Sprintf("The access of group %s to cluster %s has ended.", s.Group, c.Name)
	}
	return []app.Notice{n, owner}
}
