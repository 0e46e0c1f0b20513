package page

import (
	"strconv"
	"time"

	"muster/app"
)

// ClusterHistory is the page of all that was asked of a cluster.
type ClusterHistory struct {
	Now      time.Time
	View     app.ClusterView
	Tabs     ClusterTabs
	From     int
	Receipts bool // there is a page that accounts for its machines
	Checks   bool // there is a page that tells what its nodes were found to be
	Compare  bool // it can be compared with other moments
}

// historyShown is how many operations a page lists.
const historyShown = 50

func (h ClusterHistory) pages() Pages {
	return Pages{From: h.From, Size: historyShown, All: len(h.View.Operations), Noun: "operation", URL: func(from int) string {
		return "/clusters/" + h.View.ID + "/history?from=" + strconv.Itoa(from)
	}}
}

func (h ClusterHistory) shown() []app.Operation {
	from, to := h.pages().Cut()
	return h.View.Operations[from:to]
}
