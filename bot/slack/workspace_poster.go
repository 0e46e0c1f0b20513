package slack

import (
	"context"
	"time"

	"muster/app/chat"
	"muster/bot"
)

// workspacePoster is an Updater's poster. It gets the token before each call, since tokens change.
type workspacePoster struct {
	teams  *teams
	people *people
	w      chat.Workspace
}

var (
	_ bot.Poster    = workspacePoster{}
	_ bot.Threads   = workspacePoster{}
	_ bot.Messenger = workspacePoster{}
	_ bot.Publisher = workspacePoster{}

	_ bot.ReviewPoster = workspacePoster{}
	_ bot.Zones        = workspacePoster{}
)

// with calls f with a poster, and records Slack's errors.
func (h workspacePoster) with(ctx context.Context, f func(p poster) error) error {
	p, err := h.teams.poster(ctx, h.w)
	if err != nil {
		return err
	}
	if err = f(p); err != nil {
		h.teams.note(h.w, err)
	}
	return err
}

func (h workspacePoster) Post(ctx context.Context, channel, person string, c bot.Card) (where, ts string, err error) {
	err = h.with(ctx, func(p poster) error { where, ts, err = p.Post(ctx, channel, person, c); return err })
	return where, ts, err
}

func (h workspacePoster) Edit(ctx context.Context, channel, ts string, c bot.Card) error {
	return h.with(ctx, func(p poster) error { return p.Edit(ctx, channel, ts, c) })
}

func (h workspacePoster) Reply(ctx context.Context, channel, message string, a bot.Answer) (ts string, err error) {
	err = h.with(ctx, func(p poster) error { ts, err = p.Reply(ctx, channel, message, a); return err })
	return ts, err
}

func (h workspacePoster) EditReply(ctx context.Context, channel, ts string, a bot.Answer) error {
	return h.with(ctx, func(p poster) error { return p.EditReply(ctx, channel, ts, a) })
}

func (h workspacePoster) Show(ctx context.Context, channel string, a bot.Answer) (ts string, err error) {
	err = h.with(ctx, func(p poster) error {
		_, ts, err = p.api.PostMessageContext(ctx, channel, answerMessage(a)...)
		return coded(err)
	})
	return ts, err
}

func (h workspacePoster) SendDM(ctx context.Context, person, key string, a bot.Answer) error {
	return h.with(ctx, func(p poster) error { return p.SendDM(ctx, person, key, a) })
}

func (h workspacePoster) FindDM(ctx context.Context, person, key string, since time.Time) (notified bool, err error) {
	err = h.with(ctx, func(p poster) error { notified, err = p.FindDM(ctx, person, key, since); return err })
	return notified, err
}

func (h workspacePoster) Publish(ctx context.Context, person string, home bot.Home) error {
	return h.with(ctx, func(p poster) error { return p.Publish(ctx, person, home) })
}

func (h workspacePoster) Zone(ctx context.Context, person string) string {
	u, err := h.people.info(ctx, h.w, h.w.Team+"/"+person, person)
	if err != nil {
		return "" // times are shown in UTC
	}
	return u.TZ
}
