package app

import (
	"fmt"
	"slices"
	"time"
)

// Visibility says who may see a cluster beside its owner, those it is shared with, and admins.
type Visibility string

// The visibilities.
const (
	VisiblePrivate Visibility = "private" // no one else
	VisibleTenant  Visibility = "tenant"  // everyone in its tenant
)

// Visibilities are all of them.
var Visibilities = []Visibility{VisiblePrivate, VisibleTenant}

func (v Visibility) Check() error {
	if slices.Contains(Visibilities, v) {
		return nil
	}
	return &Error{Code: EInvalid, Field: "visibility", Message: fmt.Sprintf("Unknown visibility %.40q.", string(v)), Hint: "Use private or tenant."}
}

// Access is what a person may do with a cluster, as far as their role allows it. Each includes those before.
type Access int

// The kinds of access.
const (
	AccessNone    Access = iota // the cluster is not found
	AccessReader                // sees its state, events and logs
	AccessUser                  // signs in to its machines, sees its configuration, starts, stops and restarts services, puts it to sleep and wakes it
	AccessCoOwner               // what the owner may, including deleting and sharing
	AccessOwner
)

var accessWords = []string{"", "reader", "user", "co-owner", "owner"}

func (a Access) String() string { return accessWords[a] }

func (a Access) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

func (a *Access) UnmarshalText(text []byte) error {
	i := slices.Index(accessWords, string(text))
	if i < 0 {
		return &Error{Code: EInvalid, Field: "access", Message: fmt.Sprintf("Unknown access %.40q.", text), Hint: "Use reader, user or co-owner."}
	}
	*a = Access(i)
	return nil
}

// ClusterReader is who looks at clusters. The zero value sees nothing.
type ClusterReader struct {
	Tenant  string
	User    string // Actor.Name
	Groups  []string
	Role    Role
	SeesAll bool
	// Now is when they look: shares that have ended don't count. Without it, shares that have an end don't.
	Now time.Time
	// Clusters and Requests are open for the reader: to decide on, or to answer a question about.
	Clusters []string
	Requests []int64
}

// AccessTo is what the reader may do with a cluster, where shared is the most that was shared with the reader or its groups.
func (r ClusterReader) AccessTo(c Cluster, shared Access) Access {
	switch {
	case c.Tenant != r.Tenant || c.Pool > 0:
		return AccessNone
	case c.Owner == r.User, c.OwnerGroup != "" && slices.Contains(r.Groups, c.OwnerGroup):
		return AccessOwner
	case c.Visibility == VisibleTenant, slices.Contains(r.Clusters, c.ID):
		return max(shared, AccessReader)
	}
	return shared
}

// lasting are what people can't do whose access to a cluster ends: it would outlast their access.
var lasting = []string{"ClusterKey", "TransferCluster"}

func (c Cluster) lastingOnly(useCase string) error {
	if c.AccessUntil.IsZero() || !slices.Contains(lasting, useCase) {
		return nil
	}
	return c.AccessEnds("Ask " + c.Owner + " to do this.")
}

// AccessEnds is the error for what those can't do whose access to the cluster ends.
func (c Cluster) AccessEnds(hint string) *Error {
	return &Error{Code: EForbidden, Reason: "access_ends", Hint: hint,
		Message: fmt.Sprintf("Your access to cluster %q ends on %s, so you can't do this.", c.Name, Moment(c.AccessUntil))}
}
