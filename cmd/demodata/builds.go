package demodata

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"

	"muster/app"
	"muster/app/build"
)

// buildHook is the name of the hook at which the company's build system tells of its builds.
const buildHook = "github-shop"

// builds makes a build hook with its rules, and lets the build system tell of a job that wants a cluster, and of a push that wants none.
func (h *Instance) builds(ctx context.Context, boss app.Actor) error {
	owner, token := "builds", "ghp_of-the-demo"
	rules := []build.Rule{
		{Name: "integration", When: `event.event == "workflow_job" && "muster" in event.labels`, Do: build.ActionCreate, Template: "build-runners", Size: 2, Lease: "2h", Forks: build.ForksUnknown},
		{Name: "pushes", When: `event.event == "push"`, Do: build.ActionNothing},
	}
	saved, err := h.Services.Build.Hooks.SaveBuildHook(ctx, boss, build.BuildHookRequest{Name: buildHook, System: "github", Owner: &owner, Rules: &rules,
		StatusToken: &token})
	if err != nil {
		return fmt.Errorf("build hook: %w", err)
	}
	for i, d := range []struct{ event, body string }{
		{"push", `{"ref":"refs/heads/main","before":"6113728f27ae82c7b1a177c8d03f9e96e0adf246","after":"3484a3fb816e0859fd6e1cea078d76385ff50625","repository":{"full_name":"example/shop","fork":false},"pusher":{"name":"dana"},"sender":{"login":"dana"}}`},
		{"workflow_job", `{"action":"queued","workflow_job":{"id":289782451,"run_id":2202229078,"run_attempt":1,"head_sha":"3484a3fb816e0859fd6e1cea078d76385ff50625","head_branch":"main",` +
			`"workflow_name":"CI","html_url":"https://github.com/example/shop/actions/runs/2202229078/job/289782451","status":"queued","conclusion":null,"name":"integration","labels":["self-hosted","muster"]},` +
			`"repository":{"full_name":"example/shop","fork":false},"sender":{"login":"dana"}}`},
	} {
		mac := hmac.New(sha256.New, []byte(saved.Secret))
		mac.Write([]byte(d.body))
		headers := http.Header{}
		headers.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
		headers.Set("X-GitHub-Event", d.event)
		headers.Set("X-GitHub-Delivery", fmt.Sprintf("72d3162e-cc78-11e3-81ab-4c9367dc095%d", i))
		headers.Set("Content-Type", "application/json")
		if _, err := h.Services.Build.Intake.IngestBuild(ctx, saved.ID, headers.Get, []byte(d.body), "192.0.2.30"); err != nil {
			return fmt.Errorf("delivery of %s: %w", d.event, err)
		}
	}
	return nil
}
