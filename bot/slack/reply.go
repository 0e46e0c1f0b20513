package slack

import (
	"slices"
	"sync"
	"time"
)

const (
	replyKept  = 5 * time.Minute
	maxReplies = 256
)

// replies are the recent replies over a websocket: if a connection is lost before a reply arrives, Slack sends the envelope again and
// gets the same reply, without the work being repeated.
type replies struct {
	mu   sync.Mutex
	list []kept
}

type kept struct {
	id    string
	reply reply
	at    time.Time
}

func (r *replies) keep(how delivery, name string, what reply, now time.Time) {
	if !how.socket || name == "" || what.body == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = slices.DeleteFunc(r.list, func(k kept) bool { return now.Sub(k.at) > replyKept })
	if len(r.list) == maxReplies {
		r.list = r.list[1:]
	}
	r.list = append(r.list, kept{name, what, now})
}

// of returns the reply to a repeated envelope; nothing if it's forgotten, or another server replied.
func (r *replies) of(how delivery, name string) reply {
	if !how.socket || name == "" {
		return reply{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.list {
		if k.id == name {
			return k.reply
		}
	}
	return reply{}
}
