package demodata

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// An admin makes a build hook, writes rules, tries them with what was sent, fixes them and saves: without a script, and
// nothing that was typed is lost.
func TestAnAdminManagesBuildHooks(t *testing.T) {
	h, s := served(t)
	p := h.plain(t, s, Admin)
	p.open("/admin/builds").says(buildHook, "GitHub", "as builds", "2 rules", "example/shop")

	// A new hook: what cannot be is said beside the field; the secret is shown once.
	if status := p.try("Create build hook", "name", "No Good", "owner", "builds"); status != http.StatusUnprocessableEntity && status != http.StatusBadRequest {
		t.Errorf("a wrong name answers %d", status)
	}
	p.says("Name must be 1 to 63")
	p.open("/admin/builds")
	if status := p.try("Create build hook", "name", buildHook, "owner", "builds"); status != http.StatusConflict {
		t.Errorf("a name that is taken answers %d", status)
	}
	p.says("A build hook with this name already exists.")
	p.open("/admin/builds")
	p.send("Create build hook", "system", "github", "name", "nightly", "owner", "builds")
	p.says("signs deliveries with this secret", "it can't be shown again", "https://muster.example.com/hooks/", "No deliveries with a valid signature yet.")
	p.open("/admin/builds/nightly")
	if strings.Contains(p.text(), "it can't be shown again") {
		t.Error("the secret is shown again")
	}
	p.send("Generate new secret")
	p.says("signs deliveries with this secret")

	// Commit statuses: what is wrong is said beside its field, what was typed is kept, and the token is never shown.
	const token = "ghp_a-token-that-stays-secret"
	refused := func(button, field string, words string, pairs ...string) {
		t.Helper()
		if status := p.try(button, pairs...); status < 400 || status >= 500 {
			t.Errorf("%v answers %d", pairs, status)
		}
		p.says(words)
		if !regexp.MustCompile(`name="` + field + `"[^>]*aria-invalid`).Match(p.body) {
			t.Errorf("%q is not marked: %s", field, p.body)
		}
	}
	p.open("/admin/builds/nightly").says("Commit statuses off", "repo:status", "such as https://github.example.com/api/v3")
	refused("Turn on commit statuses", "status_token", "Enter a token.")
	refused("Turn on commit statuses", "status_api", "For example https://github.example.com/api/v3", "status_token", token, "status_api", "https://api.example.com?q=1")
	if !strings.Contains(string(p.body), `value="https://api.example.com?q=1"`) {
		t.Errorf("what was typed is gone: %s", p.text())
	}
	p.send("Turn on commit statuses", "status_token", token, "status_api", "https://github.example.com/api/v3")
	p.says("Commit statuses on", "Commit statuses are on.", "A token is set and can't be shown.")
	refused("Save token and URL", "status_api", "URL changed, but the token was entered for the old one.", "status_api", "https://elsewhere.example.com")
	p.send("Save token and URL", "status_token", token, "status_api", "")
	p.says("Commit statuses on")
	if strings.Contains(string(p.body), token) {
		t.Error("the token is shown")
	}
	p.send("Remove token")
	p.says("Token removed.", "Commit statuses off")

	// What is unwise is said for as long as it is so.
	p.open("/admin/builds")
	p.send("Create build hook", "system", "github", "name", "weak", "owner", "builds", "secret", "guess me")
	const weak = "The secret has only 8 characters and can be guessed."
	p.says(weak)
	p.open("/admin/builds/weak").says(weak)
	p.send("Generate new secret")
	if p.open("/admin/builds/weak"); strings.Contains(p.text(), weak) {
		t.Error("a strong secret is warned of")
	}

	// Rules of the other one.
	p.open("/admin/builds/"+buildHook).says("integration", "workflow job queued", "build started", "push", "ignored")
	const broken = "- name: all\n  when: event.nothing ==\n  do: create\n"
	if status := p.try("Save rules", "rules", broken); status < 400 || status >= 500 {
		t.Errorf("broken rules answer %d", status)
	}
	p.says("event.nothing ==")
	if !strings.Contains(string(p.body), "when: event.nothing ==") {
		t.Errorf("what was typed is gone: %s", p.text())
	}
	p.open("/admin/builds/" + buildHook)
	p.send("Test with delivery", "rules", "- name: mine\n  when: event.event == \"workflow_job\"\n  do: create\n  template: build-runners\n  size: 3\n  forks: all\n")
	p.says("would create a cluster from build-runners with 3 nodes (rule mine)", "mine : matches")
	p.open("/admin/builds/" + buildHook).says("integration") // nothing was saved
	p.send("Save rules", "rules", "- name: none\n  when: \"false\"\n  do: nothing\n")
	p.says("Rules saved.", "none")
	if strings.Contains(p.text(), "integration\" in") {
		t.Error("the rules of before are there still")
	}

	// A delivery as it came, and run again against the rules of now.
	p.open(h.deliveryAddress(t)).says("Payload", "workflow_job")
	p.send("Replay delivery")
	p.says("Replayed", "1 time", "ignored")

	p.open("/admin/builds/nightly/delete").says("Delete build hook nightly?")
	p.send("Delete build hook")
	if strings.Contains(p.text(), "nightly") {
		t.Error("it is there still")
	}
}

func (h *Instance) deliveryAddress(t *testing.T) string {
	all, err := h.Services.Build.Intake.BuildDeliveries(t.Context(), h.actor(Admin), buildHook, 0, 1)
	if err != nil || len(all) == 0 {
		t.Fatalf("%v, %v", all, err)
	}
	return "/admin/builds/" + buildHook + "/deliveries/" + number(all[0].ID)
}
