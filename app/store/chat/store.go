package chat

import "muster/app/store/db"

// Store keeps what chats keep.
type Store struct{ *db.DB }

// New gives the store in a database.
func New(d *db.DB) *Store { return &Store{d} }
