package slack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/bot/slack/slacktest"
)

// done ends all steps, and waits until every card shows that.
func (h *harness) done(fails func(string) bool) {
	h.Helper()
	for h.work(1000, fails) > 0 {
		time.Sleep(time.Second)
	}
	h.slack.Wait("not all cards show their ends", func() bool { return h.left() == 0 })
}

// TestAClusterByForm makes one with the form, from the command and from the home.
func TestAClusterByForm(t *testing.T) {
	each(t, func(h *harness) {
		ops := h.team.Channel("ops")
		h.ada.In(ops).Says("/muster create")
		m := h.ada.Modal("New cluster", "Preview")
		m.Fill("Nodes", "3")
		m.Until("3 × small with web")
		if r := m.Fill("Name", "shop").Fill("Nodes", "500").Submit(); len(r.Errors) == 0 {
			h.Errorf("500 nodes are taken")
		}
		m.Until("Choose 1–50 nodes (you entered 500)")
		m.Fill("Nodes", "3").Until("3 × small with web")
		if r := m.Submit(); len(r.Errors) > 0 {
			h.Errorf("submitted: %v", r.Errors)
		}
		ops.Card("shop: creating") // a card that is posted at the end says by itself that the cluster is ready, with nothing beneath
		h.done(nil)
		card := ops.Card("shop is active", "3 nodes")
		says := func(text string) func() bool {
			return func() bool {
				return slices.ContainsFunc(card.Thread(), func(m *slacktest.Message) bool { return m.Says(text) })
			}
		}
		h.slack.Wait("nothing beneath the card tells that it's ready", says("shop is ready."))
		if err := h.store.MarkLost(h.Context(), app.DefaultTenant, h.clusters()["shop"].ID, "Lost machines: n1.", time.Now()); err != nil {
			h.Fatal(err)
		}
		h.slack.Wait("nothing beneath the card tells of the lost machine", says("Lost machines: n1."))
		if m := h.ada.Direct().Find("shop"); m != nil {
			h.Errorf("ada is told directly too: %s", m.Text())
		}

		home := h.ada.Home()
		home.Until("shop", "New cluster…")
		home.Press("New cluster…")
		m = h.ada.Modal("New cluster")
		r := m.Fill("Name", "shop").Submit() // which is taken
		if len(r.Errors) == 0 {
			m.Until("⚠")
		}
		if len(h.states()) != 1 {
			h.Error("two clusters of one name")
		}
		m.Cancel()
	})
}

// TestMentionsAreAnsweredLikeCommands calls the bot by its name.
func TestMentionsAreAnsweredLikeCommands(t *testing.T) {
	each(t, func(h *harness) {
		ops := h.team.Channel("ops")
		notified := func(words ...string) *slacktest.Message {
			h.Helper()
			var m *slacktest.Message
			h.slack.Wait("nothing is answered that says "+strings.Join(words, ", "), func() bool {
				for _, m = range ops.Ephemeral(h.ada) {
					if !slices.ContainsFunc(words, func(w string) bool { return !m.Says(w) }) {
						return true
					}
				}
				return false
			})
			return m
		}
		h.ada.In(ops).Mentions("status <b>&")
		notified("doesn't exist", "<b>&")
		h.ada.In(ops).Mentions("create shop web 2 8h")
		notified("shop: creating")
		h.done(nil)
		ops.Card("shop is active")
		// A mention has no trigger, so the form is opened by a button.
		h.ada.In(ops).Mentions("create")
		h.ada.Press(notified("New cluster"), "Open form")
		h.ada.Modal("New cluster").Cancel()
		h.ada.In(ops).Mentions("extend shop")
		notified("Lease of shop", " CE") // CET or CEST, where ada is
	})
}

