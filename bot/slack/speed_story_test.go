package slack_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	"muster/bot/slack/slacktest"
)

// raced says that the race detector is on, under which each statement of SQL takes ten times as long.
var raced bool

// many is how many operations are live at once.
func many() int {
	if testing.Short() || raced {
		return 20
	}
	return 200
}

// begin has clusters made by commands in several channels, as fast as people are answered.
func (h *harness) begin(n int) {
	h.Helper()
	for i := range n {
		r := h.ada.In(h.team.Channel(fmt.Sprint("team", i%5))).Says(fmt.Sprintf("/muster create c%d web 2 for 8h", i))
		r.Answer(fmt.Sprintf("c%d", i))
	}
	if got := len(h.states()); got != n {
		h.Fatalf("%d clusters for %d commands", got, n)
	}
}

// posted waits until every operation has a card; a little is done meanwhile.
func (h *harness) posted(n int) {
	h.Helper()
	h.slack.Wait("not all operations have a card", func() bool {
		h.work(1, broken)
		return len(h.cards()) >= n
	})
}

// broken says of which clusters a step fails.
func broken(name string) bool {
	n, _ := strconv.Atoi(strings.TrimPrefix(name, "c"))
	return n%10 == 3
}

// settle waits until every card shows its end, and checks that it is the right one.
func (h *harness) settle(n int) {
	h.Helper()
	for deadline := time.Now().Add(30 * time.Minute); h.left() > 0; time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			list, _ := h.app.Chat.Cards.ChatCards(h.Context(), "slack")
			h.Fatalf("%d cards do not show their ends: %+v\n%s", len(list), list, h.slack.Tell())
		}
	}
	cards := h.cards()
	for i := range n {
		name := fmt.Sprint("c", i)
		list := cards[name]
		if len(list) != 1 {
			h.Errorf("%s has %d cards", name, len(list))
			continue
		}
		want := name + " is active"
		if broken(name) {
			want = name + ": creation has failed"
		}
		if text := list[0].Text(); !strings.HasPrefix(text, want) {
			h.Errorf("the card of %s says last\n%s", name, text)
		}
		forward(h.T, list[0])
	}
}

var steps = regexp.MustCompile(` (\d+) of \d+ steps?`)

// forward checks that a card never showed an older state after a newer one.
func forward(t *testing.T, m *slacktest.Message) {
	t.Helper()
	last := -1
	for _, s := range m.States() {
		found := steps.FindStringSubmatch(s)
		if found == nil {
			continue
		}
		if n, _ := strconv.Atoi(found[1]); n < last {
			t.Errorf("a card went back from %d to %d steps:\n%s", last, n, strings.Join(m.States(), "\n--\n"))
		} else {
			last = n
		}
	}
}

// each runs a story over HTTP and through websockets, each in a bubble of time of its own.
func each(t *testing.T, story func(h *harness)) {
	for name, socket := range map[string]bool{"HTTP": false, "socket": true} {
		t.Run(name, func(t *testing.T) {
			file := database(t)
			synctest.Test(t, func(t *testing.T) { story(newHarness(t, file, socket)) })
		})
	}
}

func TestManyOperationsAtFullSpeed(t *testing.T) {
	each(t, func(h *harness) {
		n, began := many(), time.Now()
		h.begin(n)
		h.posted(n)
		// All of them are running, and each card changes every few seconds.
		endedAt := map[string]time.Time{}
		for range 600 {
			h.work(n/20, broken)
			time.Sleep(time.Second)
			for name, state := range h.states() {
				if _, known := endedAt[name]; !known && state != app.ClusterPending {
					endedAt[name] = time.Now()
				}
			}
			if len(endedAt) == n {
				break
			}
		}
		if len(endedAt) != n {
			h.Fatalf("only %d of %d operations have ended", len(endedAt), n)
		}
		h.settle(n)
		h.endsFirst(endedAt)
		calls := h.slack.Calls()
		h.Logf("%d operations, %d calls of Slack, all ends shown after %s", n, len(calls), time.Since(began).Round(time.Second))
	})
}

// endsFirst checks that no card was shown in between while another one's end waited to be shown and could be.
func (h *harness) endsFirst(endedAt map[string]time.Time) {
	h.Helper()
	shownAt, touched := map[string]time.Time{}, map[string][]time.Time{}
	for name, list := range h.cards() {
		times := list[0].Shown()
		touched[name] = times
		for i, s := range list[0].States() {
			if strings.Contains(s, "is active") || strings.Contains(s, "has failed") {
				shownAt[name] = times[i]
				break
			}
		}
	}
	for _, list := range h.cards() {
		m := list[0]
		for i, s := range m.States() {
			if strings.Contains(s, "is active") || strings.Contains(s, "has failed") {
				break
			}
			at := m.Shown()[i]
			for name, ended := range endedAt {
				if at.Sub(ended) < 3*time.Second || !at.Before(shownAt[name]) {
					continue
				}
				rested := true // a card is edited at most every 3 seconds
				for _, t := range touched[name] {
					rested = rested && (t.After(at) || at.Sub(t) >= 3*time.Second)
				}
				if rested {
					h.Errorf("at %s a card that was not done was shown, and the end of %s, which came at %s, only at %s:\n%s", at, name, ended, shownAt[name], s)
					return
				}
			}
		}
	}
}

