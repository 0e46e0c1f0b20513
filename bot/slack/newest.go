package slack

import "sync"

// mostViews is how many open modals are remembered; who has more of them sees an older answer for a moment.
const mostViews = 1000

// newest remembers which change of a modal was heard last, so that an answer to an older one neither shows nor keeps a newer one
// from being shown. Servers remember each for itself.
type newest struct {
	mu    sync.Mutex
	of    map[string]*change // by view
	order []string
}

// change is the last one that was heard of a view.
type change struct {
	at      string        // when, as Slack says it
	showing chan struct{} // holds an answer while it is being shown, so that an older one never ends up on top of a newer one
}

// hear notes a change.
func (n *newest) hear(view, at string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	last := n.of[view]
	switch {
	case last != nil && len(at) <= len(last.at) && at < last.at:
		return
	case last != nil:
		last.at = at
		return
	case len(n.order) == mostViews:
		delete(n.of, n.order[0])
		n.order = n.order[1:]
	}
	n.order = append(n.order, view)
	if n.of == nil {
		n.of = map[string]*change{}
	}
	n.of[view] = &change{at: at, showing: make(chan struct{}, 1)}
}

// show calls f, alone for the view, unless something newer was heard of it.
func (n *newest) show(view, at string, f func()) {
	n.mu.Lock()
	last := n.of[view]
	n.mu.Unlock()
	if last != nil {
		last.showing <- struct{}{}
		defer func() { <-last.showing }()
	}
	if n.is(view, at) {
		f()
	}
}

// is tells whether nothing newer was heard of a view.
func (n *newest) is(view, at string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	last := n.of[view]
	return last == nil || last.at == at
}
