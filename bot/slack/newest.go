package slack

import "sync"

// mostViews is how many open modals are remembered; who has more of them sees an older answer for a moment.
const mostViews = 1000

// newest remembers which change of a modal was heard last, so that an answer to an older one neither shows nor keeps a newer one
// from being shown. Servers remember each for itself.
type newest struct {
	mu    sync.Mutex
	of    map[string]string // by view: when it was changed, as Slack says it
	order []string
}

// hear notes a change.
func (n *newest) hear(view, at string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	last, known := n.of[view]
	switch {
	case known && len(at) <= len(last) && at < last:
		return
	case !known && len(n.order) == mostViews:
		delete(n.of, n.order[0])
		n.order = n.order[1:]
	}
	if !known {
		n.order = append(n.order, view)
	}
	if n.of == nil {
		n.of = map[string]string{}
	}
	n.of[view] = at
}

// is tells whether nothing newer was heard of a view.
func (n *newest) is(view, at string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	last, known := n.of[view]
	return !known || last == at
}
