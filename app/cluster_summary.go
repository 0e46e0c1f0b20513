package app

// ClusterSummary is one line of a list of clusters. Operation is the latest one.
type ClusterSummary struct {
	Cluster
	Operation *Operation `json:"operation,omitempty"`
}

// LabelSelector asks for a label, "" for any value. It is read by label.Selector, which checks it.
type LabelSelector struct{ Key, Value string }

// ClusterFilter narrows a list. The zero value lists live clusters, newest first.
type ClusterFilter struct {
	Deleted bool   // also those that are gone
	Name    string // only this exact name
	Owner   string // only those of this user
	Limit   int    // 0: 200; at most 1000

	Status   ClusterStatus   // only those of this status; ClusterDeleted returns those that are gone
	Template string          // only those of this template
	Provider string          // only those at this provider
	Text     string          // only those that have it in name, id, owner, template or the value of a label, in small letters or large
	IDs      []string        // only these; at most 100
	Labels   []LabelSelector // only those that have all of these
	Sort     ClusterSort     // "": newest first
	After    string          // the id of the last cluster of the page before; "": from the beginning

	Reader *ClusterReader // only what it may see; nil: all. The service sets it.
}
