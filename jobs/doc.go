// Package jobs is the queue and those who serve it. The dispatcher rings a tenant's doorbell (an asynq task that
// carries ids and nothing else) for every step that the ledger has queued; the tenant's worker hears it, claims a step
// from the server, carries it out, and reports. Retries, time limits and back-off live in the ledger, never in asynq:
// the queue may be lost whole at any moment and is then simply filled again.
//
// A bell says "there is work", not "do this": the worker is given the best queued step of its tenant, so that what is
// on the longest remaining path goes first however the bells were ordered. As many bells are rung as steps are queued,
// so none is forgotten, and a bell too many costs one look.
//
// What a failure means (again, later, never) is decided in retry.go and nowhere else.
package jobs
