package activity

import (
	"fmt"
	"net/url"
	"time"

	"muster/app"
	"muster/app/activity"
	"muster/portal/page"
)

// List is the page.
type List struct {
	Query  url.Values
	Filter activity.FeedFilter
	Part   activity.FeedPart
	Admin  bool
	Error  page.Complaint
}

func rowID(e activity.Entry) string { return fmt.Sprintf("n-%d", e.Number) }

// newDay reports whether the entry is the first of its day, in UTC. A script does the same in the browser's time zone.
func (l List) newDay(i int) bool {
	return i == 0 || day(l.Part.Entries[i].At) != day(l.Part.Entries[i-1].At)
}

func day(t time.Time) string { return t.UTC().Format("Monday 2 January 2006") }

// kinds are those that the reader can choose.
func (l List) kinds() (list []activity.Kind) {
	for _, k := range activity.Kinds {
		if l.Admin || !k.AdminOnly() {
			list = append(list, k)
		}
	}
	return list
}

func kindWord(k activity.Kind) string {
	return map[activity.Kind]string{activity.KindClusters: "Clusters", activity.KindSharing: "Sharing", activity.KindApprovals: "Approvals",
		activity.KindAccess: "Access to nodes", activity.KindPeople: "People", activity.KindSettings: "Settings"}[k]
}

// at is the page's address with one parameter changed; "" takes it away.
func (l List) at(name, value string) string {
	q := url.Values{}
	for _, k := range []string{"who", "cluster", "kind", "failed", "from", "to"} {
		if v := l.Query.Get(k); v != "" {
			q.Set(k, v)
		}
	}
	if q.Set(name, value); value == "" {
		q.Del(name)
	}
	if len(q) == 0 {
		return "/activity"
	}
	return "/activity?" + q.Encode()
}

func (l List) narrowed() bool {
	f := l.Filter
	return f.Who != "" || f.Cluster != "" || f.Kind != "" || f.Failed || !f.From.IsZero() || !f.To.IsZero()
}

func who(e activity.Entry) string {
	if e.Muster {
		return "Muster"
	}
	return e.Who
}

// object is what it was done to, and href its page; "" for none.
func object(e activity.Entry) string {
	if e.Name != "" {
		return e.Name
	}
	return e.Object
}

func href(e activity.Entry) string {
	switch {
	case e.Operation > 0:
		return page.OperationURL(e.Cluster, e.Operation)
	case e.Cluster != "":
		return "/clusters/" + url.PathEscape(e.Cluster)
	case e.Request > 0:
		return fmt.Sprintf("/requests/%d", e.Request)
	}
	return ""
}

// outcome is the state of an operation; those that succeeded have none.
func outcome(e activity.Entry) string {
	switch e.Status {
	case app.OperationFailed:
		return "failed"
	case app.OperationCancelled:
		return "canceled"
	case app.OperationPaused:
		return "paused"
	case app.OperationRunning, app.OperationWaiting, app.OperationCancelling:
		return "in progress"
	}
	return ""
}

func mark(e activity.Entry) string {
	switch e.Status {
	case app.OperationFailed:
		return string(app.StepFailed)
	case app.OperationRunning:
		return string(app.StepRunning)
	}
	return string(app.StepWaiting)
}
