package store

import "muster/app/store/db"

// chatStore keeps what chats keep.
type chatStore struct{ *db.DB }

// newChatStore gives the store in a database.
func newChatStore(d *db.DB) *chatStore { return &chatStore{d} }
