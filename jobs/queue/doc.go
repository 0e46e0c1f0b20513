// Package queue wakes workers: for every step that is queued in the database, the Dispatcher puts a task into Redis, which carries
// ids and nothing else, and the tenant's worker hears it. The whole queue may be lost at any moment and is then filled again.
// It uses asynq, which nothing outside of it sees.
package queue
