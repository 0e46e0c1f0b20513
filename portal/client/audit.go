package client

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"muster/app"
	"muster/app/identity"
)

// Audit verifies the audit log.
type Audit part

// Expect compares an entry with a known hash.
func (c *Audit) Expect(ctx context.Context, p *identity.AuditProof, number int64, hash string) error {
	q := url.Values{"tenant": {p.Tenant}, "after": {strconv.FormatInt(number+1, 10)}, "limit": {"1"}}
	var out struct {
		Entries []app.AuditEntry `json:"entries"`
	}
	if err := c.client.CallInto(ctx, "/audit", q, &out); err != nil {
		return err
	}
	if p.Intact && (len(out.Entries) == 0 || out.Entries[0].Number != number || out.Entries[0].Hash != hash) {
		p.Intact, p.FirstInvalid, p.Reason = false, number, fmt.Sprintf("The hash of entry %d doesn't match the expected one.", number)
	}
	return nil
}
