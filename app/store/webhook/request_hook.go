package webhook

import (
	"context"
	"fmt"
	"time"

	"muster/app/store/db"
	"muster/app/store/ledger"
	"muster/app/template"
	"muster/app/webhook"
)

// RequestHooks returns the hooks of a tenant that are asked about requests and are not switched off, by name.
func (s *Store) RequestHooks(ctx context.Context, tenant string, now time.Time) (list []webhook.RequestHook, err error) {
	type sealed struct {
		url, secret, old []byte
		until            int64
	}
	var rows []sealed
	if err := s.Each(ctx, func(row db.Scanner) error {
		var r sealed
		h, err := ledger.ScanHook(row, &r.url, &r.secret, &r.old, &r.until)
		list, rows = append(list, webhook.RequestHook{Endpoint: h}), append(rows, r)
		return err
	}, `SELECT `+ledger.HookColumns+`, h.url, h.secret, h.old_secret, h.old_until FROM webhooks h WHERE h.tenant = ? AND h.phase = ? AND h.enabled = 1 ORDER BY h.name`,
		tenant, string(template.HookRequest)); err != nil {
		return nil, err
	}
	for i, r := range rows {
		h := &list[i]
		open := func(b []byte, place string) []byte {
			plain, bad := s.Unseal(b, place+h.Tenant+"/"+h.Name)
			if bad != nil && err == nil {
				err = fmt.Errorf("webhook %s: %w", h.Name, bad)
			}
			return plain
		}
		h.Address, h.Secrets = string(open(r.url, "hook_urls/")), [][]byte{open(r.secret, "hook_secrets/")}
		if db.FromMicros(r.until).After(now) {
			h.Secrets = append(h.Secrets, open(r.old, "hook_secrets/"))
		}
	}
	return list, err
}