// TestTheLatestModalChangeIsShown types faster than the form is worked out.
func TestTheLatestModalChangeIsShown(t *testing.T) {
	each(t, func(h *harness) {
		h.ada.In(h.team.Channel("ops")).Says("/muster create")
		m := h.ada.Modal("New cluster", "Preview")
		for i := range 6 {
			for _, n := range []string{"500", "7", "9", fmt.Sprint(2 + i)} {
				m.Fill("Nodes", n)
			}
			m.Until(fmt.Sprintf("%d × small with web", 2+i))
			time.Sleep(10 * time.Second)
			if !m.Says(fmt.Sprintf("%d × small with web", 2+i)) {
				h.Errorf("an older answer came last:\n%s", m.Text())
			}
		}
	})
}

// TestFailuresOfferActions presses what a card of a failure offers.
func TestFailuresOfferActions(t *testing.T) {
	each(t, func(h *harness) {
		ops := h.team.Channel("ops")
		h.ada.In(ops).Says("/muster create shop web 2 for 8h").Answer("shop")
		h.done(func(string) bool { return true })
		card := ops.Card("shop: creation has failed", "it broke <!channel>")
		h.ada.Press(card, "View log").Answer("shop")
		first := h.ada.PressOften(card, "Resume operation", 2)[0] // a double click
		first.Answer("shop: creating")
		h.done(nil)
		second := ops.Card("shop is active")
		if v := h.clusters()["shop"]; len(v.Operations) > 2 {
			h.Errorf("two clicks began %d operations", len(v.Operations)-1)
		}
		bob := h.team.User("bob")
		if r := bob.Press(second, "View cluster"); !r.Outcome.Answered() {
			h.Errorf("a link is answered %+v", r.Outcome)
		}
		if len(card.Buttons()) == 0 {
			return
		}
		stranger := bob.Press(card, card.Buttons()[0])
		if stranger.Says("shop is active") {
			h.Error("a person without an account can press buttons")
		}
	})
}

// TestHomesAndLinks opens homes and shares links of the portal.
func TestHomesAndLinks(t *testing.T) {
	each(t, func(h *harness) {
		ops := h.team.Channel("ops")
		h.team.User("cy").Home().Until("Link account")
		h.ada.Home().Until("No clusters yet.")
		h.ada.In(ops).Says("/muster create shop web 2 for 8h").Answer("shop")
		h.done(nil)
		home := h.ada.Home().Until("shop – active")
		id := h.clusters()["shop"].ID
		link := "https://m.test/clusters/" + id
		m := h.ada.In(ops).Shares("m.test", link, "https://m.test/clusters/none")
		h.slack.Wait("the link has nothing beneath it", func() bool { return strings.Contains(m.Unfurled(link), "shop") })
		if said := m.Unfurled("https://m.test/clusters/none"); said != "" {
			h.Errorf("a link that leads nowhere is previewed as %q", said)
		}
		other := h.team.User("cy").In(ops).Shares("m.test", link)
		time.Sleep(time.Minute)
		if said := other.Unfurled(link); said != "" {
			h.Errorf("a link of a person who can't see the cluster is previewed as %q", said)
		}
		home.Press("Delete cluster")
		h.slack.Wait("deletion does not begin", func() bool { return h.states()["shop"] != app.ClusterActive })
		h.done(nil)
		h.ada.Home().Until("No clusters yet.")
	})
}

// TestUninstalledWorkspaces has Slack take its tokens back.
func TestUninstalledWorkspaces(t *testing.T) {
	each(t, func(h *harness) {
		ops := h.team.Channel("ops")
		h.ada.In(ops).Says("/muster create shop web 2 for 8h").Answer("shop")
		ops.Card("shop: creating")
		h.team.Uninstall()
		time.Sleep(time.Minute)
		before := len(h.slack.Calls())
		for h.work(1000, nil) > 0 {
			time.Sleep(time.Second)
		}
		time.Sleep(5 * time.Minute)
		if calls := h.slack.Calls()[before:]; len(calls) > 10 {
			h.Errorf("a workspace that has thrown the app out was called %d times in five minutes, such as %+v", len(calls), calls[len(calls)-1])
		}
		if h.states()["shop"] != app.ClusterActive {
			h.Errorf("the cluster is %s", h.states()["shop"])
		}
	})
}