func TestManyOperationsWithAFailingSlack(t *testing.T) {
	each(t, func(h *harness) {
		n := many() / 2
		h.begin(n)
		h.slack.Fail("chat.postMessage", slacktest.Fault{RetryAfter: 20 * time.Second}, slacktest.Fault{Status: 500}, slacktest.Fault{Error: "internal_error"})
		h.posted(n)
		for i := range 4 {
			h.slack.Fail("chat.update", slacktest.Fault{RetryAfter: 30 * time.Second}, slacktest.Fault{Status: 500}, slacktest.Fault{Error: "internal_error"}, slacktest.Fault{Lose: true})
			for range 30 {
				h.work(n/20, broken)
				time.Sleep(time.Second)
			}
			switch i {
			case 1: // the server is started again
				h.slack.Calm()
				h.end()
				h.work(n/10, broken)
				time.Sleep(5 * time.Second)
				h.start(true)
			case 2: // there is no connection for a minute
				h.slack.Cut()
				for range 60 {
					h.work(n/20, broken)
					time.Sleep(time.Second)
				}
				h.slack.Restore()
			}
		}
		for h.work(1000, broken) > 0 {
			time.Sleep(time.Second)
		}
		h.settle(n)
		if h.socket {
			h.slack.Connected(1)
		}
		// It hears people again.
		h.ada.In(h.team.Channel("team0")).Says("/muster status c0").Answer("c0 is active")
	})
}

// TestRepeatedClicks has the same said and clicked many times.
func TestRepeatedClicks(t *testing.T) {
	each(t, func(h *harness) {
		ops := h.team.Channel("ops")
		h.ada.In(ops).Says("/muster create shop web 2 for 8h").Answer("shop")
		for h.work(1000, nil) > 0 {
			time.Sleep(time.Second)
		}
		ops.Card("shop is active")
		ask := h.ada.In(ops).Says("/muster resize shop 3").Answer("Resize")
		replies := h.ada.PressOften(ask, slices.Collect(buttons(ask, "Resize"))[0], 3)
		replies[0].Answer("shop")
		for h.work(1000, nil) > 0 {
			time.Sleep(time.Second)
		}
		h.slack.Wait("the resize is not shown", func() bool { return h.left() == 0 })
		v := h.clusters()["shop"]
		if len(v.Nodes) != 3 || len(v.Operations) != 2 {
			h.Errorf("%d nodes after %d operations, wanted 3 after 2", len(v.Nodes), len(v.Operations))
		}
		cards := 0
		for _, m := range ops.Messages() {
			if m.Beneath() == "" {
				cards++
			}
		}
		if cards != 2 {
			h.Errorf("%d cards\n%s", cards, h.slack.Tell())
		}
	})
}

func buttons(m *slacktest.Message, prefix string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, b := range m.Buttons() {
			if strings.HasPrefix(b, prefix) && !yield(b) {
				return
			}
		}
	}
}

// TestStrangersOfAllKinds asks as those who may not.
func TestStrangersOfAllKinds(t *testing.T) {
	each(t, func(h *harness) {
		ops := h.team.Channel("ops").Share("T9")
		guest, robot, eve := h.team.User("guest").Guest(), h.team.User("robot").Robot(), h.team.User("eve").Stranger("T9")
		for _, u := range []*slacktest.User{guest, robot, eve} {
			for _, text := range []string{"/muster link", "/muster list", "/muster create x web"} {
				if r := u.In(ops).Says(text); r.Says("Link account") || r.Says("Templates") {
					h.Errorf("%s is answered to %s", u.Name, text)
				}
			}
		}
		time.Sleep(time.Minute)
		if left := h.clusters(); len(left) != 0 {
			h.Errorf("they made %v", left)
		}
		if h.socket {
			return
		}
		// Over HTTP everyone can knock: what is not signed, or was changed, is not heard.
		h.ada.In(ops).Says("/muster list").Answer("Clusters")
		d := h.slack.Delivered("slash_commands")
		for name, at := range map[string]time.Time{"old": time.Now().Add(-5*time.Minute - time.Second), "new": time.Now().Add(5*time.Minute + time.Second)} {
			if status, _ := h.slack.Send(d.Request(at)); status != 401 {
				h.Errorf("a command that is too %s is answered %d", name, status)
			}
		}
		for i := range d.Body {
			r := d.Request(time.Now())
			changed := slices.Clone(d.Body)
			changed[i] ^= 1
			r.Body = body(changed)
			if status, _ := h.slack.Send(r); status == 200 {
				h.Errorf("with byte %d changed it is answered %d", i, status)
			}
		}
		if left, _ := h.app.Cluster.Views.Clusters(h.Context(), app.Actor{Tenant: app.DefaultTenant, User: "root", Role: app.RoleAdmin}, app.ClusterFilter{Limit: 10}); len(left) != 0 {
			h.Errorf("they made %v", left)
		}
	})
}
