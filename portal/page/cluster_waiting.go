package page

import (
	"net/url"
	"strconv"
	"time"

	"muster/app"
)

// ClusterWaiting is why a cluster's steps wait.
type ClusterWaiting struct {
	Now     time.Time
	View    app.ClusterView
	Waiting app.Waiting
	Node    string // only its steps; "" for all
	From    int
}

// Here is the address of the page as it is shown.
func (w ClusterWaiting) Here() string { return w.at(w.From) }

// Then is the address of what comes after it.
func (w ClusterWaiting) Then() string { return w.at(w.Waiting.Next) }

func (w ClusterWaiting) at(from int) string {
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
