package page

import (
	"strconv"
)

// ClusterTabs are the pages of one cluster.
type ClusterTabs struct {
	ID   string
	At   string // "overview", "plan", "logs", "access", "health", "history", "manage"
	Gone bool   // it was deleted, and only what happened can be looked at
}

type tab struct{ at, path, word string }

func (t ClusterTabs) list() []tab {
	past := []tab{{"overview", "", "Overview"}, {"plan", "/plan", "Plan"}, {"logs", "/logs", "Logs"}}
	history := tab{"history", "/history", "History"}
	if t.Gone {
		return append(past, history)
	}
	return append(past, tab{"access", "/access", "Access"}, tab{"health", "/health", "Health"}, history, tab{"manage", "/manage", "Manage"})
}

// OperationURL is the page of one operation, for good.
func OperationURL(cluster string, operation int64) string {
	return "/clusters/" + cluster + "/operations/" + strconv.FormatInt(operation, 10)
}

// Pages is a list that is shown a page at a time.
type Pages struct {
	From, Size, All int
	Noun            string
	URL             func(from int) string
}

// Cut returns the bounds of what is shown.
func (p Pages) Cut() (from, to int) {
	from = min(max(p.From, 0), max(p.All-1, 0))
	from -= from % p.Size
	return from, min(from+p.Size, p.All)
}
