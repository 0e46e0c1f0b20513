package site

import "time"

// Limits of requests: time, body size, and wait of a long poll.
const (
	RequestTime = 30 * time.Second
	PollTime    = 30 * time.Second
	FormLimit   = 256 << 10
	APILimit    = 1 << 20
)

// APIPath is the path of the REST API.
const APIPath = "/api/v1"
