package store

// chatStore keeps what chats keep.
type chatStore struct{ *DB }

// newChatStore gives the store in a database.
func newChatStore(d *DB) *chatStore { return &chatStore{d} }
