package app

import "time"

// WorkerID names a worker. Names are unique among all workers that ever ran; a worker works for one tenant.
type WorkerID struct {
	Tenant string `json:"tenant"`
	Name   string `json:"name"`
}

// Retry says what happens after a failed attempt. The zero value is: nothing more, a person is to look at it.
type Retry struct {
	Again bool
	After time.Duration
	// Elsewhere asks the next attempt of a create for the machine at another place than this one, where there is one.
	Elsewhere bool
	// Free says that nothing was tried, as where a rate budget was empty or the worker had to stop: the attempt does
	// not count as a try.
	Free bool
}
