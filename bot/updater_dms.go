package bot

import (
	"context"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/chat"
)

// DMs are the records of direct messages.
type DMs interface {
	CollectChatNotices(ctx context.Context, kind string) error
	ChatDMs(ctx context.Context, kind, team string) ([]chat.DM, error)
	BeginDM(ctx context.Context, t chat.DM, hold time.Duration) (bool, error)
	EndDM(ctx context.Context, id int64, s chat.DMState, after time.Duration) error
}

const (
	dmHold        = time.Minute // how long a message that may have been sent is left alone
	maxDMAttempts = 12          // attempts
)

// dmSource sends direct messages. A message that may have been sent is looked for in the chat before it's sent again, so that each
// arrives once even if a server dies. If the chat doesn't let the bot look, it's sent again: better twice than never.
type dmSource struct {
	updater   *Updater
	dmRecords DMs
	messenger Messenger
}

func (s *dmSource) Next(ctx context.Context, now time.Time) (*Show, bool, error) {
	if err := s.dmRecords.CollectChatNotices(ctx, s.updater.Kind); err != nil {
		return nil, false, err
	}
	list, err := s.dmRecords.ChatDMs(ctx, s.updater.Kind, s.updater.Team)
	if err != nil || len(list) == 0 {
		return nil, false, err
	}
	t := list[0]
	return &Show{Urgency: urgentDMs, Since: t.Notice.At, Do: func(ctx context.Context) error { return s.tell(ctx, t) }}, true, nil
}

func (s *dmSource) tell(ctx context.Context, t chat.DM) error {
	mine, err := s.dmRecords.BeginDM(ctx, t, dmHold)
	if err != nil || !mine {
		return err
	}
	state, after, err := s.send(ctx, t)
	if err != nil {
		s.updater.Log.Warn("bot: a direct message couldn't be sent", "notice", t.Notice.ID, "state", state, "error", err)
	}
	if state != chat.ChatDMSending {
		if e := s.dmRecords.EndDM(ctx, t.ID, state, after); e != nil {
			s.updater.Log.Warn("bot: a direct message couldn't be recorded", "notice", t.Notice.ID, "error", e)
		}
	}
	return err
}

// send returns the message's new state: sending if unknown.
func (s *dmSource) send(ctx context.Context, t chat.DM) (chat.DMState, time.Duration, error) {
	b := s.updater.Bot
	if t.Thread != "" {
		return s.beneath(ctx, t)
	}
	p := Person{Kind: t.Kind, External: t.Team + "/" + t.Person, Tenant: t.Tenant, Command: usualCommand, Zone: s.updater.zone(ctx, t.Person)}
	actor, err := b.accounts.actor(ctx, p)
	switch code := app.CodeOf(err); {
	case code == app.EUnauthorized, code == app.EForbidden, err == nil && actor.User != t.User, t.TooLate(b.now()), t.Tries >= maxDMAttempts:
		return chat.ChatDMDropped, 0, nil
	case err != nil:
		return chat.ChatDMWaiting, dmHold, err
	}
	key := strconv.FormatInt(t.Notice.ID, 10)
	if t.State == chat.ChatDMSending {
		found, err := s.messenger.FindDM(ctx, t.Person, key, t.BeganAt.Add(-dmHold))
		switch code := app.CodeOf(err); {
		case found:
			return chat.ChatDMSent, 0, nil
		case code == app.ETransient, code == app.ERateLimit:
			return chat.ChatDMSending, 0, err // look for it again
		}
	}
	err = s.messenger.SendDM(ctx, t.Person, key, b.notices.message(ctx, b.request(p, actor), t.Notice))
	switch app.CodeOf(err) {
	case "":
		return chat.ChatDMSent, 0, nil
	case app.ENotFound:
		return chat.ChatDMDropped, 0, err
	case app.ERateLimit, app.ECredentials:
		return chat.ChatDMWaiting, max(app.AsError(err).RetryAfter, dmHold), err
	}
	return chat.ChatDMSending, 0, err
}

// beneath replies in a card's thread, for everyone there. The bot can't check whether the reply arrived, so after an unclear answer it's
// sent again: better twice than never.
func (s *dmSource) beneath(ctx context.Context, t chat.DM) (chat.DMState, time.Duration, error) {
	threads, can := s.messenger.(Threads)
	if !can || t.TooLate(s.updater.Now()) || t.Tries >= maxDMAttempts {
		return chat.ChatDMDropped, 0, nil
	}
	a := Answer{Title: t.Notice.Title}
	if t.Notice.Text != "" {
		a.Lines = strings.Split(t.Notice.Text, "\n")
	}
	if at := s.updater.Page(t.Notice.About); at != "" {
		a.Links = []Link{{"View details", at}}
	}
	_, err := threads.Reply(ctx, t.Person, t.Thread, a)
	switch app.CodeOf(err) {
	case "":
		return chat.ChatDMSent, 0, nil
	case app.ENotFound:
		return chat.ChatDMDropped, 0, err
	case app.ECredentials:
		return chat.ChatDMWaiting, maxPause, err
	}
	return chat.ChatDMWaiting, max(app.AsError(err).RetryAfter, dmHold), err
}

// usualCommand is the bot's command if the person's is unknown.
const usualCommand = "/muster"
