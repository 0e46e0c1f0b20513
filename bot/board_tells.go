package bot

import (
	"context"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/chat"
)

// Tells are the records of direct messages.
type Tells interface {
	GatherChat(ctx context.Context, kind string) error
	ChatTells(ctx context.Context, kind, team string) ([]chat.ChatTell, error)
	BeginTell(ctx context.Context, t chat.ChatTell, hold time.Duration) (bool, error)
	EndTell(ctx context.Context, id int64, s chat.ChatTellState, after time.Duration) error
}

const (
	tellHold = time.Minute // how long a message that may have been sent is left alone
	mostTell = 12          // attempts
)

// tellSource sends direct messages. A message that may have been sent is looked for in the chat before it's sent again, so that each
// arrives once even if a server dies. If the chat doesn't let the bot look, it's sent again: better twice than never.
type tellSource struct {
	board  *Board
	tells  Tells
	teller Teller
}

func (s *tellSource) Next(ctx context.Context, now time.Time) (*Show, bool, error) {
	if err := s.tells.GatherChat(ctx, s.board.Kind); err != nil {
		return nil, false, err
	}
	list, err := s.tells.ChatTells(ctx, s.board.Kind, s.board.Team)
	if err != nil || len(list) == 0 {
		return nil, false, err
	}
	t := list[0]
	return &Show{Urgency: urgentTold, Since: t.Notice.At, Do: func(ctx context.Context) error { return s.tell(ctx, t) }}, true, nil
}

func (s *tellSource) tell(ctx context.Context, t chat.ChatTell) error {
	mine, err := s.tells.BeginTell(ctx, t, tellHold)
	if err != nil || !mine {
		return err
	}
	state, after, err := s.send(ctx, t)
	if err != nil {
		s.board.Log.Warn("bot: a direct message couldn't be sent", "notice", t.Notice.ID, "state", state, "error", err)
	}
	if state != chat.ChatTellSending {
		if e := s.tells.EndTell(ctx, t.ID, state, after); e != nil {
			s.board.Log.Warn("bot: a direct message couldn't be recorded", "notice", t.Notice.ID, "error", e)
		}
	}
	return err
}

// send returns the message's new state: sending if unknown.
func (s *tellSource) send(ctx context.Context, t chat.ChatTell) (chat.ChatTellState, time.Duration, error) {
	b := s.board.Bot
	if t.Thread != "" {
		return s.beneath(ctx, t)
	}
	p := Person{Kind: t.Kind, External: t.Team + "/" + t.Person, Tenant: t.Tenant, Command: usualCommand, Zone: s.board.zone(ctx, t.Person)}
	actor, err := b.accounts.actor(ctx, p)
	switch code := app.CodeOf(err); {
	case code == app.EUnauthorized, code == app.EForbidden, err == nil && actor.User != t.User, t.TooLate(b.now()), t.Tries >= mostTell:
		return chat.ChatTellDropped, 0, nil
	case err != nil:
		return chat.ChatTellWaiting, tellHold, err
	}
	key := strconv.FormatInt(t.Notice.ID, 10)
	if t.State == chat.ChatTellSending {
		told, err := s.teller.Told(ctx, t.Person, key, t.BeganAt.Add(-tellHold))
		switch code := app.CodeOf(err); {
		case told:
			return chat.ChatTellTold, 0, nil
		case code == app.ETransient, code == app.ERateLimit:
			return chat.ChatTellSending, 0, err // look for it again
		}
	}
	err = s.teller.Tell(ctx, t.Person, key, b.notices.told(ctx, b.request(p, actor), t.Notice))
	switch app.CodeOf(err) {
	case "":
		return chat.ChatTellTold, 0, nil
	case app.ENotFound:
		return chat.ChatTellDropped, 0, err
	case app.ERateLimit, app.ECredentials:
		return chat.ChatTellWaiting, max(app.AsError(err).RetryAfter, tellHold), err
	}
	return chat.ChatTellSending, 0, err
}

// beneath replies in a card's thread, for everyone there. The bot can't check whether the reply arrived, so after an unclear answer it's
// sent again: better twice than never.
func (s *tellSource) beneath(ctx context.Context, t chat.ChatTell) (chat.ChatTellState, time.Duration, error) {
	threads, can := s.teller.(Threads)
	if !can || t.TooLate(s.board.Now()) || t.Tries >= mostTell {
		return chat.ChatTellDropped, 0, nil
	}
	a := Answer{Title: t.Notice.Title}
	if t.Notice.Text != "" {
		a.Lines = strings.Split(t.Notice.Text, "\n")
	}
	if at := s.board.Page(t.Notice.About); at != "" {
		a.Links = []Link{{"View details", at}}
	}
	_, err := threads.Reply(ctx, t.Person, t.Thread, a)
	switch app.CodeOf(err) {
	case "":
		return chat.ChatTellTold, 0, nil
	case app.ENotFound:
		return chat.ChatTellDropped, 0, err
	case app.ECredentials:
		return chat.ChatTellWaiting, mostPause, err
	}
	return chat.ChatTellWaiting, max(app.AsError(err).RetryAfter, tellHold), err
}

// usualCommand is the bot's command if the person's is unknown.
const usualCommand = "/muster"
