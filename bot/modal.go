package bot

import (
	"context"
	"encoding/json"
	"net/url"

	"muster/app"
)

func urlWord(s string) string { return url.QueryEscape(s) }

// read returns a form's note; an unreadable one counts as empty, since the form asks for everything again.
func (f Form) read() (n note) {
	if json.Unmarshal([]byte(f.Note), &n) != nil {
		return note{}
	}
	return n
}

func (b *Bot) Fill(ctx context.Context, p Person, f Form) Modal {
	m, err := b.fill(ctx, p, f)
	if err != nil {
		return InModal(b.sorry(p, err))
	}
	return m
}

func (b *Bot) fill(ctx context.Context, p Person, f Form) (Modal, error) {
	actor, err := b.accounts.actor(ctx, p)
	if err != nil {
		return Modal{}, err
	}
	switch r := b.request(p, actor); f.ID {
	case modalCreate:
		return b.creates.modal(ctx, r, f, f.read())
	case modalRun:
		return b.runs.modal(ctx, r, f, f.readRun())
	}
	return Modal{}, errNoForm
}

var errNoForm = &app.Error{Code: app.EInvalid, Message: "This form has expired.", Hint: "Close it and type the command again."}

func (b *Bot) Choices(ctx context.Context, p Person, f Form, typed string) []Choice {
	actor, err := b.accounts.actor(ctx, p)
	if err != nil {
		return nil
	}
	var list []Choice
	switch r := b.request(p, actor); f.ID {
	case modalCreate:
		list, err = b.creates.choices(ctx, r, f, typed)
	case modalRun:
		list, err = b.runs.choices(ctx, r, f, typed)
	}
	if err != nil {
		b.log.Warn("bot: choices can't be listed", "error", err)
	}
	return list
}

// Submit creates nothing that wasn't shown: if the plan differs from the one in the modal, it's shown first.
func (b *Bot) Submit(ctx context.Context, p Person, f Form) Submitted {
	s, err := b.submit(ctx, p, f)
	if err != nil {
		m := InModal(b.sorry(p, err))
		return Submitted{Modal: &m}
	}
	return s
}

func (b *Bot) submit(ctx context.Context, p Person, f Form) (s Submitted, err error) {
	actor, err := b.accounts.actor(ctx, p)
	if err != nil {
		return s, err
	}
	r := b.request(p, actor)
	switch f.ID {
	case formReview:
		return b.requests.reviewSubmit(ctx, r, f)
	case modalCreate:
		return b.creates.submit(ctx, r, f)
	case modalRun:
		return b.runs.submit(ctx, r, f)
	case modalManualStep:
		return b.questions.submit(ctx, r, f)
	}
	return s, errNoForm
}
