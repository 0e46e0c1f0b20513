package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	apppolicy "muster/app/policy"
)

func TestChangesByPoliciesAreShownInEveryPage(t *testing.T) {
	o := newFullSite(t)
	boss, ada := o.at("boss"), o.at("ada")
	in := url.Values{"name": {"small-dev"}, "order": {"1"}, "when": {`role == "user"`}, "effect": {"rewrite"}, "reason": {"Four are enough, not ${nodes}."}, "enabled": {"on"},
		"set_size": {`"four"`}, "set_provider": {"providr"}, "count": {"1"}, "t_nodes": {"10"}, "t_cost": {"1"}, "t_lease": {"8h"}, "t_role": {"user"}}
	a := boss.post("/admin/policies", in)
	a.reads(422, "set.size, line 1, column 1: the result must be a whole number, not text", "min(nodes, 5)")
	if !strings.Contains(a.body, `aria-describedby="err-set_size" aria-invalid`) {
		t.Error("the error isn't at its field")
	}
	in.Set("set_size", "min(nodes, 4)")
	boss.post("/admin/policies", in).reads(422, `set.provider, line 1, column 1: unknown name "providr"`, "Did you mean provider?")
	in.Del("set_provider")
	in.Del("set_size")
	boss.post("/admin/policies", in).reads(422, "must say what it changes")
	in.Set("set_size", "min(nodes, 4)")
	in.Set("lease_cap", `duration("4h")`)
	boss.post("/admin/policies/try", in).reads(200, "accept, size 10 → 4, lease 8 h → 4 h", "Policy small-dev: size 10 → 4 Four are enough, not 10.")
	if a := boss.post("/admin/policies", in); a.status != http.StatusSeeOther {
		t.Fatalf("save: got %d: %s", a.status, a.text())
	}
	boss.get("/admin/policies").reads(200, "changes requests", `sets size to min(nodes, 4), caps the lease at duration("4h")`)
	if f := boss.get("/admin/policies/small-dev").fields(); f.Get("set_size") != "min(nodes, 4)" || f.Get("lease_cap") != `duration("4h")` {
		t.Errorf("the form has %v", f)
	}
	all, err := o.app.Policy.Policies.PolicyList(t.Context(), o.actor("boss"))
	if err != nil || len(all) != 1 || all[0].Approval != nil || *all[0].Set != (apppolicy.Set{Size: "min(nodes, 4)"}) {
		t.Errorf("saved: %+v, %v", all, err)
	}
	preview := ada.post("/clusters/preview", url.Values{"template": {"web"}, "options_of": {"web"}, "name": {"x"}, "size": {"6"}, "services": {"web"}})
	preview.reads(200, "Changes to your request", "Policy small-dev: size 6 → 4 Four are enough, not 6.", "Policy small-dev: lease no expiry → 4 h",
		"4 nodes", "Create cluster")
	made := ada.post("/clusters", preview.fields())
	if made.status != http.StatusSeeOther || !strings.HasPrefix(made.header.Get("Location"), "/requests/") {
		t.Fatalf("create: got %d: %s", made.status, made.text())
	}
	ada.get(made.header.Get("Location")).reads(200, "small-dev changed the request", "size 6 → 4", "lease no expiry → 4 h", "4 nodes")
}
