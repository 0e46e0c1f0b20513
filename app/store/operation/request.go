package operation

import (
	"fmt"

	"muster/app"
	"muster/app/cluster"
	"muster/app/store/build"
	"muster/app/store/db"
	"muster/app/store/identity"
	"muster/app/store/policy"
	"muster/app/window"
)

// SaveRequest writes a request, in the transaction of what it brings about.
func SaveRequest(t *db.Tx, n cluster.NewRequest) (cluster.Request, error) {
	r, name := n.Request, ""
	if r.Kind == app.OperationCreate {
		name = r.Spec.Name // that of a cluster which exists is taken already
	}
	if r.Status.Open() {
		if err := identity.TenantOpen(t, r.Tenant); err != nil {
			return r, err
		}
		if err := checkNameFree(t, r.Tenant, name); err != nil {
			return r, err
		}
	}
	if r.Status == cluster.RequestScheduled {
		if err := checkNotScheduled(t, r); err != nil {
			return r, err
		}
	}
	err := t.Row(`INSERT INTO requests (tenant, kind, name, cluster, requester, owner, in_groups, via, status, plan_hash, spec, policy_input, decision,
			terms, needs, offer, round, break_glass, message, payload, requested_at, ended_at, expires_at, due_at, maintenance_window)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, '', ?, '', ?, 0, ?, '', ?, ?, ?, ?, ?) RETURNING id`,
		r.Tenant, string(r.Kind), name, r.Cluster, r.Requester, r.Owner, db.JSON(r.Groups), string(r.Via), string(r.Status), r.Terms.PlanHash,
		db.JSON(r.Facts), db.JSON(r.Decision), db.JSON(r.Approvals), r.Round, r.Message,
		db.Micros(r.RequestedAt), db.Micros(r.EndedAt), db.Micros(r.ExpiresAt), db.Micros(r.DueAt), OpeningText(r.Window)).Scan(&r.ID)
	if err != nil {
		return r, fmt.Errorf("store: request: %w", err)
	}
	if err := t.Exec(`UPDATE requests SET encrypted_spec = ?, encrypted_terms = ?, encrypted_payload = ? WHERE id = ?`, t.Keys.SealAsked(r), t.Keys.SealTerms(r), t.Keys.SealKept(keptText(n.Kept), r.ID), r.ID); err != nil {
		return r, err
	}
	if r.Status.Open() && r.Kind == app.OperationCreate {
		// What waits holds its part of the quotas, so that it is there when it is approved.
		if err := policy.Reserve(t, r.RequestedAt, r.Reservation()); err != nil {
			return r, err
		}
		if err := build.Claim(t, r.RequestedAt, n.Build, app.BuildAsking, "", r.ID); err != nil {
			return r, err
		}
	}
	for _, notice := range r.OpenedNotices() {
		if err := t.Notice(notice); err != nil {
			return r, err
		}
	}
	act := map[cluster.RequestStatus]string{cluster.RequestWaiting: "request.wait", cluster.RequestRefused: "request.refuse",
		cluster.RequestScheduled: "request.schedule"}[r.Status]
	if act == "" {
		act = "request.accept"
	}
	facts := map[string]any{"cluster": r.Cluster, "name": r.Spec.Name, "plan_hash": r.Terms.PlanHash, "said": r.Decision.Said}
	if len(r.Decision.Changes) > 0 {
		facts["changes"] = r.Decision.Changes
	}
	return r, t.AddAudit(r.RequestedAt, n.Who, act, RequestObject(r.ID), nil, facts)
}

// RequestObject names a request in the audit log.
func RequestObject(id int64) string { return fmt.Sprintf("request %d", id) }

// OpeningText is a window as it is written; "" for none.
func OpeningText(o *window.Opening) string {
	if o == nil {
		return ""
	}
	return db.JSON(o)
}

// checkNotScheduled refuses to have the same change wait twice for its window: the second could never run.
func checkNotScheduled(t *db.Tx, r cluster.Request) error {
	var other int64
	err := t.Row(`SELECT id FROM requests WHERE tenant = ? AND cluster = ? AND status = 'scheduled' AND kind = ? AND plan_hash = ? LIMIT 1`,
		r.Tenant, r.Cluster, string(r.Kind), r.Terms.PlanHash).Scan(&other)
	switch {
	case db.IsNoRows(err):
		return nil
	case err != nil:
		return fmt.Errorf("store: request: %w", err)
	}
	return &app.Error{Code: app.EConflict, Reason: "already_scheduled", Message: fmt.Sprintf("Request %d for the same change already waits for the maintenance window.", other),
		Hint: "Withdraw it, or have it run now."}
}

// checkNameFree refuses a second request for what another one of the tenant already waits for, or what is there.
func checkNameFree(t *db.Tx, tenant, name string) error {
	if name == "" {
		return nil
	}
	var other int64
	err := t.Row(`SELECT id FROM requests WHERE tenant = ? AND name = ? AND status IN ('waiting', 'offered') LIMIT 1`, tenant, name).Scan(&other)
	if err == nil {
		return &app.Error{Code: app.EConflict, Field: "name", Message: fmt.Sprintf("Request %d for a cluster named %q is already open.", other, name),
			Hint: "Choose another name, or withdraw that request first."}
	}
	if !db.IsNoRows(err) {
		return fmt.Errorf("store: request: %w", err)
	}
	var taken bool
	if err := t.Row(`SELECT EXISTS (SELECT 1 FROM clusters WHERE deleted_at = 0 AND tenant = ? AND (id = ? OR name = ?))`,
		tenant, name, name).Scan(&taken); err != nil {
		return err
	}
	if taken {
		return &app.Error{Code: app.EConflict, Field: "name", Message: fmt.Sprintf("Cluster %q already exists.", name),
			Hint: "Choose another name, or delete that cluster first."}
	}
	return nil
}

func keptText(k *cluster.RequestPayload) string {
	if k == nil {
		return ""
	}
	return db.JSON(k)
}
