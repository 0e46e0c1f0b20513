package build_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/apptest/harness"
	"muster/app/build"
)

func newHookHarness(t *testing.T) (*harness.Harness, app.Actor) {
	b := harness.New(t)
	understand(b.Services)
	return b, b.Actor("root", app.RoleAdmin)
}

// A secret is what the build system has, however it looks: one that can be guessed is warned of.
func TestBuildSecretsAreUsedVerbatim(t *testing.T) {
	b, admin := newHookHarness(t)
	owner := "ada"
	for i, tc := range []struct {
		system, secret string
		refused, weak  bool
	}{
		{"github", "correct horse battery staple", false, false},
		{"github", "two words", false, true},
		{"github", "x", false, true},
		{"github", "pässwörter mit Lücken", false, false},
		{"github", " at its ends ", true, false},
		{"github", "two\nlines of a secret", true, false},
		{"github", "a tab\tin the secret", true, false},
		{"github", strings.Repeat("x", 512), false, false},
		{"github", strings.Repeat("x", 513), true, false},
		{"gitlab", "tok", false, true},
		{"gitlab", "any text that is long enough", false, false},
		{"gitlab", "whsec_not base64", true, false},
		{"gitlab", senders["gitlab"].secret, false, false},
		{"generic", "any text that is long enough", true, false},
		{"generic", senders["generic"].secret, false, false},
	} {
		saved, err := b.Services.Build.Hooks.SaveBuildHook(t.Context(), admin, build.BuildHookRequest{Name: "h" + string(rune('a'+i)), System: tc.system, Owner: &owner, Secret: tc.secret})
		if tc.refused {
			if e := app.AsError(err); e.Code != app.EInvalid || e.Field != "secret" || strings.Contains(e.Advised(), tc.secret) {
				t.Errorf("%s %.30q: %v", tc.system, tc.secret, err)
			}
			continue
		}
		if err != nil || (len(saved.Warnings) > 0) != tc.weak {
			t.Errorf("%s %.30q: %q, %v", tc.system, tc.secret, saved.Warnings, err)
		}
		// The hook's page says so as long as it is so.
		if h, err := b.Services.Build.Hooks.BuildHook(t.Context(), admin, saved.Name); err != nil || !slices.Equal(h.Warnings, saved.Warnings) {
			t.Errorf("%s %.30q: later %q, %v", tc.system, tc.secret, h.Warnings, err)
		}
		if text, _ := json.Marshal(saved); len(tc.secret) > 2 && strings.Contains(string(text), tc.secret) {
			t.Errorf("%s %.30q is shown: %s", tc.system, tc.secret, text)
		}
	}
}

