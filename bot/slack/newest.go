package slack

import "sync"

// maxViews limits the tracked modals; people with more may briefly see an older answer.
const maxViews = 1000

// newest tracks each modal's latest change, so that an answer to an older one is neither shown nor blocks a newer one. Each server tracks
// its own.
type newest struct {
	mu    sync.Mutex
	of    map[string]*change // by view
	order []string
}

// change is a view's latest change.
type change struct {
	at      string        // Slack's time
	showing chan struct{} // held while an answer is being shown, so that an older one never replaces a newer one
}

// hear records a change.
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
	case len(n.order) == maxViews:
		delete(n.of, n.order[0])
		n.order = n.order[1:]
	}
	n.order = append(n.order, view)
	if n.of == nil {
		n.of = map[string]*change{}
	}
	n.of[view] = &change{at: at, showing: make(chan struct{}, 1)}
}

// show calls f, one call per view at a time, unless there was a newer change.
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

// is reports whether a change is a view's latest.
func (n *newest) is(view, at string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	last := n.of[view]
	return last == nil || last.at == at
}
