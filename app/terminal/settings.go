package terminal

import (
	"context"
	"fmt"
	"time"

	"muster/app"
)

// Settings are a tenant's for terminals.
type Settings struct {
	Record    bool      `json:"record"`    // new terminals are recorded
	KeepDays  int       `json:"keep_days"` // how long recordings are kept
	StepUp    bool      `json:"step_up"`   // people re-authenticate before they open one
	ChangedBy string    `json:"changed_by,omitempty"`
	ChangedAt time.Time `json:"changed_at,omitzero"`
}

// Bounds and default of KeepDays.
const (
	DefaultKeepDays = 90
	MostKeepDays    = 3650
)

// RecordingStore keeps recordings, and whether tenants want them.
type RecordingStore interface {
	// AddChunk adds to a recording.
	AddChunk(ctx context.Context, c Chunk) error
	// Chunks calls f with each chunk, in order.
	Chunks(ctx context.Context, terminal string, f func(events []byte) error) error
	// AuditPlay notes that someone plays a recording.
	AuditPlay(ctx context.Context, who app.Actor, t Terminal, now time.Time) error
	// TerminalSettings returns a tenant's; those by default where it has none.
	TerminalSettings(ctx context.Context, tenant string) (Settings, error)
	SetTerminalSettings(ctx context.Context, who app.Actor, s Settings) error
	// SeeTerminal notes that a terminal is open on a server.
	SeeTerminal(ctx context.Context, id string, now time.Time) error
	// TidyTerminals ends terminals that no server has had since then, and removes some of those whose time is over.
	TidyTerminals(ctx context.Context, unseen, now time.Time) error
}

// TerminalSettings returns the tenant's settings. Everyone may know whether they are recorded.
func (s *Service) TerminalSettings(ctx context.Context, actor app.Actor) (Settings, error) {
	if _, err := actor.Reach("TerminalSettings"); err != nil {
		return Settings{}, err
	}
	return s.Recordings.TerminalSettings(ctx, actor.Tenant)
}

// SetTerminalSettings changes them, for new terminals. EInvalid names the field keep_days.
func (s *Service) SetTerminalSettings(ctx context.Context, actor app.Actor, set Settings) (Settings, error) {
	if _, err := actor.Reach("SetTerminalSettings"); err != nil {
		return Settings{}, err
	}
	if set.KeepDays == 0 {
		set.KeepDays = DefaultKeepDays
	}
	if set.KeepDays < 1 || set.KeepDays > MostKeepDays {
		return Settings{}, &app.Error{Code: app.EInvalid, Field: "keep_days",
			Message: fmt.Sprintf("Recordings can be kept for 1 to %d days, not %d.", MostKeepDays, set.KeepDays)}
	}
	set.ChangedBy, set.ChangedAt = actor.Name(), s.Now()
	return set, s.Recordings.SetTerminalSettings(ctx, actor, set)
}

// unseenTime is after how long a terminal that no server has is over: those of servers that were killed, and not continued.
const unseenTime = 20 * time.Minute

// Tidy ends terminals that servers have lost, and removes recordings whose time is over.
func (s *Service) Tidy(ctx context.Context) error {
	return s.Recordings.TidyTerminals(ctx, s.Now().Add(-unseenTime), s.Now())
}
