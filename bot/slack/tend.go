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
func (b *boards) wake(team string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.running[team]; r != nil {
		r.board.Wake()
	}
}

// look has the list of workspaces read at once.
func (b *boards) look() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed != nil {
		select {
		case b.changed <- struct{}{}:
		default:
		}
	}
}

// Tend keeps what is shown in all workspaces true, and their tokens fresh, until ctx ends; one server of a database does.
func (s *Server) Tend(ctx context.Context) {
	changed := make(chan struct{}, 1)
	s.boards.mu.Lock()
	s.boards.running, s.boards.changed = map[string]*running{}, changed
	s.boards.mu.Unlock()
	defer s.stopBoards(nil)
	for {
		s.tendTokens(ctx)
		s.tendBoards(ctx)
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
func (s *Server) tendBoards(ctx context.Context) {
	if s.token != "" && s.fixedTeam().Team == "" {
		s.learn(ctx)
	}
	list, err := s.uses.Workspaces.ChatWorkspaces(ctx, kind)
	if err != nil {
		if ctx.Err() == nil {
			s.log.Warn("slack: the workspaces cannot be read", "error", err)
		}
		return
	}
	wanted := map[string]bool{}
	fixed := s.fixedTeam().Team
	for _, w := range list {
		if w.State != chat.ChatConnected || w.Fixed && (s.token == "" || w.Team != fixed) {
			continue
		}
		wanted[w.Team] = true
		s.boards.mu.Lock()
		if s.boards.running[w.Team] == nil {
			s.boards.running[w.Team] = s.startBoard(ctx, w)
		}
		s.boards.mu.Unlock()
	}
	s.stopBoards(wanted)
}

func (s *Server) startBoard(ctx context.Context, w chat.ChatWorkspace) *running {
	h := house{s, w}
	b := bot.NewBoard(bot.Board{Kind: kind, Team: w.Team, Tenant: w.Tenant, Cards: s.uses.Cards, Details: s.uses.Details, Faces: s.uses.Faces, Poster: h, Log: s.log, Now: s.now, Page: s.bot.Page, Bot: s.bot,
		More: []bot.Source{bot.NewReviewSource(s.bot, s.uses.Reviews, h, kind, w.Team, s.log.Warn)}})
	ctx, stop := context.WithCancel(ctx)
	r := &running{board: b, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		b.Run(ctx)
	}()
	return r
}

// stopBoards ends those that are not wanted.
func (s *Server) stopBoards(wanted map[string]bool) {
	s.boards.mu.Lock()
	var ended []*running
	for team, r := range s.boards.running {
		if !wanted[team] {
			ended = append(ended, r)
			delete(s.boards.running, team)
		}
	}
	s.boards.mu.Unlock()
	for _, r := range ended {
		r.stop()
	}
	for _, r := range ended {
		<-r.done
	}
}

// tendTokens refreshes tokens long before they end.
func (s *Server) tendTokens(ctx context.Context) {
	if s.clientID == "" {
		return
	}
	due, err := s.uses.Tokens.ChatTokensDue(ctx, kind)
	for _, w := range due {
		if _, e := s.uses.Tokens.RefreshChatTokens(ctx, kind, w.Team, s.server, s.refresh); e != nil && ctx.Err() == nil {
			s.budget(w.Team).fail("The token could not be refreshed.")
			s.log.Warn("slack: a token could not be refreshed", "team", w.Team, "error", e)
		}
	}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("slack: it cannot be read which tokens are due", "error", err)
	}
}

// Run is what every server does until ctx ends: it listens to Slack over a websocket where it has a token for that, and notes how
// workspaces do.
func (s *Server) Run(ctx context.Context) {
	var wg sync.WaitGroup
	if s.appToken != "" {
		wg.Go(func() { s.listen(ctx) })
	}
	for unlessDone(ctx, noteEvery) {
		s.noteAll(ctx)
	}
	wg.Wait()
}

// noteAll writes down how workspaces do that were spoken to since the last time.
func (s *Server) noteAll(ctx context.Context) {
	s.teams.mu.Lock()
	list := make(map[string]*budget, len(s.teams.budgets))
	for team, b := range s.teams.budgets {
		if team != "" {
			list[team] = b
		}
	}
	s.teams.mu.Unlock()
	for team, b := range list {
		h, changed := b.health()
		if !changed {
			continue
		}
		if err := s.uses.Health.NoteChat(ctx, kind, team, h); err != nil && ctx.Err() == nil {
			s.log.Warn("slack: how a workspace does could not be noted", "team", team, "error", err)
		}
	}
}
