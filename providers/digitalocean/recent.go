package digitalocean

import (
	"sync"
	"time"
)

// recent is what this process asked for a short while ago, which lists may lack.
type recent struct {
	keep time.Duration

	mu   sync.Mutex
	made map[string]made // by intent
}

// made is a droplet that was just asked for.
type made struct {
	id int // 0 where no answer came that says whether it was made
	at time.Time
}

// remember keeps what was asked for until lists are sure to show it.
func (r *recent) remember(intent string, id int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, m := range r.made {
		if time.Since(m.at) > r.keep {
			delete(r.made, k)
		}
	}
	r.made[intent] = made{id, time.Now()}
}

// find returns the droplet that this process asked for a short while ago for an intent.
func (r *recent) find(intent string) (made, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, ok := r.made[intent]
	return m, ok
}

// forget drops what is deleted.
func (r *recent) forget(id int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, m := range r.made {
		if m.id == id {
			delete(r.made, k)
		}
	}
}
