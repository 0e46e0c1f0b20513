// Package jobs is the queue and those who serve it. The dispatcher rings a tenant's doorbell (an asynq task that
// carries ids and nothing else) for every step that the ledger has queued; the tenant's worker hears it, claims a step
// from the server, carries it out, and reports. Retries, time limits and back-off live in the ledger, never in asynq:
// the queue may be lost whole at any moment and is then simply filled again.
//
// A bell says "there is work", not "do this": the worker is given the best queued step of its tenant, so that what is
// on the longest remaining path goes first however the bells were ordered. A bell wakes one slot of a worker; a slot that
// finds a step wakes another, and goes on from step to step until the server has none left. So a few bells set a whole
// worker going, a lost one costs nothing while anybody is at work, and one too many costs a look.
//
// What many steps want from the server at the same time travels in one message (desk.go).
//
// What a failure means (again, later, never) is decided in retry.go and nowhere else.
package jobs
