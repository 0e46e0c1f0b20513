package slack

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/slack-go/slack"

	"muster/bot"
)

// One dispatcher for both transports: authenticated HTTP requests and envelopes of Socket Mode come here, and each gets its reply within
// replyTime. Longer work continues in the background.

// dispatcher handles commands, buttons, forms and events from Slack.
type dispatcher struct {
	*responder
	deliveries    Deliveries
	installations Installations
	replies       replies
	newest        newest
}

// delivery describes how a payload arrived.
type delivery struct {
	id     string // identifies the delivery, so that a replayed one is ignored
	socket bool
}

// reply is the immediate reply to Slack.
type reply struct {
	status  int    // HTTP status; 0 is 200. With 500 and above, Slack sends the payload again
	refusal string // message, if status is set
	body    any    // JSON; nil for nothing
	// If body is too long for an acknowledgement over a websocket, small is sent instead, and late sends the rest.
	small any
	late  func()
}

func refuse(status int, words string) reply { return reply{status: status, refusal: words} }

// again makes Slack send something again.
func (r reply) again() bool { return r.status >= http.StatusInternalServerError }

var tooBusy = refuse(http.StatusServiceUnavailable, "Muster is busy.")

// slash is a slash command, the same in both transports.
type slash struct {
	Team       string `json:"team_id"`
	Domain     string `json:"team_domain"`
	Enterprise string `json:"enterprise_id"`
	User       string `json:"user_id"`
	Name       string `json:"user_name"`
	Command    string `json:"command"`
	Text       string `json:"text"`
	Channel    string `json:"channel_id"`
	Response   string `json:"response_url"`
	Trigger    string `json:"trigger_id"`
}

// first reports whether a payload is new. A repeated one is acknowledged as successful, since it was handled.
func (dp *dispatcher) first(ctx context.Context, names ...string) (bool, *reply) {
	ctx, cancel := context.WithTimeout(ctx, noteTime)
	defer cancel()
	first, err := dp.deliveries.ChatFirst(ctx, kind, names...)
	if err != nil {
		dp.log.Error("slack: can't check whether a request was seen before", "error", err)
		r := refuse(http.StatusServiceUnavailable, "Muster is unavailable right now.")
		return false, &r
	}
	return first, nil
}

// heardCommand answers a command: right away if possible, otherwise through its response URL.
func (dp *dispatcher) heardCommand(ctx context.Context, how delivery, c slash) reply {
	p, ok := person(c.Team, c.Domain, c.User, c.Name, c.Command)
	if !ok {
		return refuse(http.StatusBadRequest, "The command has no sender.")
	}
	timer := time.NewTimer(replyTime)
	defer timer.Stop()
	trigger := ""
	if c.Trigger != "" {
		trigger = "command " + c.Trigger
	}
	first, bad := dp.first(ctx, trigger, how.id)
	if bad != nil {
		return *bad
	}
	if !first {
		return dp.replies.of(how, trigger)
	}
	place := place{team: c.Team, enterprise: c.Enterprise, channel: c.Channel, user: c.User, response: c.Response, trigger: c.Trigger}
	var taken atomic.Bool // set by whichever comes first, the answer or the timeout
	now := make(chan bot.Answer, 1)
	begun := dp.workers.begin(func(ctx context.Context) {
		a, shown := dp.say(ctx, p, place, c.Text)
		switch {
		case taken.CompareAndSwap(false, true):
			if shown {
				a = bot.Answer{}
			}
			now <- a
		case !shown:
			dp.post(place.response, a, false)
		}
	})
	if !begun {
		return reply{body: ephemeral(busy)}
	}
	var r reply
	select {
	case a := <-now:
		r = replyOf(a)
		r.late = func() { dp.post(place.response, a, false) }
	case <-timer.C:
		r = reply{body: ephemeral(bot.Answer{Title: "One moment…"})}
		if !taken.CompareAndSwap(false, true) {
			a := <-now
			r = replyOf(a)
			r.late = func() { dp.post(place.response, a, false) }
		}
	case <-ctx.Done():
		taken.CompareAndSwap(false, true)
		return r
	}
	dp.replies.keep(how, trigger, r, dp.now())
	return r
}

var busy = bot.Answer{Title: "Muster is busy", Lines: []string{"Too many requests at once. Try again in a minute."}, Wrong: true}

// ephemeral is an answer that only its recipient sees.
func ephemeral(a bot.Answer) slack.Msg {
	summary, blocks := answerBlocks(a)
	return slack.Msg{Text: summary, Blocks: slack.Blocks{BlockSet: blocks}, ResponseType: slack.ResponseTypeEphemeral}
}

// replyOf is an answer as a reply; nothing if a modal shows it.
func replyOf(a bot.Answer) reply {
	if a.Title == "" && len(a.Lines) == 0 {
		return reply{}
	}
	return reply{body: ephemeral(a)}
}
