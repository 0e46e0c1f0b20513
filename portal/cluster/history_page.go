package cluster

import (
	"strconv"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/portal/page"
)

// History is the page of all operations of a cluster.
type History struct {
	Now  time.Time
	View cluster.View
	Tabs page.ClusterTabs
	From int
}

// historyShown is how many operations a page lists.
const historyShown = 50

func (h History) Pages() page.Pages {
	return page.Pages{From: h.From, Size: historyShown, All: len(h.View.Operations), Noun: "operation", URL: func(from int) string {
		return "/clusters/" + h.View.ID + "/history?from=" + strconv.Itoa(from)
	}}
}

func (h History) Shown() []app.Operation {
	from, to := h.Pages().Cut()
	return h.View.Operations[from:to]
}
