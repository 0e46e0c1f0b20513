package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// LeaseRequest asks for another end of a lease: by how much it moves, counted from where it is (or from now, where it is
// over), or until when, or none at all. One of the three is set.
type LeaseRequest struct {
	By      time.Duration `json:"by,omitempty"` // below 0 shortens
	Until   time.Time     `json:"until,omitzero"`
	Forever bool          `json:"forever,omitempty"`
	// Reason says why an admin goes beyond what the template allows; nobody else can.
	Reason string `json:"reason,omitempty"`
}

// LeaseChange is another end of a lease, as the store takes it.
type LeaseChange struct {
	Tenant  string
	Cluster string
	Was     time.Time // the end that it had when it was asked for
	Until   time.Time // zero for none
	Who     Actor
	Beyond  bool   // more than the template allows
	Reason  string // for the audit
	Message string // for the feed
	Now     time.Time
}

// LeaseOffer is how the end of a lease can be moved now, by those who may.
type LeaseOffer struct {
	Step    time.Duration `json:"step,omitempty"`    // by how much at most at once; 0: any
	Max     time.Duration `json:"max,omitempty"`     // from the creation on; 0: no limit
	By      time.Duration `json:"by,omitempty"`      // what one press of a button adds; 0: nothing can be added
	Latest  time.Time     `json:"latest,omitzero"`   // to which it can be moved at once; zero: no limit
	Forever bool          `json:"forever,omitempty"` // it can be without end
	// Refusal says why it cannot be moved at all; "" where it can.
	Refusal string `json:"refusal,omitempty"`
}

// The longest that somebody may write down, which is far more than anybody means, and the least that is worth a button.
const (
	longestLease    = 100 * 365 * 24 * time.Hour
	leastExtend     = time.Minute
	mostLeaseReason = 500 // bytes
)

// Move works out the new end of a lease that now ends at was, zero for never. The rules are Coopr's: the end may come nearer,
// but not into the past; it may move away by at most a step at once, and to at most max after the creation. Unlike there, the
// step counts also where there is no max, and there a lease can also be made endless later. Beyond says which rule of the
// template is broken, which admins may do.
func (l Lease) Move(created, was, now time.Time, r LeaseRequest) (until time.Time, beyond *Error, err error) {
	if until, err = r.end(was, now); err != nil {
		return until, nil, err
	}
	refuse := func(message, hint string) *Error {
		return &Error{Code: EInvalid, Reason: "lease", Field: "lease", Message: message, Hint: hint}
	}
	base := was
	if base.Before(now) {
		base = now // what is over since a while is not held against anybody
	}
	switch {
	case until.IsZero() && !was.IsZero() && l.Max > 0:
		return until, refuse("This template does not allow clusters that live for ever.", l.most(created, was, now)), nil
	case until.IsZero() || was.IsZero():
		return until, nil, nil
	case l.Max > 0 && until.After(created.Add(l.Max)) && until.After(was):
		return until, refuse(fmt.Sprintf("This template allows clusters to live for at most %s, until %s.", Length(l.Max), moment(created.Add(l.Max))),
			l.most(created, was, now)), nil
	case l.Step > 0 && until.Sub(base) > l.Step:
		return until, refuse(fmt.Sprintf("This template lets a lease be extended by at most %s at once.", Length(l.Step)), l.most(created, was, now)), nil
	}
	return until, nil, nil
}

// end is what is asked for, whatever the template says.
func (r LeaseRequest) end(was, now time.Time) (until time.Time, err error) {
	wrong := func(message, hint string) error {
		return &Error{Code: EInvalid, Field: "lease", Message: message, Hint: hint}
	}
	set := 0
	for _, is := range []bool{r.By != 0, !r.Until.IsZero(), r.Forever} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return until, wrong("Say by how much, or until when, or for ever: one of them.", `For example "4h", or a day.`)
	case r.Forever:
		return until, nil
	case r.By > longestLease || r.By < -longestLease:
		return until, wrong("That is longer than anybody lives.", "")
	case r.By != 0 && was.IsZero():
		return until, wrong("This lease has no end that could be moved.", "Say until when.")
	case r.By < 0:
		until = was.Add(r.By)
	case r.By > 0 && was.Before(now):
		until = now.Add(r.By)
	case r.By > 0:
		until = was.Add(r.By)
	default:
		until = r.Until.UTC()
	}
	until = until.Truncate(time.Second)
	switch {
	case !until.After(now):
		return until, wrong("A lease cannot end in the past.", "To end the cluster now, delete it.")
	case until.Sub(now) > longestLease:
		return until, wrong("That is longer than anybody lives.", "")
	}
	return until, nil
}

func (l Lease) most(created, was, now time.Time) string {
	latest, _ := l.latest(created, was, now)
	if !latest.After(now) || !latest.After(was) {
		return "It cannot be extended any further; an admin can, with a reason."
	}
	return fmt.Sprintf("It can be extended until %s now; an admin can do more, with a reason.", moment(latest))
}

// latest gives the furthest end that is allowed now; endless where there is no limit.
func (l Lease) latest(created, was, now time.Time) (until time.Time, endless bool) {
	base := was
	if base.Before(now) {
		base = now
	}
	if l.Step > 0 {
		until = base.Add(l.Step)
	}
	if end := created.Add(l.Max); l.Max > 0 && (until.IsZero() || end.Before(until)) {
		until = end
	}
	return until.Truncate(time.Second), until.IsZero()
}

