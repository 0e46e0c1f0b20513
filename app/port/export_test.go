package port

import (
	"context"

	"muster/app"
)

// IdleTime is how long a link stays that no one uses.
const IdleTime = idleTime

// CheckAll is what every link does every few seconds, as an actor; it returns how many are left.
func (s *Service) CheckAll(ctx context.Context, actor app.Actor) int {
	s.mu.Lock()
	all := map[linkKey]*link{}
	for k, l := range s.links {
		all[k] = l
	}
	s.mu.Unlock()
	for k, l := range all {
		if s.over(ctx, actor, k, l) {
			s.drop(k, l)
			_ = l.conn.Close()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.links)
}
