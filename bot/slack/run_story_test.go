package slack_test

import (
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/bot/slack/slacktest"
)

// TestActionsOfATemplate runs actions of a template: by form, in one line, with an approval; and cancels one.
func TestActionsOfATemplate(t *testing.T) {
	each(t, func(h *harness) {
		ops := h.team.Channel("ops")
		bob := h.person("bob", app.RoleApprover)
		h.ada.In(ops).Says("/muster create shop web 3 for 8h").Answer("shop")
		h.done(nil)
		ops.Card("shop is active")

		status := h.ada.In(ops).Says("/muster status shop").Answer("shop is active")
		h.ada.Press(status, "Run action…")
		m := h.ada.Modal("Run action", "Choose an action")
		m.Fill("Action", "Backup").Until("Copies the data.")
		if r := m.Fill("keep", "99").Submit(); len(r.Errors) == 0 {
			m.Until("is more than 30")
		}
		if n := len(h.clusters()["shop"].Operations); n != 1 {
			h.Fatalf("a wrong value began an operation: %d", n)
		}
		m.Fill("keep", "7").Until("Runs on 3 nodes: n1, n2 and n3.", "With keep=7.")
		if r := m.Submit(); len(r.Errors) > 0 {
			h.Fatalf("submitted: %v", r.Errors)
		}
		card := ops.Card("shop: ", "action backup", "0 of 3 nodes", "Run by ada")
		h.work(1, nil)
		card.Until("shop: running action backup", "1 of 3 nodes", "1 succeeded")
		if slices.Contains(card.Buttons(), "View log") || !slices.Contains(card.Buttons(), "Cancel action") {
			h.Errorf("while it runs the card has %q", card.Buttons())
		}
		h.done(nil)
		card.Until("shop: action backup succeeded", "3 of 3 nodes", "3 succeeded")
		if strings.Contains(card.Text(), "said by") {
			h.Errorf("a channel is shown the output of what succeeded: %s", card.Text())
		}
		if url := card.Link("View output"); !strings.Contains(url, "/clusters/shop") || !strings.Contains(url, "/runs/") {
			h.Errorf("the output is at %q", url)
		}
		if slices.Contains(card.Buttons(), "Cancel action") {
			h.Error("what has ended can be cancelled")
		}

		shown := h.ada.In(ops).Says("/muster run shop backup keep=3").Answer("Runs on 3 nodes", "With keep=3.")
		h.ada.PressOften(shown, "Run action", 2)[0].Answer("shop: running action backup") // a double click
		h.done(func(string) bool { return true })
		failed := ops.Card("shop: action backup failed on 1 of 3 nodes", "2 succeeded, 1 failed", "✗ n2: exit code 3", "n2 | said by n2")
		h.ada.Press(failed, "View log").Answer("said by n2")
		h.ada.Press(failed, "Run on failed nodes…")
		h.ada.Modal("Run action", "Runs on 1 node: n2.", "With keep=3.").Cancel()
		h.ada.In(ops).Mentions("run shop backup") // which can't open a form
		var answer *slacktest.Message
		h.slack.Wait("the mention isn't answered", func() bool {
			for _, m := range ops.Ephemeral(h.ada) {
				if m.Says("Run action on shop") {
					answer = m
				}
			}
			return answer != nil
		})
		h.ada.Press(answer, "Open form")
		h.ada.Modal("Run action", "Fill in the fields above").Cancel()
		if v := h.clusters()["shop"]; len(v.Operations) != 3 || v.Status != app.ClusterActive {
			h.Errorf("after two runs the cluster is %s, with %d operations", v.Status, len(v.Operations))
		}

		h.ada.Press(h.ada.In(ops).Says("/muster run shop wipe").Answer("Runs on 3 nodes"), "Run action").Answer("running action wipe")
		card = ops.Card("action wipe", "Cancel action")
		bob.Press(card, "Cancel action").Answer("That didn't work")
		h.ada.Press(card, "Cancel action").Answer("cancelling the action")
		card.Until("shop: action wipe was cancelled", "3 skipped")

		bob.In(ops).Says("/muster run shop wipe").Answer("You can't run action wipe.", "Only admins can run it.")
		if m := bob.In(ops).Says("/muster actions shop").Answer("For people who may use the cluster."); len(m.Buttons()) != 1 {
			h.Errorf("who may not run actions is offered %q", m.Buttons())
		}
		if m := bob.In(ops).Says("/muster status shop").Answer("shop is active"); slices.Contains(m.Buttons(), "Run action…") {
			h.Error("who may not run actions is offered to run one")
		}
		h.ada.Press(h.ada.In(ops).Says("/muster run shop rotate").Answer("Requires 1 approval from approvers."), "Request approval").
			Answer("Request 2 is waiting for approval", "ada wants to run action rotate on shop")
		bob.Press(bob.In(ops).Says("/muster approve 2").Answer("ada wants to run action rotate on shop", "/opt/rotate.sh"),
			"Approve request").Answer("Request 2 is accepted")
		h.done(nil)
		ops.Card("shop: action rotate succeeded", "Run by ada")
	})
}
