package portal

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"muster/app"
)

// drawnPage is one rendering of a live page, shared by all pages of the same sign-in and address. People don't share it, since permissions
// differ. It must not be changed.
type drawnPage struct {
	parts  []drawnOne
	counts map[string]int
}

// drawnOne is a rendered LiveOne.
type drawnOne struct {
	id, html string
	rows     []drawnRow // not nil: the children of the element, in order; then html is not used
}

type drawnRow struct{ id, html string }

// liveTopics names a page's topics for an actor.
func liveTopics(a app.Actor, wakes []app.Topic) string {
	return fmt.Sprintf("%q %q", a.Tenant, wakes)
}

// drawn returns the page's current rendering, when it's its turn. Lists of a busy tenant change all the time, and each of its people has their
// own: reads may use half of what a few processors can do, or they would slow down the very work that they show.
func (l *liveState) drawn(ctx context.Context) (*drawnPage, error) {
	select {
	case l.p.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.cost = 0
	defer func() { time.AfterFunc(l.cost, func() { <-l.p.turns }) }() // also if the read panics: the turn isn't its alone
	begun := time.Now()
	// All fields of the actor count, since permissions change what is shown.
	d, mine, err := l.p.drawn.Get(ctx, fmt.Sprintf("%#v %q", l.a, l.at.String()), l.p.Broadcaster.Now(l.topics), func(ctx context.Context) (*drawnPage, error) {
		return drawPage(ctx, l.a, l.at, l.page.read, l.counts)
	})
	if mine {
		l.cost = time.Since(begun)
	}
	return d, err
}

func drawPage(ctx context.Context, a app.Actor, at *url.URL, read liveRead, counts func(context.Context, app.Actor) map[string]int) (*drawnPage, error) {
	parts, err := read(ctx, a, at)
	if err != nil {
		return nil, err
	}
	d := &drawnPage{parts: make([]drawnOne, len(parts))}
	for i, one := range parts {
		d.parts[i].id = one.ID
		if one.Rows == nil {
			if d.parts[i].html, err = rendered(ctx, one.HTML); err != nil {
				return nil, err
			}
			continue
		}
		d.parts[i].rows = make([]drawnRow, len(one.Rows))
		for j, row := range one.Rows {
			html, err := rendered(ctx, row.HTML)
			if err != nil {
				return nil, err
			}
			d.parts[i].rows[j] = drawnRow{row.ID, html}
		}
	}
	d.counts = counts(ctx, a)
	return d, nil
}
