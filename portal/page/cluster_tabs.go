package page

import (
	"strconv"
)

// ClusterTabs are the pages of one cluster.
type ClusterTabs struct {
	ID string
	At string // "overview", "plan", "logs", "access", "health", "history", "manage"
	// Which pages there are beside those that there always are.
	Access, Health, Manage bool
}

type tab struct{ at, path, word string }

func (t ClusterTabs) list() []tab {
	all := []tab{{"overview", "", "Overview"}, {"plan", "/plan", "Plan"}, {"logs", "/logs", "Logs"}}
	for _, x := range []struct {
		there bool
		tab   tab
	}{
		{t.Access, tab{"access", "/access", "Access"}}, {t.Health, tab{"health", "/health", "Health"}},
		{true, tab{"history", "/history", "History"}}, {t.Manage, tab{"manage", "/manage", "Manage"}},
	} {
		if x.there {
			all = append(all, x.tab)
		}
	}
	return all
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

// Cut gives the bounds of what is shown.
func (p Pages) Cut() (from, to int) {
	from = min(max(p.From, 0), max(p.All-1, 0))
	from -= from % p.Size
	return from, min(from+p.Size, p.All)
}
