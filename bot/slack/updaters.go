package slack

import (
	"context"
	"sync"
	"time"

	"muster/app/chat"
	"muster/bot"
)

const (
	lookTeams = 15 * time.Second // between checks for workspaces and tokens due for refresh
	noteEvery = 30 * time.Second // of workspaces' states
)

// updaters are the updaters of all workspaces, while this server runs them.
type updaters struct {
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
	updater *bot.Updater
	stop    context.CancelFunc
	done    chan struct{}
}

// wake makes a workspace's updater check for news.
func (bs *updaters) wake(team string) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if r := bs.running[team]; r != nil {
		r.updater.Wake()
	}
}

// look reads the list of workspaces at once.
func (bs *updaters) look() {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if bs.changed != nil {
		select {
		case bs.changed <- struct{}{}:
		default:
		}
	}
}

// run updates messages and refreshes tokens of all workspaces until ctx ends. Only one server of a database may run it.
func (bs *updaters) run(ctx context.Context) {
	changed := make(chan struct{}, 1)
	bs.mu.Lock()
	bs.running, bs.changed = map[string]*running{}, changed
	bs.mu.Unlock()
	defer bs.stopUpdaters(nil)
	for {
		bs.teams.refreshDueTokens(ctx)
		bs.syncUpdaters(ctx)
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

// syncUpdaters starts updaters of connected workspaces and stops others.
func (bs *updaters) syncUpdaters(ctx context.Context) {
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
		if w.State != chat.StateConnected || w.Fixed && (bs.teams.token == "" || w.Team != fixed) {
			continue
		}
		wanted[w.Team] = true
		bs.mu.Lock()
		if bs.running[w.Team] == nil {
			bs.running[w.Team] = bs.startUpdater(ctx, w)
		}
		bs.mu.Unlock()
	}
	bs.stopUpdaters(wanted)
}

func (bs *updaters) startUpdater(ctx context.Context, w chat.Workspace) *running {
	h := workspacePoster{bs.teams, bs.people, w}
	updater := bot.NewUpdater(bot.Updater{Kind: kind, Team: w.Team, Tenant: w.Tenant, Poster: h, Bot: bs.bot, Page: bs.bot.Page,
		Cards: bs.uses.Cards, Details: bs.uses.Details, DMs: bs.uses.DMs, Homes: bs.uses.StaleHomes, Log: bs.log, Now: bs.now,
		More: []bot.Source{bot.NewReviewSource(bs.bot, bs.uses.Reviews, h, kind, w.Team, bs.log.Warn)}})
	ctx, stop := context.WithCancel(ctx)
	r := &running{updater: updater, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		updater.Run(ctx)
	}()
	return r
}

// stopUpdaters stops unwanted updaters.
func (bs *updaters) stopUpdaters(wanted map[string]bool) {
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
