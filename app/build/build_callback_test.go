package build_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/apptest/harness"
	"muster/app/build"
	"muster/app/netguard"
	"muster/app/policy/cel"
	appwebhook "muster/app/webhook"
	"muster/jobs/webhook"
	"muster/portal/buildsystems"
)

func calls(callback string) []build.Rule {
	return []build.Rule{{Name: "web", When: "true", Do: build.ActionCreate, Template: "web", Callback: callback}}
}

// understand lets a harness read what build systems send, and judge by rules.
func understand(a *all.Services) {
	a.Build.Hooks.Systems, a.Build.Hooks.BuildRules = buildsystems.Family{}, cel.NewBuilds()
	a.Build.Intake.Systems, a.Build.Intake.BuildRules = buildsystems.Family{}, cel.NewBuilds()
}

// What is wrong with a rule's callback is said with its place before it is saved.
func TestCallbacksOfRulesAreChecked(t *testing.T) {
	b := harness.New(t)
	b.Services.Build.Hooks.BuildRules, b.Services.Webhook.HookGuard = cel.NewBuilds(), &netguard.Guard{}
	admin := b.Actor("root", app.RoleAdmin)
	for _, callback := range []string{"", "none", "https://ci.example.com/told", "https://ci.example.com/told?build=${event.build}", "${event.payload.callback_url}",
		`${has(event.payload.x) ? event.payload.x : ""}`, "https://${event.payload.host}.ci.example.com/", "https://ci.example.com:8443/a-very-long-part-of-the-path/${event.job}"} {
		if err := b.Services.Build.Hooks.CheckBuildRules(t.Context(), admin, calls(callback)); err != nil {
			t.Errorf("%s: %v", callback, err)
		}
	}
	for callback, want := range map[string]string{
		"http://ci.example.com/told":             "must start with https://",
		"http://ci.example.com/${event.build}":   "must start with https://",
		"ftp://ci.example.com/":                  "not ftp",
		"ci.example.com":                         "https://",
		"ci-${event.branch}":                     "https://",
		" ":                                      "must not be empty",
		"https://":                               "Invalid URL",
		"https:///told":                          "Invalid URL",
		"https://10.1.2.3/told":                  "private address",
		"https://127.0.0.1/${event.build}":       "the server itself",
		"https://localhost/told":                 "the server itself",
		"https://[::1]/told":                     "the server itself",
		"https://169.254.169.254/latest":         "link-local",
		"https://ci:hunter2@ci.example.com/told": "a user name or password",
		"https://ci@ci.example.com/${event.job}": "a user name or password",
		"https://ci.example.com/${event.buidl}":  "callback, line 1, column 6: unknown event field \"buidl\"",
		"https://ci.example.com/${event.build":   "isn't closed",
		"${event.}":                              "callback, line 1",
		"https://" + strings.Repeat("x", 2000):   "longer than 2000",
	} {
		err := b.Services.Build.Hooks.CheckBuildRules(t.Context(), admin, calls(callback))
		e := app.AsError(err)
		if e.Code != app.EInvalid || e.Field != "rules[0].callback" || !strings.Contains(e.Message, want) || !strings.HasPrefix(e.Message, "Rule 1 (web): callback") || e.Hint == "" && !strings.Contains(want, "longer") {
			t.Errorf("%.60s: %+v; want %q", callback, e, want)
		}
		if strings.Contains(e.Message+e.Hint, "hunter2") {
			t.Errorf("%s: it is repeated", callback)
		}
	}
	rule := calls("https://ci.example.com/")
	rule[0].Do, rule[0].Template = build.ActionDelete, ""
	if err := b.Services.Build.Hooks.CheckBuildRules(t.Context(), admin, rule); err == nil || !strings.Contains(err.Error(), "for rules that create") {
		t.Errorf("a rule that deletes: %v", err)
	}
}

