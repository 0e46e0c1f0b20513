package volume

import (
	"context"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"muster/app"
	"muster/app/template"
	"muster/app/volume"
	"muster/portal/site"
)

// choice is a schedule that the page offers.
type choice struct {
	value, label string
	snapshots    template.Snapshots
}

var choices = []choice{
	{"off", "No scheduled snapshots", template.Snapshots{}},
	{"hourly", "Every hour, keep 24", template.Snapshots{Every: "1h", Keep: 24}},
	{"daily", "Every day, keep 7", template.Snapshots{Every: "24h", Keep: 7}},
	{"monthly", "Every day, keep for 30 days", template.Snapshots{Every: "24h", KeepFor: "30d"}},
	{"weekly", "Every week, keep 8", template.Snapshots{Every: "7d", Keep: 8}},
}

// chosen are the choices for a volume: one that none of them is comes first.
func chosen(v volume.Volume) []choice {
	for _, c := range choices {
		if c.snapshots == v.Snapshots {
			return choices
		}
	}
	return append([]choice{{"", "Snapshots " + v.Snapshots.String(), v.Snapshots}}, choices...)
}

func (p *Service) setSchedule(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	wanted := r.FormValue("schedule")
	err := error(&app.Error{Code: app.EInvalid, Field: "schedule", Message: "Choose a schedule for snapshots.", Hint: "Use one of the list."})
	for _, c := range choices {
		if c.value == wanted {
			_, err = p.Volumes.SetSnapshots(r.Context(), a, chi.URLParam(r, "volume"), c.snapshots)
		}
	}
	switch app.CodeOf(err) {
	case "":
		http.Redirect(w, r, "/volumes#"+url.PathEscape(chi.URLParam(r, "volume")), http.StatusSeeOther)
		return nil
	case app.EInvalid:
		return p.show(w, r, a, http.StatusUnprocessableEntity, app.AsError(err))
	case app.EConflict:
		return p.show(w, r, a, http.StatusConflict, app.AsError(err))
	}
	return err
}

type snapshotScheduleInput struct {
	VolumeID
	Body struct {
		Every   string `json:"every" maxLength:"100" doc:"Time between snapshots, 1h to 90d, or a crontab's five fields in UTC; empty: none"`
		Keep    int    `json:"keep,omitempty" minimum:"0" maximum:"100" doc:"How many scheduled snapshots to keep, the newest ones"`
		KeepFor string `json:"keep_for,omitempty" maxLength:"20" doc:"How long to keep each, instead of keep, such as 30d"`
	}
}

func (p *Service) apiSchedule(ctx context.Context, in *snapshotScheduleInput) (*site.Body[volume.Volume], error) {
	s := template.Snapshots{Every: in.Body.Every, Keep: in.Body.Keep, KeepFor: in.Body.KeepFor}
	return site.Answered[volume.Volume](ctx, p.Site)(p.Volumes.SetSnapshots(ctx, site.Caller(ctx), in.ID, s))
}

// next says when the next snapshot is due.
func next(v volume.Volume) string {
	if v.NextSnapshot.IsZero() {
		return "."
	}
	return ". Next: " + v.NextSnapshot.UTC().Format("2006-01-02 15:04") + " UTC, once the volume has been in use since the last one."
}

// scheduled says how long a snapshot by schedule is kept.
func scheduled(s volume.Snapshot) string {
	if s.ExpiresAt.IsZero() {
		return "Scheduled. Deleted once enough newer scheduled ones exist."
	}
	return "Scheduled. Expires " + s.ExpiresAt.UTC().Format("2006-01-02 15:04") + " UTC."
}

// retries says what to do about a snapshot that isn't created yet.
func retries(s volume.Snapshot) string {
	if s.State != volume.SnapshotCreating {
		return ""
	}
	return "Muster tries again. To give up, delete the snapshot."
}
