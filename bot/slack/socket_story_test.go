package slack_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// over tells a story through websockets.
func over(t *testing.T, story func(h *harness)) {
	file := database(t)
	synctest.Test(t, func(t *testing.T) { story(newHarness(t, file, true)) })
}

// TestLostAcknowledgements has the connection end with each of them: Slack says it again, and nothing is done again.
func TestLostAcknowledgements(t *testing.T) {
	over(t, func(h *harness) {
		ops := h.team.Channel("ops")
		for i := range 5 {
			h.slack.Connected(1)
			h.slack.LoseAcks(1)
			h.slack.Expect("unreachable") // there may be no connection again in time; then the person says it again
			r := h.ada.In(ops).Says(fmt.Sprintf("/muster create c%d web 1 for 8h", i))
			if r.Outcome.Err == nil {
				r.Answer(fmt.Sprintf("c%d", i))
			}
			time.Sleep(5 * time.Second)
		}
		list := h.states()
		for h.work(1000, nil) > 0 {
			time.Sleep(time.Second)
		}
		h.slack.Wait("not all cards show their ends", func() bool { return h.left() == 0 })
		for name, cards := range h.cards() {
			if len(cards) != 1 {
				h.Errorf("%s has %d cards", name, len(cards))
			}
		}
		if _, ever := h.slack.Sockets(); ever < 6 || len(list) != 5 {
			h.Errorf("%d connections, %d clusters for 5 commands: %v", ever, len(list), list)
		}
	})
}

// TestConnectionsAreRenewed says things all the while Slack asks for new connections.
func TestConnectionsAreRenewed(t *testing.T) {
	over(t, func(h *harness) {
		ops := h.team.Channel("ops")
		for i := range 5 {
			h.slack.Connected(1)
			if i%2 == 0 {
				h.slack.Warn()
				h.ada.In(ops).Says("/muster list").Answer("Clusters")
				time.Sleep(time.Duration(i) * time.Second)
			}
			h.slack.Refresh()
			time.Sleep(10 * time.Second)
			h.ada.In(ops).Says("/muster list").Answer("Clusters")
			time.Sleep(2 * time.Minute)
		}
		if now, ever := h.slack.Sockets(); now != 1 || ever < 6 {
			h.Errorf("%d of %d connections", now, ever)
		}
	})
}

// TestNothingIsMissedInAMinute takes the connection away for a minute in which much happens.
func TestNothingIsMissedInAMinute(t *testing.T) {
	over(t, func(h *harness) {
		ops := h.team.Channel("ops")
		h.ada.In(ops).Says("/muster create shop web 2 for 8h").Answer("shop")
		ops.Card("shop: creating")
		h.slack.Cut()
		before := len(h.slack.Calls())
		h.team.Event(map[string]any{"type": "app_home_opened", "user": h.ada.ID, "channel": h.ada.Direct().ID, "tab": "home"})
		for h.work(3, nil) > 0 {
			time.Sleep(5 * time.Second)
		}
		time.Sleep(time.Minute)
		h.slack.Restore()
		card := ops.Card("shop is active")
		if card.Edits() > 3 {
			h.Errorf("the card shows outdated states: %q", card.States())
		}
		h.slack.Connected(1)
		h.slack.Wait("the home is not shown", func() bool {
			for _, c := range h.slack.Calls()[before:] {
				if c.Method == "views.publish" && c.User == h.ada.ID {
					return true
				}
			}
			return false
		})
		h.ada.In(ops).Says("/muster status shop").Answer("shop is active")
	})
}

// TestSeveralServersReceiveEvents has two servers on one database, each with a connection of its own.
func TestSeveralServersReceiveEvents(t *testing.T) {
	over(t, func(h *harness) {
		first := h.stop
		h.start(false)
		second := h.stop
		h.mu.Lock()
		h.stop = func() { first(); second() }
		h.mu.Unlock()
		h.slack.Connected(2)
		ops := h.team.Channel("ops")
		for i := range 6 {
			h.slack.LoseAcks(i % 2)
			h.slack.Connected(2)
			r := h.ada.In(ops).Says(fmt.Sprintf("/muster create c%d web 1 for 8h", i))
			if i%2 == 0 { // else the other server knows that it was done, and not what was answered
				r.Answer(fmt.Sprintf("c%d", i))
			}
			ops.Card(fmt.Sprintf("c%d: creating", i))
		}
		if list := h.states(); len(list) != 6 {
			h.Errorf("%d clusters for 6 commands: %v", len(list), list)
		}
	})
}
