package main

import (
	"fmt"
	"testing"

	"muster/app"
	"muster/app/identity"
)

// Password guesses are in the tenant's audit log, whether the account exists or not, and can't fill it.
func TestRefusedSignInsAreInTheAudit(t *testing.T) {
	m := newMatrix(t)
	ctx, a := t.Context(), m.server.Services
	for i := range 40 {
		if _, err := a.Identity.SignIns.SignIn(ctx, here, "admin", "wrong", identity.Visit{From: "192.0.2.7"}); app.CodeOf(err) != app.EUnauthorized {
			t.Fatalf("%d: %v", i, err)
		}
	}
	if _, err := a.Identity.SignIns.SignIn(ctx, there, "nobody", "wrong", identity.Visit{From: "192.0.2.7"}); app.CodeOf(err) != app.EUnauthorized {
		t.Fatal(err)
	}
	if _, err := a.Identity.SignIns.SignIn(ctx, "nowhere", "admin", "wrong", identity.Visit{From: "192.0.2.7"}); app.CodeOf(err) != app.EUnauthorized {
		t.Fatal(err)
	}
	root := app.Actor{Tenant: here, User: "root", Role: app.RoleSuperadmin}
	refused, _, err := a.Identity.AuditLog.Audit(ctx, root, app.AuditFilter{Tenant: "*", Act: "refused", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, d := range refused {
		count[fmt.Sprintf("%s/%s %s from %s", d.Tenant, d.Who, d.Object, d.From)]++
	}
	// Around the turn of a minute there may be more than 30.
	if n := count["default/admin sign-in from 192.0.2.7"]; n < 30 || n > 40 || count["acme/nobody sign-in from 192.0.2.7"] != 1 || len(count) != 2 {
		t.Errorf("the audit has %v", count)
	}
	if bad, err := a.Identity.AuditLog.VerifyAudit(ctx, root, here); err != nil {
		t.Errorf("%+v, %v", bad, err)
	}
}
