package db

import (
	"cmp"
	"context"
	"slices"
	"time"

	"muster/app/webhook"
)

type head struct {
	id, notice, next, held int64
	tenant                 string
}

// choose picks what is due, as far as the claim has room, and says when the next one is due after now.
func choose(all []head, c webhook.DeliveryClaim) (ids []int64, next time.Time) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b head) int {
		return cmp.Or(cmp.Compare(min(a.notice, 1), min(b.notice, 1)), cmp.Compare(a.next, b.next), cmp.Compare(a.id, b.id))
	})
	busy := map[string]int{}
	for _, h := range all {
		at := h.due(c.Now)
		switch {
		case at.After(c.Now):
			if next.IsZero() || at.Before(next) {
				next = at
			}
		case len(ids) < c.Most && c.Busy[h.tenant]+busy[h.tenant] < c.PerTenant:
			busy[h.tenant]++
			ids = append(ids, h.id)
		}
	}
	return ids, next
}

// ClaimHeads takes what is due of the deliveries that are next, as query returns them; take may be called again where the transaction
// has to be begun again. Where nothing is due it writes nothing.
func (s *DB) ClaimHeads(ctx context.Context, query string, c webhook.DeliveryClaim, take func(t *Tx, ids []int64) error) (next time.Time, err error) {
	var all []head
	note := func(row Scanner) error {
		var h head
		err := h.scan(row)
		all = append(all, h)
		return err
	}
	if err = s.Each(ctx, note, query); err != nil {
		return next, err
	}
	ids, next := choose(all, c)
	if len(ids) == 0 {
		return next, nil
	}
	err = s.Write(ctx, func(t *Tx) error {
		all = nil
		if err := t.Each(note, query); err != nil {
			return err
		}
		ids, next = choose(all, c)
		return take(t, ids)
	})
	return next, err
}

// due tells when a head may be taken; a time that no delivery could wait for was written before the clock was set back.
func (h head) due(now time.Time) time.Time {
	at := max(h.next, h.held)
	if at > Micros(now.Add(webhook.DeliveryTime+time.Hour)) {
		return now
	}
	return FromMicros(at)
}

func (h *head) scan(row Scanner) error {
	return row.Scan(&h.id, &h.tenant, &h.notice, &h.next, &h.held)
}
