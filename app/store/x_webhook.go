package store

import "muster/app/store/db"

// webhookStore keeps hooks and what they deliver.
type webhookStore struct{ *db.DB }

// newWebhookStore gives the store in a database.
func newWebhookStore(d *db.DB) *webhookStore { return &webhookStore{d} }
