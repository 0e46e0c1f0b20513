package cluster

import (
	"net/url"
	"strconv"
	"time"

	"muster/app/cluster"
	"muster/app/execution"
)

// Waiting is the page of the reasons why a cluster's steps wait.
type Waiting struct {
	Now     time.Time
	View    cluster.View
	Waiting execution.Waiting
	Node    string // only its steps; "" for all
	From    int
}

// Here is the address of the page as shown.
func (w Waiting) Here() string { return w.at(w.From) }

// Then is the address of the next page.
func (w Waiting) Then() string { return w.at(w.Waiting.Next) }

func (w Waiting) at(from int) string {
	q := url.Values{}
	if w.Node != "" {
		q.Set("node", w.Node)
	}
	if from > 0 {
		q.Set("from", strconv.Itoa(from))
	}
	u := "/clusters/" + w.View.ID + "/waiting"
	if len(q) > 0 {
		u += "?" + q.Encode()
	}
	return u
}
