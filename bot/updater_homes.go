package bot

import (
	"context"
	"time"

	"muster/app"
	"muster/app/chat"
)

// StaleHomes are the homes that are out of date.
type StaleHomes interface {
	StaleHomes(ctx context.Context, kind, team string) ([]chat.Home, error)
	DropHome(ctx context.Context, h chat.Home) error
}

// homeSource updates homes that are open, or were recently.
type homeSource struct {
	updater   *Updater
	homes     StaleHomes
	publisher Publisher
	pauses    pauses
}

func (s *homeSource) Next(ctx context.Context, now time.Time) (best *Show, soon bool, err error) {
	list, err := s.homes.StaleHomes(ctx, s.updater.Kind, s.updater.Team)
	if err != nil {
		return nil, false, err
	}
	known := make(map[string]bool, len(list))
	for _, h := range list {
		name := h.Team + "/" + h.Person
		known[name] = true
		if best == nil && s.pauses.over(name, now) && now.Sub(h.ShownAt) >= homeEvery {
			best = &Show{Urgency: urgentHomes, Since: h.StaleAt, Do: func(ctx context.Context) error { return s.publish(ctx, h) }}
		}
	}
	s.pauses.keep(known)
	return best, len(list) > 0, nil
}

// publish shows a home if its content changed.
func (s *homeSource) publish(ctx context.Context, h chat.Home) error {
	b, name := s.updater.Bot, h.Team+"/"+h.Person
	p := Person{Kind: h.Kind, External: name, Tenant: s.updater.Tenant, Command: usualCommand, Zone: s.updater.zone(ctx, h.Person)}
	since := b.now()
	home, who := b.home(ctx, p)
	if home.digest() != h.Shown {
		err := s.publisher.Publish(ctx, h.Person, home)
		switch app.CodeOf(err) {
		case "":
		case app.ENotFound:
			return s.homes.DropHome(ctx, h)
		case app.ERateLimit:
			return err
		default:
			long := s.pauses.add(name, b.now())
			s.updater.Log.Warn("bot: a home couldn't be shown; retrying", "in", long, "error", err)
			return err
		}
	}
	delete(s.pauses, name)
	b.homes.noted(ctx, b.request(p, who), home, since, h.OpenedAt)
	return nil
}
