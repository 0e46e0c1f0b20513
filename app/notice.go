package app

import (
	"time"
)

// NoticeKind says what a notice is about.
type NoticeKind string

// The kinds of notice.
const (
	NoticeLease      NoticeKind = "lease"       // a lease ends soon, has ended, or cannot be ended
	NoticeIdle       NoticeKind = "idle"        // a cluster is idle, and will sleep or be deleted
	NoticeApproval   NoticeKind = "approval"    // a request waits for someone, or was decided on
	NoticeBudget     NoticeKind = "budget"      // a budget or quota is nearly used up
	NoticeAlarm      NoticeKind = "alarm"       // someone used the emergency override, or what should never happen has happened
	NoticeCluster    NoticeKind = "cluster"     // a cluster was given to someone else, or was to sleep or wake by its schedule and did not
	NoticeReady      NoticeKind = "ready"       // a cluster is ready to use
	NoticeFailed     NoticeKind = "failed"      // an operation on a cluster failed
	NoticeLost       NoticeKind = "lost"        // machines of a cluster are gone or stopped
	NoticePool       NoticeKind = "pool"        // a pool of machines cannot be refilled
	NoticeHook       NoticeKind = "hook"        // notices do not reach one of the tenant's hooks any more
	NoticeManualStep NoticeKind = "manual_step" // an operation waits for someone's answer
	NoticeResource   NoticeKind = "resource"    // other versions of resources are in use
	NoticeAccount    NoticeKind = "account"     // an admin removed the second factors of someone's account, a recovery code was used, or many wrong codes were entered
	NoticeTest       NoticeKind = "test"        // only ever sent by the test of a hook
	NoticeOperation  NoticeKind = "operation"   // only ever sent to operation hooks
)

// NoticeKinds are those that hooks can choose from.
var NoticeKinds = []NoticeKind{NoticeLease, NoticeIdle, NoticeApproval, NoticeBudget, NoticeAlarm, NoticeCluster, NoticeReady, NoticeFailed, NoticeLost,
	NoticeHealth, NoticeManualStep, NoticePool, NoticeHook, NoticeResource, NoticeAccount}

// OwnerNoticeKinds tell the owner of a cluster how it is; where a group owns it, the group is notified, too.
var OwnerNoticeKinds = []NoticeKind{NoticeLease, NoticeIdle, NoticeReady, NoticeFailed, NoticeLost, NoticeHealth}

// Notice is something that people are notified of, wherever they are: by webhook, later by chat. It is written in the
// transaction of what it tells, and delivered after, at least once; ID tells two deliveries of the same.
type Notice struct {
	ID      int64      `json:"id"`
	At      time.Time  `json:"at"`
	Tenant  string     `json:"tenant"`
	Kind    NoticeKind `json:"kind"`
	Cluster string     `json:"cluster,omitempty"` // its id
	Request int64      `json:"request,omitempty"`
	// Users and Groups are whom it is for; the webhooks of the tenant get it in any case.
	Users  []string `json:"users,omitempty"`
	Groups []string `json:"groups,omitempty"`
	// Title is one short sentence; Text says the rest, in plain text. Nothing in either is secret.
	Title string `json:"title"`
	Text  string `json:"text,omitempty"`
	// About is what it is about; Act is where the one thing is done that is most likely wanted now, named by ActionName, such as
	// "Extend". Faces make addresses of both.
	About      Subject `json:"-"`
	Act        Subject `json:"-"`
	ActionName string  `json:"-"`
}

// NoticeReader is who reads what is meant for it.
type NoticeReader struct {
	User   string
	Groups []string
}
