package app

import (
	"fmt"
	"slices"
	"strings"
)

// ClusterSort is an order of clusters.
type ClusterSort string

// The orders. What is alike comes newest first.
const (
	SortNewest ClusterSort = ""
	SortName   ClusterSort = "name"
	SortLease  ClusterSort = "lease" // those first whose lease ends soonest, those without an end last
	SortCost   ClusterSort = "cost"  // the dearest first
)

// ClusterSorts are all orders.
var ClusterSorts = []ClusterSort{SortNewest, SortName, SortLease, SortCost}

// clusterStatuses are all statuses that a filter may ask for.
var clusterStatuses = []ClusterStatus{ClusterPending, ClusterActive, ClusterAsleep, ClusterFailed, ClusterDeleted}

// Bounds of a list of clusters.
const (
	maxClusterIDs  = 100
	maxClusterList = 1000
	maxListText    = 100
	maxListLabels  = 20
)

// Check refuses what cannot be meant.
func (f ClusterFilter) Check() error {
	bad := func(field, hint, format string, args ...any) error {
		e := Errorf(EInvalid, format, args...)
		e.Field, e.Hint = field, hint
		return e
	}
	switch {
	case !slices.Contains(ClusterSorts, f.Sort):
		return bad("sort", "Sort by name, lease or cost. Omit it to list the newest clusters first.", "Can't sort clusters by %q.", f.Sort)
	case f.Status != "" && !slices.Contains(clusterStatuses, f.Status):
		return bad("status", fmt.Sprintf("Use %s.", clusterStatusWords()), "Unknown cluster status %q.", f.Status)
	case len(f.IDs) > maxClusterIDs:
		return bad("id", "Request fewer clusters at once.", "Too many clusters: %d requested, at most %d allowed.", len(f.IDs), maxClusterIDs)
	case len(f.Text) > maxListText:
		return bad("q", "Search for part of a name.", "The search text must be at most %d characters.", maxListText)
	case len(f.Labels) > maxListLabels:
		return bad("label", "Filter by fewer labels.", "Too many labels: at most %d allowed.", maxListLabels)
	case f.Limit < 0 || f.Limit > maxClusterList:
		return bad("limit", "Omit it for 200.", "The limit must be 1 to %d clusters, not %d.", maxClusterList, f.Limit)
	}
	return nil
}

func clusterStatusWords() string {
	words := make([]string, len(clusterStatuses))
	for i, s := range clusterStatuses {
		words[i] = string(s)
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// ClusterCounts says how many clusters there are.
type ClusterCounts struct {
	By          map[ClusterStatus]int `json:"by"`
	CostPerHour float64               `json:"cost_per_hour"` // of those that exist
	Currency    string                `json:"currency"`      // by ISO 4217
}

// Live is how many of them stand or are being made or given back.
func (c ClusterCounts) Live() (n int) {
	for s, k := range c.By {
		if s != ClusterDeleted {
			n += k
		}
	}
	return n
}
