package slack

import (
	"slices"
	"sync"
	"time"
)

const (
	replyKept   = 5 * time.Minute
	mostReplies = 256
)

// replies are what was said recently over a websocket: where the connection is lost before Slack has got a reply, it sends again
// what it has not seen answered, and gets the same reply, without the work being done again.
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
	if len(r.list) == mostReplies {
		r.list = r.list[1:]
	}
	r.list = append(r.list, kept{name, what, now})
}

// of returns the reply to something that came before; nothing where it is not known any more, or was given by another server.
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