// Offer tells how the end of a lease can be moved.
func (l Lease) Offer(created, was, now time.Time) LeaseOffer {
	o := LeaseOffer{Step: l.Step, Max: l.Max, Forever: l.Max == 0 && !was.IsZero()}
	if was.IsZero() {
		return o // only nearer
	}
	latest, endless := l.latest(created, was, now)
	if !endless {
		o.Latest = latest
	}
	if o.By = l.Step; o.By == 0 {
		if o.By = l.Initial; o.By == 0 || o.By > 24*time.Hour {
			o.By = 24 * time.Hour
		}
	}
	base := was
	if base.Before(now) {
		base = now
	}
	if !endless && base.Add(o.By).After(latest) {
		o.By = latest.Sub(base).Truncate(time.Minute)
	}
	if o.By < leastExtend {
		o.By = 0
	}
	return o
}

func moment(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04") + " UTC" }

// ExtendLease moves the end of a cluster's lease, nearer or further away. Its owner may, within what the template allows;
// admins may do more, with a reason. It takes more of budgets, or gives some back, so a quota can refuse it. A cluster that is
// being deleted is EConflict; one whose lease has ended but whose delete has not begun can still be saved.
func (a *App) ExtendLease(ctx context.Context, actor Actor, cluster string, r LeaseRequest) (LeaseOutlook, error) {
	c, err := a.look(ctx, actor, "ExtendLease", cluster)
	if err != nil {
		return LeaseOutlook{}, err
	}
	if err := actor.mayChange("ExtendLease", c); err != nil {
		return LeaseOutlook{}, err
	}
	if r.Reason = strings.TrimSpace(r.Reason); len(r.Reason) > mostLeaseReason {
		return LeaseOutlook{}, &Error{Code: EInvalid, Field: "reason", Message: "The reason is too long.", Hint: "Say it in at most 500 letters."}
	}
	if c.Status == ClusterDeleted {
		return LeaseOutlook{}, Errorf(EConflict, "Cluster %q is gone.", c.Name)
	}
	rules, err := a.leaseRules(ctx, c)
	if err != nil {
		return LeaseOutlook{}, err
	}
	now := a.Now()
	until, beyond, err := rules.Move(c.CreatedAt, c.ExpiresAt, now, r)
	if err != nil {
		return LeaseOutlook{}, err
	}
	if beyond == nil && !until.Equal(c.ExpiresAt) {
		if beyond, err = a.leaseFixed(ctx, c); err != nil {
			return LeaseOutlook{}, err
		}
	}
	if beyond != nil {
		if reach, _ := actor.reach("ExtendLease"); reach != all {
			return LeaseOutlook{}, beyond
		}
		if r.Reason == "" {
			beyond.Field, beyond.Hint = "reason", "As an admin you may do it all the same: give the reason."
			return LeaseOutlook{}, beyond
		}
	}
	if !until.Equal(c.ExpiresAt) {
		if err := a.Store.SetLease(ctx, LeaseChange{Tenant: c.Tenant, Cluster: c.ID, Was: c.ExpiresAt, Until: until, Who: actor, Beyond: beyond != nil,
			Reason: r.Reason, Message: leaseMoved(actor, c.ExpiresAt, until, r.Reason, beyond != nil), Now: now}); err != nil {
			return LeaseOutlook{}, err
		}
	}
	return a.LeaseOutlook(ctx, actor, c.ID)
}

// leaseFixed says that the template of a cluster does not let leases be changed, nearer or further away; nil where it does. Admins may,
// with a reason, as with the template's other rules: somebody must be able to give machines back early.
func (a *App) leaseFixed(ctx context.Context, c Cluster) (*Error, error) {
	d, err := a.Store.Definition(ctx, c.Tenant, c.ID)
	if err != nil || !slices.Contains(d.Immutable, "lease") {
		return nil, err
	}
	return &Error{Code: EInvalid, Reason: "immutable", Field: "lease", Message: fmt.Sprintf("Template %s does not let the lease be changed.", c.Template),
		Hint: "Leave it as it is, or ask an admin. The cluster can be deleted at any time."}, nil
}

func leaseMoved(who Actor, was, until time.Time, reason string, beyond bool) string {
	text := who.Name()
	switch {
	case until.IsZero():
		text += " took the end of the lease away."
	case !was.IsZero() && until.After(was):
		text += " extended the lease until " + moment(until) + "."
	case was.IsZero():
		text += " gave the lease an end: " + moment(until) + "."
	default:
		text += " shortened the lease until " + moment(until) + "."
	}
	if beyond {
		text = strings.TrimSuffix(text, ".") + ", beyond what the template allows: " + reason
	}
	return text
}

// leaseRules are those that the cluster was made with. Of clusters from before they were kept it is what the catalog says now.
func (a *App) leaseRules(ctx context.Context, c Cluster) (Lease, error) {
	d, err := a.Store.Definition(ctx, c.Tenant, c.ID)
	if IsKeyLost(err) { // nothing can be extended; see leaseFixed
		return Lease{}, nil
	}
	if err != nil {
		return Lease{}, err
	}
	if d.Lease != nil {
		return *d.Lease, nil
	}
	catalog, err := a.catalogOf(ctx, c.Tenant)
	if err != nil {
		return Lease{}, err
	}
	if t := catalog.Templates[c.Template]; t != nil {
		return t.Lease, nil
	}
	return Lease{}, nil
}
