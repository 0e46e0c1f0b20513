package template

import (
	"fmt"
	"strings"
	"time"

	"muster/app/schedule"
)

// Snapshots says when copies of a volume are made, and how long they are kept.
type Snapshots struct {
	// Every is the time between two, such as 24h, or the five fields of a crontab in UTC. "" makes none.
	Every   string `json:"every,omitempty"`
	Keep    int    `json:"keep,omitempty"`     // the newest ones
	KeepFor string `json:"keep_for,omitempty"` // instead of Keep
}

// Bounds of snapshots by schedule.
const (
	LeastSnapshotGap = time.Hour
	MostSnapshotGap  = 90 * 24 * time.Hour
	MaxSnapshots     = 100 // of one volume
)

// Check refuses what no schedule of snapshots can be.
func (s Snapshots) Check() error {
	wrong := func(field, message, hint string) error { return volumeError("snapshots."+field, message, hint) }
	if s.Every == "" {
		if s.Keep != 0 || s.KeepFor != "" {
			return wrong("every", "Snapshots have no interval.", "Set every, such as 24h.")
		}
		return nil
	}
	if strings.Contains(s.Every, " ") {
		if err := s.cron().Check(time.Unix(0, 0)); err != nil {
			return err
		}
		if s.gap() < LeastSnapshotGap {
			return wrong("every", fmt.Sprintf("Snapshots can't be made as often as %.40q says.", s.Every), "Let at least 1 h pass between two, as with \"0 * * * *\".")
		}
	} else if d, err := ParseLength(s.Every); err != nil || d < LeastSnapshotGap || d > MostSnapshotGap {
		return wrong("every", fmt.Sprintf("Snapshots can't be made every %.40q.", s.Every),
			`Use 1h to 90d, or the five fields of a crontab in UTC, such as "0 2 * * *".`)
	}
	if s.Keep < 0 || s.Keep > MaxSnapshots || s.Keep > 0 && s.KeepFor != "" || s.Keep == 0 && s.KeepFor == "" {
		return wrong("keep", "Snapshots need either keep or keep_for.",
			fmt.Sprintf("Set keep to 1 to %d, or keep_for to a time such as 30d.", MaxSnapshots))
	}
	if d, err := ParseLength(s.KeepFor); s.KeepFor != "" && (err != nil || d < LeastSnapshotGap) {
		return wrong("keep_for", fmt.Sprintf("Snapshots can't be kept for %.40q.", s.KeepFor), "Use at least 1h, such as 30d.")
	}
	if d, _ := ParseLength(s.KeepFor); d > MaxSnapshots*s.gap() {
		return wrong("keep_for", fmt.Sprintf("With this schedule, %s keeps more than %d snapshots.", s.KeepFor, MaxSnapshots),
			"Shorten keep_for, or create snapshots less often.")
	}
	return nil
}

// gap returns the least time between two snapshots, as far as the next times of a crontab say.
func (s Snapshots) gap() time.Duration {
	if d, err := ParseLength(s.Every); err == nil && d > 0 {
		return d
	}
	least, at := MostSnapshotGap, s.After(time.Unix(0, 0))
	for range 50 {
		next := s.After(at)
		if next.IsZero() {
			break
		}
		least, at = min(least, next.Sub(at)), next
	}
	return least
}

func (s Snapshots) cron() schedule.Cron {
	return schedule.Cron{Field: "snapshots.every", Text: s.Every, Zone: "UTC"}
}

// After returns when the next snapshot is due after a moment; zero for never.
func (s Snapshots) After(t time.Time) time.Time {
	if strings.Contains(s.Every, " ") {
		return s.cron().After(t)
	}
	if d, err := ParseLength(s.Every); err == nil && d > 0 {
		return t.Add(d)
	}
	return time.Time{}
}

// Until returns when a snapshot of a moment expires; zero where newer ones replace it.
func (s Snapshots) Until(t time.Time) time.Time {
	if d, err := ParseLength(s.KeepFor); err == nil && d > 0 {
		return t.Add(d)
	}
	return time.Time{}
}

// String says it for people.
func (s Snapshots) String() string {
	switch {
	case s.Every == "":
		return "off"
	case s.KeepFor != "":
		return "every " + s.Every + ", kept for " + s.KeepFor
	}
	if strings.Contains(s.Every, " ") {
		return fmt.Sprintf("at %s (UTC), the newest %d are kept", s.Every, s.Keep)
	}
	return fmt.Sprintf("every %s, the newest %d are kept", s.Every, s.Keep)
}

// snapshotsOf reads what a configuration says of snapshots: off, or what a service's volume says.
func snapshotsOf(value any) (s Snapshots, err error) {
	m, ok := value.(map[string]any)
	if !ok {
		if value == "off" || value == false || value == nil {
			return s, nil
		}
		return s, volumeError("snapshots", fmt.Sprintf("Unknown snapshots %.40q.", fmt.Sprint(value)),
			"Use off, or every with keep or keep_for.")
	}
	text := func(key string) string {
		if x, is := m[key]; is {
			return fmt.Sprint(x)
		}
		return ""
	}
	s = Snapshots{Every: text("every"), KeepFor: text("keep_for")}
	if keep, is := m["keep"]; is {
		if s.Keep, ok = wholeNumber(keep); !ok {
			return s, volumeError("snapshots.keep", "The number of snapshots must be a whole number.", "Use a number such as 7.")
		}
	}
	return s, nil
}
