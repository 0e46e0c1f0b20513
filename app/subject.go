package app

import (
	"strconv"
	"strings"
)

// SubjectKind is a kind of thing that people look at.
type SubjectKind string

// The kinds of subject.
const (
	SubjectCluster        SubjectKind = "cluster"
	SubjectClusters       SubjectKind = "clusters"        // the list of a tenant's
	SubjectKeep           SubjectKind = "keep"            // an idle cluster
	SubjectLeaseExtension SubjectKind = "lease_extension" // of a cluster, signed
	SubjectManualSteps    SubjectKind = "questions"       // of a cluster
	SubjectRequest        SubjectKind = "request"
	SubjectRun            SubjectKind = "run"   // a command on nodes: CLUSTER/OPERATION
	SubjectBuild          SubjectKind = "build" // HOOK/NUMBER
	SubjectBuildHook      SubjectKind = "build_hook"
	SubjectHook           SubjectKind = "hook"
	SubjectPool           SubjectKind = "pool"
	SubjectResources      SubjectKind = "resources"
	SubjectUsage          SubjectKind = "usage"
	SubjectVolumes        SubjectKind = "volumes"
	SubjectNotices        SubjectKind = "notices"
	SubjectPassword       SubjectKind = "password"      // one's own
	SubjectSecondFactor   SubjectKind = "second_factor" // one's own
	SubjectHome           SubjectKind = "home"
	SubjectNewCluster     SubjectKind = "new_cluster"
	SubjectWaiting        SubjectKind = "waiting" // why a cluster is not further
	SubjectRequests       SubjectKind = "requests"
	SubjectOrphans        SubjectKind = "orphans"
	SubjectIdentityLink   SubjectKind = "identity_link" // with its token
	// SubjectAddress is what versions before subjects kept of one: the address of its page.
	SubjectAddress SubjectKind = "address"
)

// Subject is what something is about. Where it is shown is for the faces to know, since each has its own pages.
type Subject struct {
	Kind SubjectKind
	ID   string
	// Query is what else its page is to know, such as the signature of a link, in the form of a query.
	Query string
}

// ClusterSubject is a cluster.
func ClusterSubject(id string) Subject { return Subject{Kind: SubjectCluster, ID: id} }

// RequestSubject is a request.
func RequestSubject(id int64) Subject {
	return Subject{Kind: SubjectRequest, ID: strconv.FormatInt(id, 10)}
}

// RunSubject is a command on nodes of a cluster.
func RunSubject(cluster string, operation int64) Subject {
	return Subject{Kind: SubjectRun, ID: cluster + "/" + strconv.FormatInt(operation, 10)}
}

// BuildSubject is a build of a build hook.
func BuildSubject(hook string, build int64) Subject {
	return Subject{Kind: SubjectBuild, ID: hook + "/" + strconv.FormatInt(build, 10)}
}

// String writes a subject as it is kept, such as cluster:web-1.
func (s Subject) String() string {
	if s.Kind == SubjectAddress {
		return s.ID
	}
	text := string(s.Kind)
	if s.ID != "" {
		text += ":" + s.ID
	}
	if s.Query != "" {
		text += "?" + s.Query
	}
	return text
}

// ParseSubject reads what String wrote, and the addresses that earlier versions kept.
func ParseSubject(text string) (s Subject) {
	if strings.HasPrefix(text, "/") {
		return Subject{Kind: SubjectAddress, ID: text}
	}
	text, s.Query, _ = strings.Cut(text, "?")
	kind, id, _ := strings.Cut(text, ":")
	s.Kind, s.ID = SubjectKind(kind), id
	return s
}
