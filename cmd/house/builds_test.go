package house

import (
	"net/http"
	"strings"
	"testing"
)

// An admin makes a build hook, writes rules, tries them with what was sent, mends what is wrong with them and saves: without a script, and
// nothing that was typed is lost.
func TestAnAdminLooksAfterBuildHooks(t *testing.T) {
	h := settled(t)
	s, err := h.Serve(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	p := h.plain(t, s, Admin)
	p.open("/admin/builds").says(buildHook, "GitHub", "as builds", "2 rules", "example/shop")

	// A new hook: what cannot be is said beside the field; the secret is shown once.
	if status := p.try("Make the hook", "name", "No Good", "owner", "builds"); status != http.StatusUnprocessableEntity && status != http.StatusBadRequest {
		t.Errorf("a wrong name answers %d", status)
	}
	p.says("A build hook needs a name")
	p.open("/admin/builds")
	if status := p.try("Make the hook", "name", buildHook, "owner", "builds"); status != http.StatusConflict {
		t.Errorf("a name that is taken answers %d", status)
	}
	p.says("There is already a build hook of this name.")
	p.open("/admin/builds")
	p.send("Make the hook", "system", "github", "name", "nightly", "owner", "builds")
	p.says("The secret of this hook", "It is shown only now", "https://muster.example.com/hooks/", "Nothing was sent here yet")
	p.open("/admin/builds/nightly")
	if strings.Contains(p.text(), "It is shown only now") {
		t.Error("the secret is shown again")
	}
	p.send("Make a new secret")
	p.says("The secret of this hook")

	// Rules of the other one.
	p.open("/admin/builds/"+buildHook).says("integration", "workflow job queued", "begun", "push", "nothing")
	const broken = "- name: all\n  when: event.nothing ==\n  do: create\n"
	if status := p.try("Save", "rules", broken); status < 400 || status >= 500 {
		t.Errorf("broken rules answer %d", status)
	}
	p.says("event.nothing ==")
	if !strings.Contains(string(p.body), "when: event.nothing ==") {
		t.Errorf("what was typed is gone: %s", p.text())
	}
	p.open("/admin/builds/" + buildHook)
	p.send("Try with", "rules", "- name: mine\n  when: event.event == \"workflow_job\"\n  do: create\n  template: build-runners\n  size: 3\n  forks: all\n")
	p.says("they would ask for a cluster of build-runners with 3 nodes, by rule mine.", "mine : It matches.")
	p.open("/admin/builds/" + buildHook).says("integration") // nothing was saved
	p.send("Save", "rules", "- name: none\n  when: \"false\"\n  do: nothing\n")
	p.says("The rules are saved.", "none")
	if strings.Contains(p.text(), "integration\" in") {
		t.Error("the rules of before are there still")
	}

	// A delivery as it came, and run again against the rules of now.
	p.open(h.deliveryAddress(t)).says("What was sent", "workflow_job")
	p.send("Run it again")
	p.says("Run again", "1 time", "nothing")

	p.open("/admin/builds/nightly/delete").says("Delete the build hook nightly?")
	p.send("Delete")
	if strings.Contains(p.text(), "nightly") {
		t.Error("it is there still")
	}
}

func (h *House) deliveryAddress(t *testing.T) string {
	all, err := h.App.BuildDeliveries(t.Context(), h.actor(Admin), buildHook, 0, 1)
	if err != nil || len(all) == 0 {
		t.Fatalf("%v, %v", all, err)
	}
	return "/admin/builds/" + buildHook + "/deliveries/" + number(all[0].ID)
}
