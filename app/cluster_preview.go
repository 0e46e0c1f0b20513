package app

import (
	"maps"
	"time"
)

// SetLease sets for how long the cluster lives, by the template's rules, and what that costs. Nothing else of a preview depends on it.
func (p *Preview) SetLease(t *Template, asked *time.Duration) (err error) {
	p.Lease, err = t.Lease.initial(asked)
	p.Cost = p.Layout.CostPerHour * p.Lease.Hours()
	return err
}

// MergeConfig lays over onto base, map by map; neither is changed.
func MergeConfig(base, over map[string]any) map[string]any {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range over {
		b, isMap := out[k].(map[string]any)
		if o, ok := v.(map[string]any); ok && isMap {
			v = MergeConfig(b, o)
		}
		out[k] = v
	}
	return out
}

func FirstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// initial gives how long a new cluster may live; 0 is for ever. The rules are Coopr's: without an initial lease in the
// template anything goes, with one it is also the longest.
func (l Lease) initial(asked *time.Duration) (time.Duration, error) {
	switch {
	case asked == nil:
		return l.Initial, nil
	case *asked < 0:
		return 0, &Error{Code: EInvalid, Field: "lease", Message: "A lease cannot be negative.", Hint: `Say for example "8h", or "forever".`}
	case l.Initial == 0:
		return *asked, nil
	case *asked == 0:
		return 0, &Error{Code: EInvalid, Field: "lease", Message: "This template does not allow clusters that live for ever.",
			Hint: "Ask for at most " + l.Initial.String() + "."}
	case *asked > l.Initial:
		return 0, &Error{Code: EInvalid, Field: "lease", Message: "The lease is longer than this template allows.",
			Hint: "Ask for at most " + l.Initial.String() + "."}
	}
	return *asked, nil
}
