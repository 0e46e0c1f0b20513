package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/slack-go/slack"

	"muster/bot"
)

// heardAction handles buttons, choices and submitted modals.
func (dp *dispatcher) heardAction(ctx context.Context, how delivery, payload []byte) reply {
	var c slack.InteractionCallback
	if err := json.Unmarshal(payload, &c); err != nil {
		return refuse(http.StatusBadRequest, "The payload isn't valid JSON.")
	}
	team := firstWord(c.Team.ID, c.User.TeamID)
	p, ok := person(team, c.Team.Domain, c.User.ID, firstWord(c.User.Name, c.User.Username), "/muster")
	if !ok || c.User.TeamID != "" && c.User.TeamID != team && c.Enterprise.ID == "" {
		return refuse(http.StatusForbidden, "The sender isn't a member of this workspace.")
	}
	at := place{team: team, enterprise: c.Enterprise.ID, user: c.User.ID, channel: firstWord(c.Channel.ID, c.Container.ChannelID), message: firstWord(c.Container.MessageTs, c.Message.Timestamp),
		response: c.ResponseURL, trigger: c.TriggerID, view: c.View.ID}
	switch c.Type {
	case slack.InteractionTypeBlockActions:
		if len(c.ActionCallback.BlockActions) != 1 || c.ActionCallback.BlockActions[0] == nil {
			return reply{} // not an action of ours
		}
		act := c.ActionCallback.BlockActions[0]
		switch {
		case strings.HasPrefix(act.ActionID, actionDo):
			return dp.pressed(ctx, how, p, at, c, act)
		case strings.HasPrefix(act.ActionID, actionFill):
			return dp.changed(ctx, how, p, at, c, act)
		}
	case slack.InteractionTypeViewSubmission:
		return dp.submitted(ctx, how, p, at, c)
	case slack.InteractionTypeBlockSuggestion:
		return dp.suggested(ctx, p, at, c)
	}
	return reply{}
}

// clickTime is how long repeated clicks on a button of a message count as one. Later clicks may be intended, as for a button that shows a
// log; app rejects what can't be done twice.
const clickTime = 2 * time.Second

// clicks names a click by Slack's time of it: any two within clickTime share a name.
func clicks(at string, parts ...string) []string {
	seconds, err := strconv.ParseFloat(at, 64)
	name := "press " + strings.Join(parts, " ")
	if err != nil || !(seconds >= 0 && seconds < 1<<40) { // also if it isn't a number
		return []string{name}
	}
	n := int64(seconds / clickTime.Seconds())
	return []string{fmt.Sprint(name, " ", n), fmt.Sprint(name, " ", n+1)}
}

// pressed handles a button. Slack ignores the reply's content, so the answer is sent later.
func (dp *dispatcher) pressed(ctx context.Context, how delivery, p bot.Person, at place, c slack.InteractionCallback, act *slack.BlockAction) reply {
	if dp.workers.full() {
		return tooBusy
	}
	names := clicks(firstWord(act.ActionTs, c.ActionTs), p.External, at.channel, firstWord(at.message, at.view), act.Value)
	first, bad := dp.first(ctx, append(names, how.id, triggerName(at))...)
	if bad != nil {
		return *bad
	}
	if !first {
		return reply{}
	}
	if !dp.workers.begin(func(ctx context.Context) {
		w, p, err := dp.enter(ctx, p, at)
		if err != nil {
			dp.shown(ctx, w, at, bot.Answer{Title: dp.sorry(p, err).Title, Lines: dp.sorry(p, err).Lines, Wrong: true, Beside: true}, c.View)
			return
		}
		a := dp.bot.Press(ctx, p, act.Value)
		if a.Modal != nil && at.view == "" && dp.open(ctx, w, at.trigger, *a.Modal) {
			return
		}
		dp.shown(ctx, w, at, dp.follow(ctx, w, p, a, at), c.View)
	}) {
		return tooBusy
	}
	return reply{}
}

func triggerName(at place) string {
	if at.trigger == "" {
		return ""
	}
	return "trigger " + at.trigger
}

