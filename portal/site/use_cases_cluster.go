package site

import (
	"context"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/layout"
)

// Clusters shows clusters, one or many.
type Clusters interface {
	// ClusterPage returns those that a filter lets through, a page of them at a time; ClusterCounts how many there are by status.
	ClusterPage(ctx context.Context, a app.Actor, f app.ClusterFilter) (appcluster.ClusterPage, error)
	ClusterCounts(ctx context.Context, a app.Actor, f app.ClusterFilter) (app.ClusterCounts, error)
	Cluster(ctx context.Context, a app.Actor, id string) (appcluster.ClusterView, error)
}

// Dashboard shows a person what is theirs.
type Dashboard interface {
	Home(ctx context.Context, a app.Actor) (appcluster.Home, error)
}

// Deletes deletes clusters.
type Deletes interface {
	DeleteCluster(ctx context.Context, a app.Actor, id string) (appcluster.ClusterView, error)
}

// Ownership renames clusters and transfers them to other owners.
type Ownership interface {
	// RenameCluster gives a cluster another name; its id and host names stay.
	RenameCluster(ctx context.Context, a app.Actor, cluster, name string) (appcluster.ClusterView, error)
	// TransferCluster returns a cluster to another user of its tenant.
	TransferCluster(ctx context.Context, a app.Actor, cluster, to string) (appcluster.ClusterView, error)
}

// ClusterAccess lets people into a cluster's nodes.
type ClusterAccess interface {
	// ClusterKey returns the user and the private key (OpenSSH PEM) that open a shell on the cluster's nodes.
	ClusterKey(ctx context.Context, a app.Actor, cluster string) (user string, pem []byte, err error)
	// ClusterCertificate lets the holder of a public key into the cluster's nodes for a while; ttl 0 is the usual time.
	ClusterCertificate(ctx context.Context, a app.Actor, cluster, publicKey string, ttl time.Duration) (appcluster.Certificate, error)
}

// Creates are what makes clusters, or asks for them where people have to approve.
type Creates interface {
	Preview(ctx context.Context, a app.Actor, r appcluster.ClusterRequest) (appcluster.Preview, error)
	// Explain returns an empty explanation for a request that has a layout.
	Explain(ctx context.Context, a app.Actor, r appcluster.ClusterRequest) (layout.Explanation, error)
	// Ask returns the cluster, or the request that waits. A policy's refusal is EForbidden, reason "policy".
	Ask(ctx context.Context, a app.Actor, r appcluster.ClusterRequest) (appcluster.Answer, error)
	// SubmitRequest is Ask, and returns only the id of the cluster.
	SubmitRequest(ctx context.Context, a app.Actor, r appcluster.ClusterRequest) (appcluster.Answer, error)
	PreviewClone(ctx context.Context, a app.Actor, cluster, name string) (appcluster.Preview, error)
	CloneCluster(ctx context.Context, a app.Actor, cluster, name, planHash string) (appcluster.Answer, error)
}

// Specs are what to ask for to get clusters like those that exist.
type Specs interface {
	// ClusterConfig returns a cluster's configuration to those who may amend it; what may be secret is app.HiddenValue.
	ClusterConfig(ctx context.Context, a app.Actor, cluster string) (map[string]any, error)
	// ExportCluster gives what to ask for to get such a cluster, without what may be secret.
	ExportCluster(ctx context.Context, a app.Actor, cluster string) (appcluster.SpecExport, error)
	// DiffClusters compares "web" and "db", or "web@12" and "web".
	DiffClusters(ctx context.Context, a app.Actor, first, second string) (appcluster.ClusterDiff, error)
}

// Sharing says who may see and use a cluster.
type Sharing interface {
	ClusterSharing(ctx context.Context, a app.Actor, cluster string) (appcluster.ClusterSharing, error)
	ShareCluster(ctx context.Context, a app.Actor, cluster string, c appcluster.SharingChange) (appcluster.ClusterSharing, error)
	DefaultVisibility(ctx context.Context, a app.Actor) (app.Visibility, error)
	SetDefaultVisibility(ctx context.Context, a app.Actor, v app.Visibility) error
}

// Feed is what happens inside a cluster.
type Feed interface {
	// Steps returns the steps of an operation in the order of the plan; operation 0 is the latest.
	Steps(ctx context.Context, a app.Actor, cluster string, operation int64) ([]app.Step, error)
	StepGraph(ctx context.Context, a app.Actor, cluster string, operation int64) ([]app.Step, error)
	// Events returns at most limit entries of the feed after a number, oldest first.
	Events(ctx context.Context, a app.Actor, cluster string, after int64, limit int) ([]app.Event, error)
	Logs(ctx context.Context, a app.Actor, cluster string, f appcluster.LogFilter) ([]app.LogLine, error)
	// SearchLogs returns lines that have a text, whatever its case, and says where to go on.
	SearchLogs(ctx context.Context, a app.Actor, cluster string, f appcluster.LogFilter) (appcluster.LogPage, error)
	// Watch wakes the reader of changed whenever the topic wakes, such as when events or log lines of a cluster were written; several may come as one.
	// Stop ends it and may be called twice.
	Watch(a app.Actor, topic app.Topic) (changed <-chan struct{}, stop func())
}

// Repeats carry out a request once that is sent twice. See cluster.RepeatStore for what they give.
type Repeats interface {
	BeginOnce(ctx context.Context, k app.IdempotencyKey, fingerprint []byte) (*app.KeptAnswer, error)
	EndOnce(ctx context.Context, k app.IdempotencyKey, a app.KeptAnswer) error
	ReleaseOnce(ctx context.Context, k app.IdempotencyKey) error
	MayRepeat(ctx context.Context, a app.Actor, k app.KeptAnswer) error
}
