package main

import (
	"testing"
	"time"

	"muster/app"
)

// A locked cluster is seen by its owner, who can do nothing else with it; admins and Muster itself can. What every reader may do only shows it.
func TestLockedClustersAreOnlySeen(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	tries, refused := allTries(), 0
	for _, p := range app.Permissions() {
		try := tries[p.UseCase]
		if try == nil {
			continue
		}
		by := func(role app.Role, via app.Via) (*scene, error) {
			s := &scene{matrix: m, tenant: here, owner: string(role), visibility: app.VisiblePrivate, locked: true,
				actor: app.Actor{Tenant: here, User: string(role), Role: role, Via: via, ProvenAt: time.Now()}}
			return s, try(t.Context(), m.server.Services, s)
		}
		if s, err := by(app.RoleUser, app.ViaAPI); s.clusters && p.Reach[app.RoleUser] != app.ReachNone {
			is := app.AsError(err).Reason == app.Locked
			if is {
				refused++
			}
			shows := p.Reach[app.RoleUser] == app.ReachSee || p.UseCase == "Volume" || p.UseCase == "Snapshot"
			if is == (shows && p.UseCase != "AnswerStep") { // readers may answer, too
				t.Errorf("%s of a locked cluster by its owner: %v", p.UseCase, err)
			}
		}
		for _, via := range []app.Via{app.ViaAPI, app.ViaServer} {
			if _, err := by(app.RoleAdmin, via); app.AsError(err).Reason == app.Locked {
				t.Errorf("%s of a locked cluster by an admin, %s: %v", p.UseCase, via, err)
			}
		}
	}
	if refused < 40 {
		t.Errorf("only %d use cases are refused", refused)
	}
}
