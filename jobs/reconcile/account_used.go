package reconcile

import "context"

// used reports whether an account has anything to check. One that was only put into the catalog is asked nothing until it is used; once it was, it stays so.
func (r *Reconciler) used(ctx context.Context, name string) (bool, error) {
	if spec := r.accounts()[name]; r.Used == nil || spec != nil && spec.Own != nil {
		return true, nil
	}
	r.mu.Lock()
	known := r.seen[name]
	r.mu.Unlock()
	if known {
		return true, nil
	}
	used, err := r.Used(ctx, name)
	if err != nil || !used {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[name] = true
	return true, nil
}