// A rule that names a template which isn't there is refused with its place, both when it is checked and when it is saved.
func TestBuildRulesNameExistingTemplates(t *testing.T) {
	b, admin := newHookHarness(t)
	owner := "ada"
	if _, err := b.Services.Build.Hooks.SaveBuildHook(t.Context(), admin, build.BuildHookRequest{Name: "ci", System: "github", Owner: &owner}); err != nil {
		t.Fatal(err)
	}
	for template, known := range map[string]bool{"web": true, "${event.payload.template}": true, "wbe": false, "ghost": false} {
		rules := []build.Rule{{Name: "none", When: "false", Do: build.ActionNothing}, {Name: "all", When: "true", Do: build.ActionCreate, Template: template}}
		check := b.Services.Build.Hooks.CheckBuildRules(t.Context(), admin, rules)
		_, save := b.Services.Build.Hooks.SaveBuildHook(t.Context(), admin, build.BuildHookRequest{Name: "ci", Rules: &rules})
		for _, err := range []error{check, save} {
			e := app.AsError(err)
			switch {
			case known && err != nil, !known && err == nil:
				t.Errorf("%s: %v", template, err)
			case !known && (e.Code != app.EInvalid || e.Field != "rules[1].template" || !strings.Contains(e.Message, "Rule 2 (all)") || !strings.Contains(e.Hint, "web")):
				t.Errorf("%s: %+v", template, e)
			}
		}
	}
	// As it is when the template is deleted after the rule was saved.
	rules := []build.Rule{{Name: "late", When: "true", Do: build.ActionCreate, Template: "ghost"}}
	if _, _, err := b.Store.SaveBuildHook(t.Context(), admin, build.BuildHookChange{Name: "ci", Rules: &rules}, b.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	if h, err := b.Services.Build.Hooks.BuildHook(t.Context(), admin, "ci"); err != nil || len(h.Warnings) != 1 || !strings.Contains(h.Warnings[0], "Rule 1 (late)") || !strings.Contains(h.Warnings[0], "ghost") {
		t.Errorf("%q, %v", h.Warnings, err)
	}
}

// A token that is kept is sent nowhere but where it was meant for, also when two change the hook at once.
func TestStatusTokensStayWithTheirAPI(t *testing.T) {
	b, admin := newHookHarness(t)
	owner, token, other, none := "ada", "ghp_nobody-sees-this", "https://evil.example.com", ""
	save := func(r build.BuildHookRequest) (build.SavedBuildHook, error) {
		r.Name = "ci"
		saved, err := b.Services.Build.Hooks.SaveBuildHook(t.Context(), admin, r)
		if text, _ := json.Marshal(saved); strings.Contains(string(text), token) || err != nil && strings.Contains(app.AsError(err).Advised(), token) {
			t.Errorf("the token is shown: %s, %v", text, err)
		}
		return saved, err
	}
	if h, err := save(build.BuildHookRequest{System: "github", Owner: &owner, StatusToken: &token}); err != nil || !h.Statuses {
		t.Fatalf("%+v, %v", h, err)
	}
	if _, err := save(build.BuildHookRequest{StatusAPI: &other}); app.CodeOf(err) != app.EInvalid || app.AsError(err).Field != "status_api" {
		t.Errorf("the API changes without the token: %v", err)
	}
	// As the store sees it when the token was given between check and change.
	if _, _, err := b.Store.SaveBuildHook(t.Context(), admin, build.BuildHookChange{Name: "ci", StatusAPI: &other}, b.Clock.Now()); err == nil {
		t.Error("the store changes the API and keeps the token")
	}
	for _, wrong := range []string{"ftp://x", "https://user:pw@git.example.com", "https://git.example.com?x=1", "http://git.example.com", "nonsense"} {
		if _, err := save(build.BuildHookRequest{StatusAPI: &wrong, StatusToken: &token}); app.CodeOf(err) != app.EInvalid || app.AsError(err).Field != "status_api" {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if h, err := save(build.BuildHookRequest{StatusAPI: &other, StatusToken: &token}); err != nil || h.StatusAPI != other {
		t.Errorf("with the token: %+v, %v", h, err)
	}
	if h, err := save(build.BuildHookRequest{StatusToken: &none}); err != nil || h.Statuses {
		t.Errorf("without the token: %+v, %v", h, err)
	}
	if h, err := save(build.BuildHookRequest{StatusAPI: &none}); err != nil || h.StatusAPI != "" {
		t.Errorf("without a token the API may change: %+v, %v", h, err)
	}
	if _, err := b.Services.Build.Hooks.SaveBuildHook(t.Context(), admin, build.BuildHookRequest{Name: "jenkins", System: "jenkins", Owner: &owner, StatusToken: &token}); app.AsError(err).Field != "status_token" {
		t.Errorf("a system without statuses: %v", err)
	}
}

// GitLab's pipelines keep their number when they run again: the times in their own payloads tell a second run from what only comes late.
func TestGitLabPipelinesRunAgain(t *testing.T) {
	g := newGate(t)
	pipeline := func(status, created, finished string) build.IntakeResponse {
		t.Helper()
		text, err := os.ReadFile("../../portal/buildsystems/gitlab/testdata/pipeline.running.tag.json")
		if err != nil {
			t.Fatal(err)
		}
		var body map[string]any
		if err := json.Unmarshal(text, &body); err != nil {
			t.Fatal(err)
		}
		body["object_attributes"].(map[string]any)["status"] = status
		if finished != "" {
			body["object_attributes"].(map[string]any)["finished_at"] = finished
		}
		body["builds"].([]any)[0].(map[string]any)["created_at"] = created
		text, _ = json.Marshal(body)
		r, err := g.send(t, "gitlab", text, map[string]string{"X-Gitlab-Event": "Pipeline Hook", "Content-Type": "application/json"})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := pipeline("running", "2016-08-12 15:23:28 UTC", "")
	if first.Outcome != build.OutcomeStarted {
		t.Fatalf("%+v", first)
	}
	pipeline("success", "2016-08-12 15:23:28 UTC", "2016-08-12 15:26:29 UTC")
	if late := pipeline("running", "2016-08-12 15:23:28 UTC", ""); late.Outcome == build.OutcomeStarted {
		t.Errorf("what came late begins %+v", late)
	}
	second := pipeline("running", "2016-08-12T15:40:00Z", "")
	if second.Outcome != build.OutcomeStarted || second.Build == first.Build {
		t.Errorf("the second run is %+v", second)
	}
	if again := pipeline("running", "2016-08-12 17:40:00 +0200", ""); again.Build != second.Build {
		t.Errorf("sent twice it is %+v", again)
	}
}
