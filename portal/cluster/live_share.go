package cluster

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/a-h/templ"
)

// sharedLook is one reading of a cluster for several open pages of the same person: changes are read and rendered once for all
// of them. Different people don't share it, since it includes their permissions and manual steps. It must not be modified.
type sharedLook struct {
	c Show

	mu   sync.Mutex
	html map[string]drawnPart
}

type drawnPart struct {
	html []byte
	sum  uint32
}

// keyOf identifies what a page shows, and to whom.
func (l *live) keyOf() string {
	return fmt.Sprintf("%q %q %q %q %q %q %q %q %d %+v", l.a.Tenant, l.a.Home, l.a.User, l.a.Role, strings.Join(l.a.Groups, ","), l.id, l.node, l.step, l.from, l.drawn)
}

// logKey identifies lines of a log. People don't share them, since configuration values are hidden from some.
func (l *live) logKey() string {
	return fmt.Sprintf("%q %q %q %q %q %q %q %d", l.a.Tenant, l.a.Home, l.a.User, l.a.Role, l.id, l.node, l.step, l.after)
}

// shareLook returns the cluster, at least as new as the event that the page knows of, and whether it was read for this page.
func (l *live) shareLook(ctx context.Context) (*sharedLook, bool, error) {
	since := l.p.Broadcaster.Now(l.id)
	return l.p.looks.Get(ctx, l.keyOf(), since, func(ctx context.Context) (*sharedLook, error) {
		c, err := l.p.readClusterSince(ctx, l.a, l.id, since)
		if err != nil {
			return nil, err
		}
		c.Node, c.Step, c.NodesFrom = l.node, l.step, l.from
		if err := l.p.draw(ctx, l.a, &c, l.drawn); err != nil {
			return nil, err
		}
		return &sharedLook{c: c, html: map[string]drawnPart{}}, nil
	})
}

// part renders a piece of the page, once for all.
func (k *sharedLook) part(ctx context.Context, id string, c templ.Component) (drawnPart, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p, ok := k.html[id]; ok {
		return p, nil
	}
	p, err := drawPart(ctx, c)
	if err == nil {
		k.html[id] = p
	}
	return p, err
}

func drawPart(ctx context.Context, c templ.Component) (drawnPart, error) {
	var b bytes.Buffer
	err := c.Render(ctx, &b)
	return drawnPart{b.Bytes(), digest(b.Bytes())}, err
}
