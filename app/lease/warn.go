package lease

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
)

// WarningStore is what Warnings needs of the database.
type WarningStore interface {
	// LeasesToWarn returns clusters of all tenants whose next warning is due, found by an index.
	LeasesToWarn(ctx context.Context, now time.Time, limit int) ([]Due, error)
	// WarnLease writes that a lease was looked at: the notice, where before is not 0, and when it is to be looked at next, zero for
	// never. It does nothing, and returns false, where the lease was moved or someone else has done it.
	WarnLease(ctx context.Context, d Due, before time.Duration, next time.Time, n app.Notice) (bool, error)
}

// WarningsConfig is what Warnings is created from.
type WarningsConfig struct {
	Store  WarningStore
	Now    func() time.Time
	Leases *Service
}

// Warnings warns people before leases end.
type Warnings struct {
	WarningsConfig
}

// NewWarnings returns Warnings on top of their needs.
func NewWarnings(c WarningsConfig) *Warnings {
	return &Warnings{WarningsConfig: c}
}

// Due is a cluster whose lease may want a warning.
type Due struct {
	Cluster app.Cluster
	Times   template.LeaseTimes
	WarnAt  time.Time // when that was to be looked at
}

// Warned is a warning that was given.
type Warned struct {
	Before time.Duration `json:"before"` // the end
	At     time.Time     `json:"at"`     // when people are warned
	SentAt time.Time     `json:"sent_at,omitzero"`
	// Skipped says that no one was there to give it in time, so that a later one was given.
	Skipped bool `json:"skipped,omitempty"`
}

// warnAtOnce is how many leases are looked at in one go.
const warnAtOnce = 200

// WarnLeases returns the warnings that are due, of all tenants.
func (a *Warnings) WarnLeases(ctx context.Context) error {
	now := a.Now()
	due, err := a.Store.LeasesToWarn(ctx, now, warnAtOnce)
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range due {
		before := d.Times.DueWarning(now)
		var n app.Notice
		if before > 0 {
			if n, err = a.leaseNotice(ctx, d, now); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		if _, err := a.Store.WarnLease(ctx, d, before, d.Times.NextWarning(now), n); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (a *Warnings) leaseNotice(ctx context.Context, d Due, now time.Time) (app.Notice, error) {
	c := d.Cluster
	n := app.Notice{At: now, Tenant: c.Tenant, Kind: app.NoticeLease, Cluster: c.ID, Users: []string{c.Owner}, About: app.ClusterSubject(c.ID),
		Title: fmt.Sprintf("The lease of %s expires in %s.", c.Name, humanize.Duration(d.Times.Until.Sub(now).Round(time.Minute))),
		Text:  fmt.Sprintf("At %s, Muster deletes the cluster's %s and all data on them.", app.Moment(d.Times.Until), humanize.Count(c.Size, "node"))}
	rules, err := a.Leases.leaseRules(ctx, c)
	if err != nil {
		return n, err
	}
	o := rules.Offer(c.CreatedAt, c.ExpiresAt, now)
	if o.By == 0 {
		n.Text += " Only an admin can extend the lease further."
		return n, nil
	}
	n.ActionName = "Extend by " + humanize.Duration(o.By)
	n.Act, err = a.Leases.leaseLink(ctx, c)
	return n, err
}

// leaseLink leads to the page that extends the lease by one step. It is signed, so that no one can be led to such a page by
// someone else; it is no right: the page asks who is there, and a press of its button extends.
func (a *Service) leaseLink(ctx context.Context, c app.Cluster) (app.Subject, error) {
	key, err := a.WorkerKeys.Get(ctx, a.Store)
	if err != nil {
		return app.Subject{}, err
	}
	end := strconv.FormatInt(c.ExpiresAt.Unix(), 10)
	q := url.Values{"end": {end}, "sig": {leaseSignature(key, c.Tenant, c.ID, end)}}
	return app.Subject{Kind: app.SubjectLeaseExtension, ID: c.ID, Query: q.Encode()}, nil
}

func leaseSignature(key []byte, tenant, cluster, end string) string {
	return base64.RawURLEncoding.EncodeToString(app.Sign(key, strings.Join([]string{"lease", tenant, cluster, end}, "\n")))
}

// LeaseLink checks a link of a warning, for the page that it leads to: EInvalid where it was not made here. Moved tells that
// the end is another one by now.
func (a *Service) LeaseLink(ctx context.Context, actor app.Actor, cluster, end, signature string) (o Outlook, moved bool, err error) {
	if err := actor.Authorize("LeaseLink"); err != nil {
		return o, false, err
	}
	key, err := a.WorkerKeys.Get(ctx, a.Store)
	if err != nil {
		return o, false, err
	}
	if o, err = a.LeaseOutlook(ctx, actor, cluster); err != nil {
		return o, false, err
	}
	if !hmac.Equal([]byte(signature), []byte(leaseSignature(key, actor.Tenant, o.Cluster, end))) {
		return Outlook{}, false, &app.Error{Code: app.EInvalid, Reason: "link", Message: "This link is invalid or incomplete.",
			Hint: "Open the cluster's page to see its lease."}
	}
	return o, end != strconv.FormatInt(o.Until.Unix(), 10), nil
}
