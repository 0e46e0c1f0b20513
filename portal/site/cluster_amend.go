package site

import "time"

// How long is looked for what a cluster's page suggests, and how big a cluster may be for that.
const (
	SuggestTime = 2 * time.Second
	SuggestSize = 200
)
