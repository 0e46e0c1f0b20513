package slack

import (
	"context"
	"sync"
	"time"

	"muster/app/chat"
	"muster/bot"
)

const (
	lookTeams = 15 * time.Second // between two looks which workspaces there are, and whose tokens are due
	noteEvery = 30 * time.Second // of how workspaces do
)

// boards are the boards of all workspaces, while this server tends them.
type boards struct {
	*base
	teams  *teams
	people *people
	bot    *bot.Bot
	uses   UseCases

	mu      sync.Mutex
	running map[string]*running // by team
	changed chan struct{}
}

type running struct {
	board *bot.Board
	stop  context.CancelFunc
	done  chan struct{}
}

// wake tells the board of a workspace that there is something new.
func (bs *boards) wake(team string) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if r := bs.running[team]; r != nil {
		r.board.Wake()
	}
}

// look has the list of workspaces read at once.
func (bs *boards) look() {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if bs.changed != nil {
		select {
		case bs.changed <- struct{}{}:
		default:
		}
	}
}

// tend keeps what is shown in all workspaces true, and their tokens fresh, until ctx ends; one server of a database does.
func (bs *boards) tend(ctx context.Context) {
	changed := make(chan struct{}, 1)
	bs.mu.Lock()
	bs.running, bs.changed = map[string]*running{}, changed
	bs.mu.Unlock()
	defer bs.stopBoards(nil)
	for {
		bs.teams.tendTokens(ctx)
		bs.tendBoards(ctx)
		timer := time.NewTimer(lookTeams)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-changed:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// tendBoards begins boards for workspaces that are connected, and ends those of others.
func (bs *boards) tendBoards(ctx context.Context) {
	if bs.teams.token != "" && bs.teams.fixedTeam().Team == "" {
		bs.teams.learn(ctx)
	}
	list, err := bs.uses.Installations.ChatWorkspaces(ctx, kind)
	if err != nil {
		if ctx.Err() == nil {
			bs.log.Warn("slack: workspaces can't be read", "error", err)
		}
		return
	}
	wanted := map[string]bool{}
	fixed := bs.teams.fixedTeam().Team
	for _, w := range list {
		if w.State != chat.ChatConnected || w.Fixed && (bs.teams.token == "" || w.Team != fixed) {
			continue
		}
		wanted[w.Team] = true
		bs.mu.Lock()
		if bs.running[w.Team] == nil {
			bs.running[w.Team] = bs.startBoard(ctx, w)
		}
		bs.mu.Unlock()
	}
	bs.stopBoards(wanted)
}

func (bs *boards) startBoard(ctx context.Context, w chat.ChatWorkspace) *running {
	h := house{bs.teams, bs.people, w}
	board := bot.NewBoard(bot.Board{Kind: kind, Team: w.Team, Tenant: w.Tenant, Poster: h, Bot: bs.bot, Page: bs.bot.Page,
		Cards: bs.uses.Cards, Details: bs.uses.Details, Tells: bs.uses.Tells, Homes: bs.uses.StaleHomes, Log: bs.log, Now: bs.now,
		More: []bot.Source{bot.NewReviewSource(bs.bot, bs.uses.Reviews, h, kind, w.Team, bs.log.Warn)}})
	ctx, stop := context.WithCancel(ctx)
	r := &running{board: board, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		board.Run(ctx)
	}()
	return r
}

// stopBoards ends those that are not wanted.
func (bs *boards) stopBoards(wanted map[string]bool) {
	bs.mu.Lock()
	var ended []*running
	for team, r := range bs.running {
		if !wanted[team] {
			ended = append(ended, r)
			delete(bs.running, team)
		}
	}
	bs.mu.Unlock()
	for _, r := range ended {
		r.stop()
	}
	for _, r := range ended {
		<-r.done
	}
}
