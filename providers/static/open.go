package static

import (
	"context"
	"log/slog"
	"time"

	"muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/keylock"
	"muster/providers/static/internal/shell"
)

// Env is what the provider may know of the process that it runs in.
type Env struct {
	DataDir string       // a directory for this account alone; made when it is needed
	Logger  *slog.Logger // nil means no logging
	Network account.Network
}

const (
	handshakes   = 16               // running at once
	asked        = 64               // machines that are asked at once
	probeTimeout = 15 * time.Second // for the answer to a look
)

type provider struct {
	settings
	pool   *shell.Pool
	memory *memory
	log    *slog.Logger
	locks  keylock.Locks

	// after is called between the parts of what takes several; in tests, an error is a crash there.
	after func(part string) error
}

var (
	_ family.Provider       = (*provider)(nil)
	_ family.ProviderCloser = (*provider)(nil)
	_ family.Adopter        = (*provider)(nil)
	_ family.AccountChecker = (*provider)(nil)
	_ family.Offerer        = (*provider)(nil)
)

// Open returns the machines of the settings. It asks none of them yet.
func Open(raw map[string]any, env Env) (family.Provider, error) { return open(raw, env) }

func open(raw map[string]any, env Env) (*provider, error) {
	s, err := read(account.Settings(raw))
	if err != nil {
		return nil, err
	}
	if s.pinning && env.DataDir == "" {
		return nil, account.Invalid("unknown_host_keys", "host keys can't be pinned without a data directory")
	}
	if env.Logger == nil {
		env.Logger = slog.New(slog.DiscardHandler)
	}
	pool := shell.NewPool(s.key, handshakes)
	pool.Via(env.Network.Dial)
	return &provider{settings: s, pool: pool, memory: newMemory(env.DataDir), log: env.Logger,
		after: func(string) error { return nil }}, nil
}

// Close ends the connections.
func (p *provider) Close() error { return p.pool.Close() }

// run has a machine run a body, and returns what it says after the greeting. An exit code that is not 0 is an error with a code.
func (p *provider) run(ctx context.Context, m *machine, body string) (string, int, error) {
	key, err := p.memory.hostKey(m)
	if err != nil {
		return "", 0, err
	}
	t := shell.Target{Name: m.name, Address: m.at(), User: m.user, HostKey: key}
	if key == "" && p.pinning {
		t.Pin = func(shown string) (string, error) { return p.memory.pin(m, shown) }
	}
	r, err := p.pool.Run(ctx, t, p.command(m), p.script(m, body))
	if err != nil {
		return "", 0, err
	}
	return p.heard(m, r)
}
