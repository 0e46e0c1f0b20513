package app

import "strings"

// Topic names what wakes the readers of Feed.Watch. Only the functions below create one: an id from outside is always the topic of a cluster, whatever
// it looks like, and never that of a tenant or of the installation.
type Topic struct {
	kind topicKind
	of   string // the cluster or tenant; "" for those of the installation
}

type topicKind string

const (
	ofCluster    topicKind = "" // the zero value; its text is the cluster's id alone
	ofOutput     topicKind = "output"
	ofTenant     topicKind = "tenant"
	ofStops      topicKind = "stops"
	ofEverything topicKind = "everything"
	ofNotices    topicKind = "notices"
	ofQueued     topicKind = "queued"
	ofShares     topicKind = "shares"
	ofBuilds     topicKind = "builds"
	ofHealth     topicKind = "health"
	ofPlugins    topicKind = "plugins"
	ofTunnels    topicKind = "tunnels"
)

// ClusterTopic wakes when events of a cluster were committed, or log lines of Muster's own, which say what a step waits for.
func ClusterTopic(id string) Topic { return Topic{ofCluster, id} }

// OutputTopic wakes when lines of a cluster's log were committed. Output comes in floods and changes nothing else on a page, so it has its own topic.
func OutputTopic(cluster string) Topic { return Topic{ofOutput, cluster} }

// TenantTopic wakes when anything of a tenant has changed that a list may show: a cluster, a step, a request, a question, a rule, who may do what.
func TenantTopic(tenant string) Topic { return Topic{ofTenant, tenant} }

// StopsTopic wakes when steps of a tenant may have to stop.
func StopsTopic(tenant string) Topic { return Topic{ofStops, tenant} }

// EverythingTopic wakes when anything of any tenant has changed.
func EverythingTopic() Topic { return Topic{kind: ofEverything} }

// NoticesTopic wakes when there may be something to deliver.
func NoticesTopic() Topic { return Topic{kind: ofNotices} }

// QueuedTopic wakes when steps may have been queued.
func QueuedTopic() Topic { return Topic{kind: ofQueued} }

// SharesTopic wakes when shares or provisioners have changed.
func SharesTopic() Topic { return Topic{kind: ofShares} }

// BuildsTopic wakes when something has happened to a build.
func BuildsTopic() Topic { return Topic{kind: ofBuilds} }

// HealthTopic wakes when another cluster gets health checks, or the next round of one is due before the next HealthTick.
func HealthTopic() Topic { return Topic{kind: ofHealth} }

// PluginsTopic wakes when a plugin was registered or removed.
func PluginsTopic() Topic { return Topic{kind: ofPlugins} }

// TunnelsTopic wakes when a connection to a node is wanted from a provisioner.
func TunnelsTopic() Topic { return Topic{kind: ofTunnels} }

// OfTenant reports whether a topic is all of one tenant.
func (t Topic) OfTenant() bool { return t.kind == ofTenant }

// String is how servers name a topic to each other; ParseTopic reads it. Servers of other versions read it, too, so the texts stay.
func (t Topic) String() string {
	switch {
	case t.kind == ofCluster:
		return t.of
	case t.of == "":
		return "*" + string(t.kind)
	}
	return "*" + string(t.kind) + ":" + t.of
}

// ParseTopic reads what String has written. The id of a cluster never begins with an asterisk.
func ParseTopic(text string) Topic {
	kind, special := strings.CutPrefix(text, "*")
	if !special {
		return ClusterTopic(text)
	}
	kind, of, _ := strings.Cut(kind, ":")
	return Topic{topicKind(kind), of}
}
