package activity

import (
	"slices"
	"strings"

	"muster/app"
)

// Kind groups what people do.
type Kind string

// The kinds. The last two are for admins only.
const (
	KindClusters  Kind = "clusters"  // created, changed, deleted
	KindSharing   Kind = "sharing"   // of clusters, and their owners
	KindApprovals Kind = "approvals" // requests, and what was decided
	KindAccess    Kind = "access"    // terminals, commands and keys: for those who use the cluster
	KindPeople    Kind = "people"    // users, groups and tokens
	KindSettings  Kind = "settings"  // of the tenant: catalog, policies, quotas, secrets and so on
)

// Kinds are all, in the order of the page.
var Kinds = []Kind{KindClusters, KindSharing, KindApprovals, KindAccess, KindPeople, KindSettings}

// AdminOnly reports whether only those who see everything of the tenant see it.
func (k Kind) AdminOnly() bool { return k == KindPeople || k == KindSettings }

// Acts chooses acts of the audit log: those that begin with a prefix, and single ones, but none of Except.
type Acts struct{ Prefixes, Names, Except []string }

// apart are acts on clusters that are of other kinds than their names begin with.
var (
	sharingActs = []string{"cluster.share", "cluster.share_end", "cluster.transfer", "cluster.owner"}
	accessActs  = []string{"terminal.open", "terminal.play", "cluster.run", "cluster.connect", "cluster.key",
		"cluster.certificate", "cluster.outputs", "port.open", "file.download", "file.upload"}
)

// acts are those of each kind. What isn't here, such as sign-ins, is in the audit log only.
var acts = map[Kind]Acts{
	KindClusters:  {Prefixes: []string{"cluster.", "operation."}, Except: slices.Concat(sharingActs, accessActs)},
	KindSharing:   {Names: sharingActs},
	KindApprovals: {Prefixes: []string{"request."}},
	KindAccess:    {Names: accessActs},
	KindPeople:    {Prefixes: []string{"user.", "group.", "token."}},
	KindSettings: {Prefixes: []string{"policy.", "quota.", "catalog.", "secret.", "hook.", "build_hook.", "pool.", "image.", "tenant.", "chat.", "resource."},
		Names: []string{"terminal.settings"}},
}

// ActsOf are the acts of a kind.
func ActsOf(k Kind) Acts { return acts[k] }

// has reports whether an act is among them.
func (a Acts) has(act string) bool {
	if slices.Contains(a.Except, act) {
		return false
	}
	return slices.Contains(a.Names, act) || slices.ContainsFunc(a.Prefixes, func(p string) bool { return strings.HasPrefix(act, p) })
}

// kindOf is the kind of an act; "" for what the feed doesn't show.
func kindOf(act string) Kind {
	for _, k := range Kinds {
		if acts[k].has(act) {
			return k
		}
	}
	return ""
}

// verbs are what acts are called. Others are called by their own names.
var verbs = map[string]string{
	"cluster.create": "created", "cluster.delete": "deleted", "cluster.resize": "resized", "cluster.sleep": "put to sleep", "cluster.wake": "woke",
	"cluster.add_services": "added services to", "cluster.remove_services": "removed services from", "cluster.reconfigure": "reconfigured",
	"cluster.start": "started services of", "cluster.stop": "stopped services of", "cluster.restart": "restarted services of", "cluster.upgrade": "upgraded",
	"cluster.repair": "repaired", "cluster.compare": "compared services of", "cluster.roll_back": "rolled back",
	"cluster.accept_partial": "accepted the partial result of",
	"cluster.lease":          "changed the lease of", "cluster.label": "changed labels of", "cluster.rename": "renamed",
	"cluster.schedule": "changed the sleep schedule of", "cluster.action_schedule": "changed schedules of actions of",
	"cluster.lock": "locked", "cluster.unlock": "unlocked",
	"cluster.share_end": "ended a share of", "file.download": "downloaded a file from", "file.upload": "uploaded a file to",
	"cluster.keep": "kept", "cluster.idle": "changed the idle policy of", "cluster.scaling": "changed scaling of",
	"cluster.scaling_resume": "resumed scaling of",
	"cluster.backfill":       "changed backfill of", "cluster.health_check": "checked the health of", "cluster.provider_values": "changed provider settings of",
	"cluster.use_kept": "reused kept machine", "cluster.share": "changed sharing of", "cluster.transfer": "transferred", "cluster.owner": "changed the owner of",
	"cluster.run": "ran a command on", "cluster.connect": "connected to", "cluster.key": "got the SSH key of", "cluster.certificate": "got an SSH certificate for",
	"cluster.outputs": "revealed outputs of", "port.open": "opened a port of", "terminal.open": "opened a terminal on", "terminal.play": "played a recording of",
	"operation.pause": "paused the operation on", "operation.resume": "resumed the operation on", "operation.cancel": "canceled the operation on",
	"operation.retry_node": "retried a node of", "request.wait": "requested approval:", "request.accept": "accepted", "request.refuse": "was refused by a policy:",
	"request.schedule": "scheduled", "request.approve": "approved", "request.deny": "denied", "request.withdraw": "withdrew", "request.expire": "let expire",
	"request.run_now": "ran before its maintenance window", "request.confirm": "confirmed",
	"request.comment": "commented on", "request.override": "used the emergency override on",
	"terminal.settings": "changed settings of terminals of", "tenant.visibility": "changed the default visibility of", "tenant.idle": "changed the idle policy of",
	"tenant.import": "imported settings of", "user.reset_password": "reset the password of", "policy.time_zone": "changed the time zone of policies of",
}

// nouns are what objects are where their names don't say so.
var nouns = map[string]string{"user": "user", "group": "group", "token": "token", "policy": "policy", "quota": "quota",
	"catalog": "catalog entry", "secret": "secret",
	"hook": "webhook", "build_hook": "build webhook", "pool": "pool", "image": "image", "chat": "chat", "resource": "resource"}

// pasts are the past tense of acts that many nouns have.
var pasts = map[string]string{"create": "created", "delete": "deleted", "save": "saved", "set": "set", "change": "changed",
	"remove": "removed", "revoke": "revoked",
	"install": "installed", "groups": "changed groups of", "push": "uploaded", "stage": "staged", "recall": "recalled", "sync": "synchronized", "drain": "drained",
	"bake": "baked"}

// verbOf is what someone did, up to the object.
func verbOf(act string) string {
	if v := verbs[act]; v != "" {
		return v
	}
	noun, what, _ := strings.Cut(act, ".")
	v := pasts[what]
	if v == "" {
		v = "changed (" + strings.ReplaceAll(what, "_", " ") + ")"
	}
	if n := nouns[noun]; n != "" {
		v += " " + n
	}
	return v
}

// byMuster are names under which Muster acts itself.
var byMuster = []string{"", "muster", app.Expirer, app.Retrier, app.IdleUser}
