package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"muster/app"
)

// OrphanModes are all of them.
var OrphanModes = []app.OrphanMode{app.OrphansOff, app.OrphansReport, app.OrphansDelete}

// OrphanID names an orphan shortly, and so that it can stand in an address: 12 hex digits.
func OrphanID(provider, machine string) string {
	sum := sha256.Sum256([]byte(provider + "\x00" + machine))
	return hex.EncodeToString(sum[:6])
}

// DefaultOrphanPolicy is careful: an orphan costs little for another quarter of an hour, a mistake costs a machine.
var DefaultOrphanPolicy = app.OrphanPolicy{Mode: app.OrphansDelete, Settle: 5 * time.Minute, Most: 5, Share: 0.25}

// OrphanReport is all that an admin sees of orphans. Accounts and Mode are for admins of the installation.
type OrphanReport struct {
	Mode     app.OrphanMode `json:"mode,omitempty"`
	Accounts []app.Account  `json:"accounts,omitempty"`
	Orphans  []app.Orphan   `json:"orphans"`
	Cost     float64        `json:"cost"`               // so far, of those that stand
	Unlisted int            `json:"unlisted,omitempty"` // accounts that could not be listed: there may be more orphans in them
}

// Orphans lists machines of ours that nobody stands behind.
func (a *Service) Orphans(ctx context.Context, actor app.Actor, gone bool) (OrphanReport, error) {
	tenant, err := actor.MayHandleOrphans("Orphans")
	if err != nil {
		return OrphanReport{}, err
	}
	var r OrphanReport
	mode, err := a.Store.OrphanMode(ctx)
	if err != nil {
		return r, err
	}
	if r.Orphans, err = a.Store.Orphans(ctx, tenant, gone); err != nil {
		return r, err
	}
	policy, now := DefaultOrphanPolicy, a.Now()
	policy.Mode = mode
	for i := range r.Orphans {
		o := &r.Orphans[i]
		o.Fill(policy, now)
		if o.State != app.OrphanGone {
			r.Cost += o.Cost
		}
	}
	accounts, err := a.Store.Accounts(ctx)
	if err != nil {
		return r, err
	}
	for _, account := range accounts {
		if account.Unlisted() {
			r.Unlisted++
		}
	}
	if actor.Operates() {
		r.Mode, r.Accounts = mode, accounts
	}
	return r, nil
}

// DecideOrphan says what is to become of an orphan. The reconciler deletes it in its next pass, which begins at once where
// it can.
func (a *Service) DecideOrphan(ctx context.Context, actor app.Actor, id string, d app.OrphanDecision) (app.Orphan, error) {
	tenant, err := actor.MayHandleOrphans("DecideOrphan")
	if err != nil {
		return app.Orphan{}, err
	}
	if d != app.DecideDelete && d != app.DecideKeep {
		return app.Orphan{}, &app.Error{Code: app.EInvalid, Field: "decision", Message: fmt.Sprintf("An orphan is deleted or kept, not %q.", d),
			Hint: `Say "delete" or "keep".`}
	}
	o, err := a.Store.DecideOrphan(ctx, tenant, id, d, actor, a.Now())
	if err != nil {
		return app.Orphan{}, err
	}
	mode, err := a.Store.OrphanMode(ctx)
	policy := DefaultOrphanPolicy
	policy.Mode = mode
	o.Fill(policy, a.Now())
	return o, err
}

// SetOrphanMode says what the reconciler does by itself.
func (a *Service) SetOrphanMode(ctx context.Context, actor app.Actor, m app.OrphanMode) error {
	if err := actor.Authorize("SetOrphanMode"); err != nil {
		return err
	}
	if !slices.Contains(OrphanModes, m) {
		return &app.Error{Code: app.EInvalid, Field: "mode", Message: fmt.Sprintf("There is no mode %q.", m), Hint: "One of: off, report, delete."}
	}
	return a.Store.SetOrphanMode(ctx, m, actor, a.Now())
}
