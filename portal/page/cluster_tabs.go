package page

import (
	"strconv"
)

// ClusterTabs are the tabs of a cluster's pages.
type ClusterTabs struct {
	ID      string
	At      string // "overview", "plan", "logs", "access", "health", "history", "sharing", "manage"
	Deleted bool   // deleted: only the past can be viewed
	Shares  bool   // the reader may share it
}

type tab struct{ at, path, word string }

func (t ClusterTabs) list() []tab {
	past := []tab{{"overview", "", "Overview"}, {"plan", "/plan", "Plan"}, {"logs", "/logs", "Logs"}}
	history := tab{"history", "/history", "History"}
	if t.Deleted {
		return append(past, history)
	}
	all := append(past, tab{"access", "/access", "Access"}, tab{"health", "/health", "Health"}, history)
	if t.Shares {
		all = append(all, tab{"sharing", "/sharing", "Share"})
	}
	return append(all, tab{"manage", "/manage", "Manage"})
}

// OperationURL is the permanent page of an operation.
func OperationURL(cluster string, operation int64) string {
	return "/clusters/" + cluster + "/operations/" + strconv.FormatInt(operation, 10)
}

// Pages is a paged list.
type Pages struct {
	From, Size, All int
	Noun            string
	URL             func(from int) string
}

// Cut returns the bounds of the current page.
func (p Pages) Cut() (from, to int) {
	from = min(max(p.From, 0), max(p.All-1, 0))
	from -= from % p.Size
	return from, min(from+p.Size, p.All)
}
