package cluster

import (
	"net/url"
	"strconv"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/family"
	"muster/portal/page"
)

// Logs is the page of a cluster's log.
type Logs struct {
	Now       time.Time
	View      appcluster.View
	Tabs      page.ClusterTabs
	Query     LogQuery
	Lines     []app.LogLine
	Line      int64 // the one that a link points to; 0 for none
	Missing   bool  // that line doesn't exist, or no longer
	Earlier   int64 // there may be more before this number; 0: no
	Later     int64 // the same after it
	Live      bool  // new lines are shown as they come
	Complaint page.Complaint
}

func (c Logs) with(name string, n int64) string {
	v := c.Query.Values()
	v.Set(name, strconv.FormatInt(n, 10))
	return "/clusters/" + c.View.ID + "/logs?" + v.Encode()
}

func (c Logs) downloadURL() string {
	u := "/clusters/" + c.View.ID + "/logs/download"
	if v := c.Query.Values(); len(v) > 0 {
		u += "?" + v.Encode()
	}
	return u
}

// LiveURL is the event stream of the page.
func (c Logs) LiveURL() string {
	v := c.Query.Values()
	v.Set("view", "logs")
	return "/clusters/" + c.View.ID + "/live?" + v.Encode()
}

// after is the number of the last line shown.
func (c Logs) after() int64 {
	if len(c.Lines) == 0 {
		return 0
	}
	return c.Lines[len(c.Lines)-1].Seq
}

func (c Logs) narrowed() bool { return len(c.Query.Values()) > 0 }

// LogsOf is the address of an operation's log, or of the part about a node or step.
func LogsOf(cluster string, operation int64, node, step string) string {
	return LogQuery{Operation: operation, Node: node, Step: step}.URL(cluster)
}

func streamWord(s app.Stream) string {
	switch s {
	case family.StreamErr:
		return "Errors"
	case family.StreamSystem:
		return "Muster"
	}
	return "Output"
}

// LogQuery is the filter of a log.
type LogQuery struct {
	Operation  int64
	Node, Step string
	Stream     string
	Text       string
}

// Values are the query of an address.
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
