package site

import "time"

// Limits of the suggestions on a cluster's page: time, and size of the cluster.
const (
	SuggestTime = 2 * time.Second
	SuggestSize = 200
)
