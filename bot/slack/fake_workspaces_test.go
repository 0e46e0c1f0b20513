package slack

import (
	"context"
	"sync"

	"muster/app"
	"muster/app/chat"
)

// fakeWorkspaces keeps workspaces in memory.
type fakeWorkspaces struct {
	mu       sync.Mutex
	list     map[string]chat.Workspace
	tokens   map[string]chat.ChatTokens
	channels map[string]string // tenants, by team and channel
	gone     []string
	health   map[string]chat.Health
	links    []chat.Connection
	linked   map[string]string // addresses that were asked for, by external
}

func (m *fakeApp) fakeWorkspaces() *fakeWorkspaces {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.home == nil {
		m.home = &fakeWorkspaces{list: map[string]chat.Workspace{}, tokens: map[string]chat.ChatTokens{}, channels: map[string]string{}, health: map[string]chat.Health{}, linked: map[string]string{}}
	}
	return m.home
}

func (m *fakeApp) ChatWorkspace(_ context.Context, _, team, enterprise string) (chat.Workspace, error) {
	h := m.fakeWorkspaces()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range []string{team, enterprise} {
		if w, ok := h.list[id]; ok {
			return w, nil
		}
	}
	return chat.Workspace{}, app.Errorf(app.ENotFound, "no workspace")
}

func (m *fakeApp) ChatWorkspaces(context.Context, string) (all []chat.Workspace, _ error) {
	h := m.fakeWorkspaces()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.list {
		all = append(all, w)
	}
	return all, nil
}

func (m *fakeApp) ChatTenant(_ context.Context, w chat.Workspace, channel string) (string, error) {
	h := m.fakeWorkspaces()
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.channels[w.Team+"/"+channel]; t != "" {
		return t, nil
	}
	return w.Tenant, nil
}

func (m *fakeApp) ChatHomeTenant(_ context.Context, w chat.Workspace, _ string) (string, error) {
	return w.Tenant, nil
}

func (m *fakeApp) KeepFixedWorkspace(_ context.Context, w chat.Workspace) error {
	h := m.fakeWorkspaces()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list[w.Team] = w
	return nil
}

func (m *fakeApp) ChatTokens(_ context.Context, _, team string) (chat.ChatTokens, error) {
	h := m.fakeWorkspaces()
	h.mu.Lock()
	defer h.mu.Unlock()
	t, ok := h.tokens[team]
	if !ok {
		return t, &app.Error{Code: app.ECredentials, Reason: "no_token", Message: "no token"}
	}
	return t, nil
}

func (m *fakeApp) ChatTokensDue(context.Context, string) ([]chat.Workspace, error) {
	return nil, nil
}

func (m *fakeApp) RefreshChatTokens(ctx context.Context, _, team, _ string, refresh func(ctx context.Context, token string) (chat.ChatTokens, error)) (chat.ChatTokens, error) {
	h := m.fakeWorkspaces()
	h.mu.Lock()
	defer h.mu.Unlock()
	t, err := refresh(ctx, h.tokens[team].Refresh)
	if err == nil {
		h.tokens[team] = t
	}
	return t, err
}

func (m *fakeApp) ChatGone(_ context.Context, _, team, _ string) error {
	h := m.fakeWorkspaces()
	h.mu.Lock()
	defer h.mu.Unlock()
	if m.unwell {
		return app.Errorf(app.ETransient, "the database is away")
	}
	h.gone = append(h.gone, team)
	delete(h.list, team)
	delete(h.tokens, team)
	return nil
}

func (m *fakeApp) NoteChat(_ context.Context, _, team string, health chat.Health) error {
	h := m.fakeWorkspaces()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.health[team] = health
	return nil
}

func (m *fakeApp) NoteChatConnection(_ context.Context, l chat.Connection) error {
	h := m.fakeWorkspaces()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.links = append(h.links, l)
	return nil
}

func (m *fakeApp) LinkByEmail(_ context.Context, _, external, _, _, email string) (bool, error) {
	h := m.fakeWorkspaces()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.linked[external] = email
	return false, nil
}
