package store

// webhookStore keeps hooks and what they deliver.
type webhookStore struct{ *DB }

// newWebhookStore gives the store in a database.
func newWebhookStore(d *DB) *webhookStore { return &webhookStore{d} }
