package page

import (
	"net/url"
	"strconv"

	"muster/app"
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

// operationURL is the page of one operation, for good.
func operationURL(cluster string, operation int64) string {
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

// nodesShown is how many rows the table of nodes has.
const nodesShown = 25

func (c ClusterShow) nodePages() Pages {
	return Pages{From: c.NodesFrom, Size: nodesShown, All: len(c.View.Nodes), Noun: "node", URL: func(from int) string {
		return "/clusters/" + c.View.ID + "?from=" + strconv.Itoa(from) + "#nodes"
	}}
}

// NodeRows are the nodes that are shown: where there are more than a page holds, those in trouble come first.
func (c ClusterShow) NodeRows() []app.Node {
	all := c.View.Nodes
	if len(all) > nodesShown {
		var ill, well []app.Node
		for _, n := range all {
			if c.healthOf(n).Ill() || n.Status == app.NodeReady && len(n.Stopped) > 0 {
				ill = append(ill, n)
			} else {
				well = append(well, n)
			}
		}
		all = append(ill, well...)
	}
	from, to := c.nodePages().Cut()
	return all[from:to]
}

// LogQuery is what a log is narrowed to.
type LogQuery struct {
	Operation  int64
	Node, Step string
	Stream     string
	Text       string
}

// Values are those that an address carries.
func (q LogQuery) Values() url.Values {
	v := url.Values{}
	for name, s := range map[string]string{"node": q.Node, "step": q.Step, "stream": q.Stream, "q": q.Text} {
		if s != "" {
			v.Set(name, s)
		}
	}
	if q.Operation != 0 {
		v.Set("operation", strconv.FormatInt(q.Operation, 10))
	}
	return v
}

// URL is the page of a cluster's log.
func (q LogQuery) URL(cluster string) string {
	u := "/clusters/" + cluster + "/logs"
	if v := q.Values(); len(v) > 0 {
		u += "?" + v.Encode()
	}
	return u
}