// A trial says where the callback would go, without what may be secret, or why there would be none; neither keeps a build from its cluster.
func TestTrialsSayWhereTheCallbackGoes(t *testing.T) {
	b := harness.New(t)
	understand(b.Services)
	b.Services.Webhook.HookGuard = &netguard.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	admin := b.Actor("root", app.RoleAdmin)
	owner := "ada"
	if _, err := b.Services.Build.Hooks.SaveBuildHook(t.Context(), admin, build.BuildHookRequest{Name: "ci", System: "generic", Owner: &owner}); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		callback string
		payload  map[string]any
		where    string
		why      string
	}{
		"as it is written": {"https://ci.example.com/told", nil, "https://ci.example.com/told", ""},
		"with parts":       {"https://ci.example.com/${event.build}/told?token=${event.payload.token}", map[string]any{"token": "secret"}, "https://ci.example.com/web/1/told?…", ""},
		"of the payload":   {"${event.payload.callback_url}", map[string]any{"callback_url": "https://ci:hunter2@ci.example.com/told?token=secret"}, "https://ci.example.com/told?…", ""},
		"nothing":          {"${event.payload.callback_url}", map[string]any{"callback_url": ""}, "", ""},
		"none":             {"none", map[string]any{"callback_url": "https://ci.example.com"}, "", ""},
		"missing":          {"${event.payload.callback_url}", nil, "", "no such key"},
		"a number":         {"${event.payload.callback_url}", map[string]any{"callback_url": 12.0}, "", "Invalid URL"},
		"private":          {"${event.payload.callback_url}", map[string]any{"callback_url": "https://ci:hunter2@192.168.1.1/?secret"}, "", "a private address"},
		"plain":            {"${event.payload.callback_url}", map[string]any{"callback_url": "http://192.168.1.1/"}, "", "a private address"},
		"allowed":          {"${event.payload.callback_url}", map[string]any{"callback_url": "http://127.0.0.1:8080/told"}, "http://127.0.0.1:8080/told", ""},
		"two lines":        {"${event.payload.callback_url}", map[string]any{"callback_url": "https://ci.example.com/\nHost: x"}, "", "Invalid URL"},
	} {
		rules := calls(tc.callback)
		out, err := b.Services.Build.Intake.TryBuild(t.Context(), admin, "ci", build.Trial{Rules: &rules, Event: &app.BuildEvent{Build: "web/1", Phase: build.PhaseRunning}, Payload: tc.payload})
		text, _ := json.Marshal(out)
		if err != nil || out.Action != "create" || out.Callback != tc.where || !strings.Contains(out.NoCallback, tc.why) || tc.why == "" && out.NoCallback != "" || strings.Contains(string(text), "hunter2") || strings.Contains(string(text), "secret") {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
}

// The generic event may carry the address; a rule that says one, or none, counts more. What is said in more words than allowed is refused.
func TestGenericEventsCarryTheirCallback(t *testing.T) {
	systems := buildsystems.Family{}
	read := func(body string) (app.BuildEvent, error) {
		return systems.Read(build.Delivery{System: "generic", Event: "build", Body: []byte(body)})
	}
	e, err := read(`{"event":"build","phase":"running","build":"web/1","callback_url":"https://ci:hunter2@ci.example.com/told?token=x"}`)
	if err != nil || e.CallbackURL != "https://ci:hunter2@ci.example.com/told?token=x" || e.Payload["callback_url"] != e.CallbackURL {
		t.Fatalf("%+v, %v", e, err)
	}
	if text, _ := json.Marshal(e); strings.Contains(string(text), "hunter2") {
		t.Errorf("the address is written with the event: %s", text)
	}
	for _, wrong := range []string{`"ftp://x"`, `"https://"`, `12`, `["https://a"]`, `"//a"`, `"https://a\u0000b"`, `"https://a b"`, `"https://` + strings.Repeat("a", 2050) + `"`} {
		if _, err := read(`{"event":"build","callback_url":` + wrong + `}`); app.CodeOf(err) != app.EInvalid || !strings.Contains(err.Error(), "callback_url") {
			t.Errorf("%.30s: %v", wrong, err)
		}
	}
}

// What we have signed as a callback is no delivery when it is sent back to us.
func TestCallbacksAreNotDeliveries(t *testing.T) {
	secret := appwebhook.HookSecretMark + "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IHNlY3JldA=="
	systems, now := buildsystems.Family{}, time.Unix(1_800_000_000, 0)
	body := []byte(`{"event":"build"}`)
	for id, want := range map[string]app.Code{"1": "", app.BuildCallbackMark + "ab_1": app.EInvalid} {
		header := map[string]string{"Webhook-Id": id, "Webhook-Timestamp": "1800000000", "Webhook-Signature": webhook.Sign(id, now, body, build.SigningKey(secret))}
		for _, system := range []string{"generic", "gitlab", "jenkins"} {
			if _, err := systems.Verify(system, func(n string) string { return header[n] }, body, []string{secret}, now); app.CodeOf(err) != want {
				t.Errorf("%s, %s: %v", system, id, err)
			}
		}
	}
	if got := string(build.SigningKey("0123456789abcdef")); got != "0123456789abcdef" {
		t.Errorf("another secret signs as %q", got)
	}
}
