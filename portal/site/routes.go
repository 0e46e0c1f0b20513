package site

import "time"

// How long a request may take, how much it may send, and how long a long poll may wait.
const (
	RequestTime = 30 * time.Second
	PollTime    = 30 * time.Second
	FormLimit   = 256 << 10
	APILimit    = 1 << 20
)

// APIPath is where the REST API stands.
const APIPath = "/api/v1"