// changed updates a modal after a change in it. It has no side effects, so repeated deliveries are harmless.
func (dp *dispatcher) changed(_ context.Context, _ delivery, p bot.Person, at place, c slack.InteractionCallback, act *slack.BlockAction) reply {
	if c.View.ID == "" || c.View.Type != slack.VTModal {
		return reply{}
	}
	dp.newest.hear(c.View.ID, act.ActionTs)
	if !dp.workers.begin(func(ctx context.Context) {
		w, p, err := dp.enter(ctx, p, at)
		if err != nil {
			dp.renew(ctx, w, c.View.ID, "", bot.InModal(dp.sorry(p, err)))
			return
		}
		m := dp.bot.Fill(ctx, p, formOf(c.View, act))
		// The answer to an older change may have come in between; the newest one is shown anyway.
		dp.newest.show(c.View.ID, act.ActionTs, func() {
			if dp.renew(ctx, w, c.View.ID, c.View.Hash, m) && dp.newest.is(c.View.ID, act.ActionTs) {
				dp.renew(ctx, w, c.View.ID, "", m)
			}
		})
	}) {
		return tooBusy
	}
	return reply{}
}

// submitted handles a submitted modal. Errors can only be shown right away; later results replace the modal.
func (dp *dispatcher) submitted(ctx context.Context, how delivery, p bot.Person, at place, c slack.InteractionCallback) reply {
	timer := time.NewTimer(replyTime)
	defer timer.Stop()
	name := ""
	if at.trigger != "" {
		name = "submit " + at.view + " " + at.trigger
	}
	if dp.workers.full() {
		return reply{body: slack.NewUpdateViewSubmissionResponse(view(bot.InModal(busy)))}
	}
	first, bad := dp.first(ctx, name, how.id)
	if bad != nil {
		return *bad
	}
	if !first {
		return dp.replies.of(how, name)
	}
	var taken atomic.Bool
	now := make(chan bot.Submitted, 1)
	// settled returns the reply for the modal; one too long for an acknowledgement is shown a moment later.
	settled := func(d bot.Submitted) reply {
		r := submission(d)
		r.small = moment()
		r.late = func() {
			w, err := dp.teams.workspace(dp.workers.life, at.team, at.enterprise)
			if err == nil {
				dp.settle(dp.workers.life, w, at, c.View.ID, d, false)
			}
		}
		return r
	}
	if !dp.workers.begin(func(ctx context.Context) {
		w, p, err := dp.enter(ctx, p, at)
		var done bot.Submitted
		if err != nil {
			m := bot.InModal(dp.sorry(p, err))
			done = bot.Submitted{Modal: &m}
		} else if done = dp.bot.Submit(ctx, p, formOf(c.View, nil)); done.Answer != nil {
			where := at
			where.channel = done.Channel
			a := dp.follow(ctx, w, p, *done.Answer, where)
			done.Answer = &a
		}
		onTime := taken.CompareAndSwap(false, true)
		if onTime {
			now <- done
		}
		dp.settle(ctx, w, at, c.View.ID, done, onTime)
	}) {
		m := bot.InModal(busy)
		return reply{body: slack.NewUpdateViewSubmissionResponse(view(m))}
	}
	var r reply
	select {
	case done := <-now:
		r = settled(done)
	case <-timer.C:
		r = reply{body: moment()}
		if !taken.CompareAndSwap(false, true) {
			r = settled(<-now)
		}
	case <-ctx.Done():
		taken.CompareAndSwap(false, true)
		return r
	}
	dp.replies.keep(how, name, r, dp.now())
	return r
}

// moment replaces a modal while its work takes longer.
func moment() any {
	return slack.NewUpdateViewSubmissionResponse(view(bot.InModal(bot.Answer{Title: "One moment…"})))
}

func view(m bot.Modal) *slack.ModalViewRequest {
	v := modalView(m)
	return &v
}

// submission is the result of a modal as a reply.
func submission(d bot.Submitted) reply {
	switch {
	case len(d.Errors) > 0:
		return reply{body: slack.NewErrorsViewSubmissionResponse(d.Errors)}
	case d.Modal != nil:
		return reply{body: slack.NewUpdateViewSubmissionResponse(view(*d.Modal))}
	}
	return reply{body: slack.NewClearViewSubmissionResponse()}
}

// suggested returns a field's options while someone types. Slack takes no late answers here.
func (dp *dispatcher) suggested(ctx context.Context, p bot.Person, at place, c slack.InteractionCallback) reply {
	none := reply{body: map[string]any{"options": []any{}}}
	now := make(chan []bot.Choice, 1)
	timer := time.NewTimer(replyTime)
	defer timer.Stop()
	if !dp.workers.begin(func(ctx context.Context) {
		_, p, err := dp.enter(ctx, p, at)
		if err != nil {
			now <- nil
			return
		}
		form := formOf(c.View, nil)
		form.Changed = c.BlockID
		now <- dp.bot.Choices(ctx, p, form, c.Value)
	}) {
		return none
	}
	select {
	case list := <-now:
		return reply{body: map[string]any{"options": options(list)}}
	case <-timer.C:
	case <-ctx.Done():
	}
	return none
}
