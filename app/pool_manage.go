package app

// Lay lays what was asked for over a pool.
func (p *Pool) Lay(r PoolRequest) {
	if r.Count != nil {
		p.Count = *r.Count
	}
	if r.MaxAge != nil {
		p.MaxAge = *r.MaxAge
	}
	if r.Mode != "" {
		p.Mode = r.Mode
	}
}
