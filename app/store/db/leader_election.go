package db

import (
	"context"
	"time"
)

// peers are the other servers on one database, of which one leads.
type peers interface {
	// leadership reports whether this server leads, and for how long what a leader needs has not answered.
	leadership() (leads bool, unable time.Duration)
	reportHealthy()
	// want says that this server would lead, or does not want to any more.
	want(more int)
	// await waits until this server leads, and returns the term.
	await(ctx context.Context) (term context.Context, err error)
	close()
}

// channel is what servers on one database tell each other of commits on. A message is the id of the one who tells it and
// words: noteQueued, noteTopic with the text of a topic, noteAll for "more topics than fit".
const (
	channel    = "muster"
	noteQueued = "q"
	noteTopic  = "c:"
	noteAll    = "*"
)

// The leases: who leads, and that another server could.
const (
	leaseName     = "leader"
	candidateName = "able"
)

// databaseNow is the database's clock, so that those of the servers may differ.
const databaseNow = `(SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS micros) AS now`

// ReportHealthy says that what a leader needs beside the database, as the queue, answers now. Who says so once says so again at least
// every second: a server that does not is not able to lead, and one that leads yields to an able one, if there is one. Where it
// answers no one, anyone who leads continues. The first call may come before there is an answer.
func (s *DB) ReportHealthy() {
	if s.peers != nil {
		s.peers.reportHealthy()
	}
}

// Leads reports whether this server leads.
func (s *DB) Leads() bool {
	if s.peers == nil {
		return true
	}
	leads, _ := s.peers.leadership()
	return leads
}

// Lead runs work while this server is the one of several on the same database that leads, again in each of its terms,
// until ctx ends. The context of work ends with the term: two servers may both be at it for a moment, so what it does
// must be harmless twice. A leader that stops, hangs or is killed is followed by another within five seconds. A server alone, as on
// SQLite, always leads.
func (s *DB) Lead(ctx context.Context, work func(ctx context.Context)) {
	if s.peers == nil {
		work(ctx)
		return
	}
	s.peers.want(1)
	defer s.peers.want(-1)
	for ctx.Err() == nil {
		term, err := s.peers.await(ctx)
		if err != nil {
			return
		}
		both, cancel := context.WithCancel(ctx)
		stop := context.AfterFunc(term, cancel)
		work(both)
		stop()
		cancel()
	}
}

func (s *DB) Leader(ctx context.Context) (until, clock time.Time, known bool, err error) {
	if s.peers == nil {
		return until, clock, false, nil
	}
	var end, now int64
	err = s.Row(ctx, `SELECT coalesce((SELECT until FROM leases WHERE name = '`+leaseName+`'), 0), now.micros FROM `+databaseNow).Scan(&end, &now)
	return FromMicros(end), FromMicros(now), true, Wrapped(err)
}
