package main

import (
	"testing"
	"time"

	"muster/app"
	"muster/app/identity"
)

// unaudited are use cases with a scope other than read that change nothing, and why.
var unaudited = map[string]string{
	"CheckBuildRules": "it says what is wrong, and keeps nothing", "TryBuild": "it says what would be done, and keeps nothing", "BuildDelivery": "it reads",
	"TryPolicy":      "it tries a policy over what was asked before, and keeps nothing",
	"TestHook":       "it sends a test, which is in the webhook's own list of deliveries",
	"ImportResource": "in this test its address doesn't answer, so nothing is kept",
	"CheckProvider":  "it looks at an account, and makes nothing", "ProviderOffers": "so does it",
	"CheckCatalog": "it says what a change would do, and keeps nothing", "TryCatalog": "it solves as if a change were saved, and keeps nothing", "ExplainCatalog": "so does it",
	"CheckTenant":   "it says what a file of settings would change, and keeps nothing",
	"RevealOutputs": "in this test the cluster has no secret ones: TestSecretValuesAreRevealedToThoseWhoUseTheCluster",
	"UseVolume":     "it's part of a creation, which is in the audit",
	"Redeliver":     "it resends a delivery, which is in the webhook's own list of deliveries",
	"SecondFactors": "it lists one's own second factors",
	"OwnEmail":      "it shows one's own address", "ShowEmailChange": "it shows what a link would confirm",
	"Sessions": "it lists one's own sign-ins", "Identities": "it lists who one is elsewhere", "ShowLink": "it shows what a link would tie together", "ShowDevice": "it shows who asks",
}

// Every change is in the audit log, under the user's name, with an action; and no chain is broken by it.
func TestEveryChangeIsInTheAudit(t *testing.T) {
	m := newMatrix(t)
	tries, seen := allTries(), 0
	count := func(who string) (n int) {
		t.Helper()
		for after, tenant := int64(0), ""; ; {
			list, err := m.server.Store.Audit(t.Context(),
				app.AuditFilter{Who: who, Limit: identity.MaxAuditEntries, OldestFirst: true, After: after, AfterTenant: tenant})
			if err != nil {
				t.Fatal(err)
			}
			if n += len(list); len(list) < identity.MaxAuditEntries {
				return n
			}
			after, tenant = list[len(list)-1].Number, list[len(list)-1].Tenant
		}
	}
	for _, p := range app.Permissions() {
		try := tries[p.UseCase]
		if p.Scope == app.ScopeRead || try == nil {
			continue
		}
		actor := app.Actor{Tenant: here, User: "auditor", Role: app.RoleSuperadmin, Via: app.ViaAPI, From: "192.0.2.1", ProvenAt: time.Now()}
		before := count("auditor")
		s := &scene{matrix: m, actor: actor, tenant: here, owner: "auditor", visibility: app.VisiblePrivate}
		if err := try(actor.In(t.Context()), m.server.Services, s); err != nil {
			t.Logf("%s was refused and changes nothing: %v", p.UseCase, err)
			continue
		}
		if added := count("auditor") - before; added == 0 && unaudited[p.UseCase] == "" {
			t.Errorf("%s changed something, and the audit does not say so", p.UseCase)
		} else if added > 0 {
			seen++
		}
	}
	if seen < 20 {
		t.Errorf("only %d use cases were seen in the audit", seen)
	}
	proofs, err := m.server.Services.Identity.AuditLog.VerifyAudit(t.Context(), app.Actor{Tenant: here, User: "root", Role: app.RoleSuperadmin}, "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range proofs {
		if !p.Intact {
			t.Errorf("%+v", p)
		}
	}
	t.Logf("%d use cases stand in the audit", seen)
}
