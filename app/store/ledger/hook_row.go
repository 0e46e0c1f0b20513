package ledger

import (
	"encoding/json"
	"strings"
	"time"

	"muster/app"
	"muster/app/store/db"
	"muster/app/webhook"
)

// HookColumns are those of a hook h, as ScanHook scans them.
const HookColumns = `h.id, h.tenant, h.name, h.shown, h.kinds, h.format, h.recipient, h.secret_at, h.old_until, h.enabled, h.stopped_reason, h.failures,
	h.phase, h.operations, h.timeout, h.on_timeout, h.script, h.on_services, h.created_by, h.created_at, h.changed_at, h.last_id, h.last_at, h.last_took, h.last_status, h.last_code, h.last_error,
	(SELECT count(*) FROM webhook_deliveries d WHERE d.hook = h.id AND d.state = 'waiting' AND (d.notice > 0 OR d.operation > 0)),
	COALESCE((SELECT d.next_at FROM webhook_deliveries d WHERE d.hook = h.id AND d.state = 'waiting' AND d.notice > 0 ORDER BY d.id LIMIT 1), 0)`

// ScanHook reads a row of HookColumns, and of what follows them.
func ScanHook(row db.Scanner, more ...any) (webhook.Endpoint, error) {
	var h webhook.Endpoint
	var last webhook.LastAttempt
	var kinds, operations string
	var services []byte
	var patience, secretAt, oldUntil, enabled, created, changed, at, took, next int64
	err := row.Scan(append([]any{&h.ID, &h.Tenant, &h.Name, &h.URL, &kinds, &h.Format, &h.To, &secretAt, &oldUntil, &enabled, &h.Problem, &h.Failures,
		&h.When, &operations, &patience, &h.OnTimeout, &h.Script, &services, &h.CreatedBy, &created, &changed, &last.Delivery, &at, &took, &last.Status, &last.Code, &last.Error, &h.Waiting, &next}, more...)...)
	h.Kinds, h.SecretAt, h.OldSecretUntil, h.NextAt = wordsOf[app.NoticeKind](kinds), db.FromMicros(secretAt), db.FromMicros(oldUntil), db.FromMicros(next)
	h.Operations, h.Timeout = wordsOf[app.OperationKind](operations), time.Duration(patience)*time.Microsecond
	if err == nil && len(services) > 0 {
		err = json.Unmarshal(services, &h.Services)
	}
	h.CreatedAt, h.ChangedAt = db.FromMicros(created), db.FromMicros(changed)
	switch {
	case enabled == 0:
		h.State = webhook.HookOff
	case h.Problem != "":
		h.State = webhook.HookStopped
	default:
		h.State = webhook.HookActive
	}
	if last.Delivery != 0 {
		last.At, last.Duration = db.FromMicros(at), time.Duration(took)*time.Microsecond
		h.Last = &last
	}
	return h, err
}

func wordsOf[W ~string](text string) (words []W) {
	for w := range strings.SplitSeq(strings.Trim(text, ","), ",") {
		if w != "" {
			words = append(words, W(w))
		}
	}
	return words
}
