package app

// Emptied tells that nothing is to stay in the pool.
func (p Pool) Emptied() bool { return p.Mode == PoolDrained || p.Mode == PoolDeleted }
