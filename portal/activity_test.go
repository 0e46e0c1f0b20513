package portal

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/activity"
)

// Activity of the fake: three entries, the newest first.
func (f *fake) Activity(_ context.Context, _ app.Actor, filter activity.FeedFilter) (activity.FeedPart, error) {
	if filter.Cluster == "none" {
		return activity.FeedPart{}, app.Errorf(app.ENotFound, "Cluster %q doesn't exist.", filter.Cluster)
	}
	if filter.Who != "" && filter.Who != "ada" {
		return activity.FeedPart{Entries: []activity.Entry{}}, nil
	}
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	return activity.FeedPart{Next: 7, Entries: []activity.Entry{
		{Number: 9, At: at, Who: "ada", Kind: activity.KindClusters, Act: "cluster.create", Verb: "created", Object: "web-1",
			Cluster: "web-1", Name: "web", Operation: 4,
			Status: app.OperationFailed},
		{Number: 8, At: at.Add(-time.Hour), Who: "root", Kind: activity.KindApprovals, Act: "request.approve",
			Verb: "approved", Object: "request 3", Request: 3},
		{Number: 7, At: at.AddDate(0, 0, -1), Who: "muster", Muster: true, Kind: activity.KindClusters,
			Act: "cluster.delete", Verb: "deleted", Object: "old-1"},
	}}, nil
}

func TestActivityIsGroupedAndFiltered(t *testing.T) {
	s := signedIn(t, "ada")
	a := s.get("/activity")
	a.reads(http.StatusOK, "Activity", "ada created web failed", "root approved request 3", "Muster deleted old-1",
		"Saturday 28 November 2026", "Friday 27 November 2026", "Older activity")
	if n := strings.Count(a.body, `class="day" hidden`); n != 1 {
		t.Errorf("%d entries are of the day of the one above", n)
	}
	if !strings.Contains(a.body, "/requests/3") || !strings.Contains(a.body, "before=7") {
		t.Error("links are missing")
	}
	a.lacks("Settings", "audit log") // which are for admins
	s.get("/activity?who=me").reads(http.StatusOK, "ada created web")
	s.get("/activity?who=bob").reads(http.StatusOK, "No activity matches")
	s.get("/activity?from=someday").reads(http.StatusUnprocessableEntity, "Invalid day or time")
	s.get("/activity?cluster=none").reads(http.StatusUnprocessableEntity, "doesn't exist")
	signedIn(t, "root").get("/activity").reads(http.StatusOK, "Settings", "audit log")
}
