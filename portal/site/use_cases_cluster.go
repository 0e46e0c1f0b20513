package site

import (
	"context"
	"time"

	"muster/app"
	"muster/app/activity"
	appcluster "muster/app/cluster"
	"muster/app/dashboard"
	"muster/app/label"
	"muster/app/layout"
	"muster/app/lock"
	"muster/app/node"
	"muster/app/providervalue"
	"muster/app/sharing"
	"muster/app/sshaccess"
	"muster/app/template"
)

// Clusters shows clusters.
type Clusters interface {
	// ClusterPage returns a page of the clusters that match a filter; ClusterCounts their number by status.
	ClusterPage(ctx context.Context, a app.Actor, f app.ClusterFilter) (appcluster.Page, error)
	ClusterCounts(ctx context.Context, a app.Actor, f app.ClusterFilter) (app.ClusterCounts, error)
	Cluster(ctx context.Context, a app.Actor, id string) (appcluster.View, error)
}

// Dashboard shows a person's own things.
type Dashboard interface {
	Home(ctx context.Context, a app.Actor) (dashboard.Data, error)
}

// Deletes deletes clusters.
type Deletes interface {
	DeleteCluster(ctx context.Context, a app.Actor, id string) (appcluster.View, error)
	// DeleteClusterWith also says what happens to the volumes; "" leaves that to each.
	DeleteClusterWith(ctx context.Context, a app.Actor, id string, v template.VolumeChoice) (appcluster.View, error)
}

// Ownership renames clusters and transfers them to other owners.
type Ownership interface {
	// RenameCluster renames a cluster, but not its ID and host names.
	RenameCluster(ctx context.Context, a app.Actor, cluster, name string) (appcluster.View, error)
	// TransferCluster transfers a cluster to another user of its tenant.
	TransferCluster(ctx context.Context, a app.Actor, cluster, to string) (appcluster.View, error)
}

// Labels changes what describes clusters.
type Labels interface {
	LabelCluster(ctx context.Context, a app.Actor, cluster string, c label.Change) (app.Cluster, error)
}

// ClusterAccess grants access to a cluster's nodes.
type ClusterAccess interface {
	// ClusterKey returns the SSH user and private key (OpenSSH PEM) of the cluster's nodes.
	ClusterKey(ctx context.Context, a app.Actor, cluster string) (user string, pem []byte, err error)
	// ClusterCertificate issues a short-lived SSH certificate for a public key; ttl 0 is the default.
	ClusterCertificate(ctx context.Context, a app.Actor, cluster, publicKey string, ttl time.Duration) (sshaccess.ClusterCertificate, error)
}

// Creates creates clusters, or requests approval.
type Creates interface {
	Preview(ctx context.Context, a app.Actor, r appcluster.CreateRequest) (appcluster.Preview, error)
	// Explain returns an empty explanation for a request that has a layout.
	Explain(ctx context.Context, a app.Actor, r appcluster.CreateRequest) (layout.Explanation, error)
	// Ask returns the cluster, or the request waiting for approval. EForbidden, reason "policy", if a policy refuses.
	Ask(ctx context.Context, a app.Actor, r appcluster.CreateRequest) (appcluster.Answer, error)
	// SubmitRequest is Ask, but returns only the cluster's ID.
	SubmitRequest(ctx context.Context, a app.Actor, r appcluster.CreateRequest) (appcluster.Answer, error)
	// Places returns the places of the request that a cluster was created for, and what was tried; nil if it named one place only.
	Places(ctx context.Context, a app.Actor, cluster string) (*layout.Places, error)
	PreviewClone(ctx context.Context, a app.Actor, cluster, name string) (appcluster.Preview, error)
	CloneCluster(ctx context.Context, a app.Actor, cluster, name, planHash string) (appcluster.Answer, error)
}

// ProviderValues are what users have set for the providers of clusters.
type ProviderValues interface {
	// ClusterProviderValues leaves sensitive values out.
	ClusterProviderValues(ctx context.Context, a app.Actor, cluster string) (providervalue.View, error)
	// SetClusterProviderValues replaces the values that are named; an empty one is removed.
	SetClusterProviderValues(ctx context.Context, a app.Actor, cluster string, v providervalue.Values) (providervalue.View, error)
	// FieldsIn are the settings of a provider that users can set.
	FieldsIn(c *template.Catalog, provider string) []providervalue.Field
}

// Specs are requests for clusters like existing ones.
type Specs interface {
	// ClusterConfig returns a cluster's configuration to people who can change it; possible secrets are app.HiddenValue.
	ClusterConfig(ctx context.Context, a app.Actor, cluster string) (map[string]any, error)
	// ExportCluster returns the request for a cluster like this one, without possible secrets.
	ExportCluster(ctx context.Context, a app.Actor, cluster string) (appcluster.SpecExport, error)
	// DiffClusters compares "web" and "db", or "web@12" and "web".
	DiffClusters(ctx context.Context, a app.Actor, first, second string) (appcluster.Diff, error)
}

// Sharing controls access to clusters.
type Sharing interface {
	ClusterSharing(ctx context.Context, a app.Actor, cluster string) (sharing.ClusterSharing, error)
	ShareCluster(ctx context.Context, a app.Actor, cluster string, c sharing.SharingChange) (sharing.ClusterSharing, error)
	DefaultVisibility(ctx context.Context, a app.Actor) (app.Visibility, error)
	SetDefaultVisibility(ctx context.Context, a app.Actor, v app.Visibility) error
}

// Locks keeps everyone but admins from clusters and nodes.
type Locks interface {
	Locks(ctx context.Context, a app.Actor) ([]lock.Item, error)
	LockCluster(ctx context.Context, a app.Actor, cluster string, ask lock.Ask) error
	UnlockCluster(ctx context.Context, a app.Actor, cluster, node string) error
}

// Nodes lists nodes.
type Nodes interface {
	// Nodes returns a page of the nodes of all clusters that match a filter.
	Nodes(ctx context.Context, a app.Actor, f node.Filter) (node.Page, error)
}

// Feed shows a cluster's activity.
type Feed interface {
	// Steps returns the steps of an operation in the order of the plan; operation 0 is the latest.
	Steps(ctx context.Context, a app.Actor, cluster string, operation int64) ([]app.Step, error)
	StepGraph(ctx context.Context, a app.Actor, cluster string, operation int64) ([]app.Step, error)
	// Events returns at most limit entries of the feed after a number, oldest first.
	Events(ctx context.Context, a app.Actor, cluster string, after int64, limit int) ([]app.Event, error)
	Logs(ctx context.Context, a app.Actor, cluster string, f appcluster.LogFilter) ([]app.LogLine, error)
	// SearchLogs returns lines that contain a text, ignoring case, and where to continue.
	SearchLogs(ctx context.Context, a app.Actor, cluster string, f appcluster.LogFilter) (activity.LogPage, error)
	// Watch sends to changed whenever the topic wakes, such as for new events or log lines of a cluster; several may come as one. Stop ends
	// it and may be called twice.
	Watch(a app.Actor, topic app.Topic) (changed <-chan struct{}, stop func())
}

// Repeats execute a repeated request once; see idempotency.Store.
type Repeats interface {
	BeginOnce(ctx context.Context, k app.IdempotencyKey, fingerprint []byte) (*app.KeptAnswer, error)
	EndOnce(ctx context.Context, k app.IdempotencyKey, a app.KeptAnswer) error
	ReleaseOnce(ctx context.Context, k app.IdempotencyKey) error
	MayRepeat(ctx context.Context, a app.Actor, k app.KeptAnswer) error
}
