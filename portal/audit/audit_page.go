package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
)

// List is a page of the audit log.
type List struct {
	Query   url.Values // of the request
	Wide    bool       // the actor can see other tenants
	Entries []app.AuditEntry
	More    bool
	Problem string
	Proofs  []identity.AuditProof
}

// with returns a path with the page's filter and changed parameters.
func (l List) with(path string, pairs ...string) string {
	q := url.Values{}
	for _, k := range []string{"tenant", "who", "act", "object", "from", "to"} {
		if v := l.Query.Get(k); v != "" {
			q.Set(k, v)
		}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// older is the next page.
func (l List) older() string {
	last := l.Entries[len(l.Entries)-1]
	return l.with("/admin/audit", "after", strconv.FormatInt(last.Number, 10), "after_tenant", last.Tenant)
}

// auditChange is a changed value.
type auditChange struct{ Name, Before, After string }

// changesOf lists the changes of an entry, value by value.
func changesOf(d app.AuditEntry) (list []auditChange) {
	before, after := d.Change()
	b, isObject := before.(map[string]any)
	a, alsoObject := after.(map[string]any)
	if before == nil {
		b, isObject = map[string]any{}, alsoObject
	}
	if after == nil {
		a, alsoObject = map[string]any{}, isObject
	}
	if !isObject || !alsoObject {
		if before == nil && after == nil {
			return nil
		}
		return []auditChange{{Before: plain(before), After: plain(after)}}
	}
	names := map[string]bool{}
	for k := range b {
		names[k] = true
	}
	for k := range a {
		names[k] = true
	}
	for _, k := range slices.Sorted(maps.Keys(names)) {
		if x, y := plain(b[k]), plain(a[k]); x != y {
			list = append(list, auditChange{k, x, y})
		}
	}
	return list
}

// auditNote is a detail that is no change.
func auditNote(d app.AuditEntry) string {
	if before, after := d.Change(); before != nil || after != nil {
		return ""
	}
	if len(d.Detail) > 200 {
		return d.Detail[:200] + " …"
	}
	return d.Detail
}

func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func proofWords(p identity.AuditProof) string {
	if p.Intact {
		return fmt.Sprintf("%s: intact, %s. Keep the last hash outside Muster: %s", p.Tenant, humanize.Count(int(p.Entries), "entry"), p.Hash)
	}
	return fmt.Sprintf("%s: broken at entry %d. %s", p.Tenant, p.FirstInvalid, p.Reason)
}

// SecretList is the page of a tenant's secrets.
type SecretList struct {
	Now     time.Time
	Secrets []app.Secret
	Name    string // as typed
	Problem string
}
