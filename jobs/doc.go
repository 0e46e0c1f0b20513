// Package jobs has the workers. For every step that is queued in the database, the dispatcher (jobs/queue) sends a wake-up to the tenant's queue. The
// tenant's worker hears it, claims a step from the server, carries it out and reports. Retries, time limits and back-off are in the database,
// never in the queue: the whole queue may be lost at any moment and is then filled again.
//
// A wake-up says "there is work", not "do this": the worker receives the best queued step of its tenant, so that the
// longest remaining path goes first in whatever order wake-ups arrive. Each wakes one slot of a worker. A slot that
// finds a step wakes another one, and continues from step to step until the server has none left. So a few wake-ups are
// enough for a whole worker, a lost one costs nothing while any slot works, and one too many costs one request.
//
// What many steps ask of the server at the same time is sent in one message (batcher.go).
//
// What a failure means (again, later, never) is decided in retry.go and nowhere else.
package jobs
