package slack

import (
	"context"
	"time"

	"muster/app/chat"
	"muster/bot"
)

// house is a Board's poster. It gets the token before each call, since tokens change.
type house struct {
	teams  *teams
	people *people
	w      chat.ChatWorkspace
}

var (
	_ bot.Poster    = house{}
	_ bot.Threads   = house{}
	_ bot.Teller    = house{}
	_ bot.Publisher = house{}

	_ bot.ReviewPoster = house{}
	_ bot.Zones        = house{}
)

// with calls f with a poster, and records Slack's errors.
func (h house) with(ctx context.Context, f func(p poster) error) error {
	p, err := h.teams.poster(ctx, h.w)
	if err != nil {
		return err
	}
	if err = f(p); err != nil {
		h.teams.note(h.w, err)
	}
	return err
}

func (h house) Post(ctx context.Context, channel, person string, c bot.Card) (where, ts string, err error) {
	err = h.with(ctx, func(p poster) error { where, ts, err = p.Post(ctx, channel, person, c); return err })
	return where, ts, err
}

func (h house) Edit(ctx context.Context, channel, ts string, c bot.Card) error {
	return h.with(ctx, func(p poster) error { return p.Edit(ctx, channel, ts, c) })
}

func (h house) Reply(ctx context.Context, channel, message string, a bot.Answer) (ts string, err error) {
	err = h.with(ctx, func(p poster) error { ts, err = p.Reply(ctx, channel, message, a); return err })
	return ts, err
}

func (h house) EditReply(ctx context.Context, channel, ts string, a bot.Answer) error {
	return h.with(ctx, func(p poster) error { return p.EditReply(ctx, channel, ts, a) })
}

func (h house) Show(ctx context.Context, channel string, a bot.Answer) (ts string, err error) {
	err = h.with(ctx, func(p poster) error {
		_, ts, err = p.api.PostMessageContext(ctx, channel, answerMessage(a)...)
		return coded(err)
	})
	return ts, err
}

func (h house) Tell(ctx context.Context, person, key string, a bot.Answer) error {
	return h.with(ctx, func(p poster) error { return p.Tell(ctx, person, key, a) })
}

func (h house) Told(ctx context.Context, person, key string, since time.Time) (told bool, err error) {
	err = h.with(ctx, func(p poster) error { told, err = p.Told(ctx, person, key, since); return err })
	return told, err
}

func (h house) Publish(ctx context.Context, person string, home bot.Home) error {
	return h.with(ctx, func(p poster) error { return p.Publish(ctx, person, home) })
}

func (h house) Zone(ctx context.Context, person string) string {
	u, err := h.people.info(ctx, h.w, h.w.Team+"/"+person, person)
	if err != nil {
		return "" // times are shown in UTC
	}
	return u.TZ
}
