package site

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"
	"muster/app"
	"muster/app/activity"
	"muster/app/build"
	"muster/app/bulk"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/health"
	"muster/app/inventory"
	"muster/app/label"
	"muster/app/layout"
	"muster/app/lock"
	appoperation "muster/app/operation"
	"muster/app/output"
	"muster/app/plugin"
	apppolicy "muster/app/policy"
	"muster/app/providervalue"
	"muster/app/scaling"
	"muster/app/schedule"
	"muster/app/settings"
	"muster/app/sharing"
	"muster/app/sshaccess"
	"muster/app/template"
	"muster/app/usage"
	"muster/app/webhook"
	"muster/app/window"
)

const SchemaPrefix = "#/components/schemas/"

// apiSchemas is huma's registry of schemas. It adds FieldTags when a type is first used, so schemas are complete before they're read or
// changed.
type apiSchemas struct {
	huma.Registry
	done map[string]bool
}

func NewAPISchemas() *apiSchemas {
	return &apiSchemas{huma.NewMapRegistry(SchemaPrefix, schemaName), map[string]bool{}}
}

// schemaName puts the domain before names of one word, since build.View and pool.View are different schemas: BuildView, PoolView.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	domain, found := strings.CutPrefix(t.PkgPath(), "muster/app/")
	if !found || t.Name() == "" || strings.ContainsFunc(t.Name()[1:], unicode.IsUpper) {
		return name
	}
	domain = path.Base(domain)
	if domain = strings.ToUpper(domain[:1]) + domain[1:]; strings.Contains(name, domain) {
		return name
	}
	return domain + name
}

func (s *apiSchemas) Schema(t reflect.Type, allowRef bool, hint string) *huma.Schema {
	schema := s.Registry.Schema(t, allowRef, hint)
	if len(s.done) == len(s.Map()) {
		return schema
	}
	for name, registered := range s.Map() { // t and the types of its fields
		if s.done[name] {
			continue
		}
		s.done[name] = true
		if fields, found := taggedFields(s.TypeFromRef(SchemaPrefix + name)); found {
			*registered = *huma.SchemaFromType(s.Registry, reflect.StructOf(fields)) // others may have a pointer to it already
		}
	}
	return schema
}

// MarshalJSON is needed because embedding a Registry doesn't promote huma's implementation.
func (s *apiSchemas) MarshalJSON() ([]byte, error) { return json.Marshal(s.Map()) }

// taggedFields returns the fields that huma builds a struct's schema from, those of embedded structs last, with their FieldTags. Found
// reports whether there are any.
func taggedFields(t reflect.Type) (fields []reflect.StructField, found bool) {
	var embedded []reflect.Type
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case !f.IsExported():
		case !f.Anonymous || f.Tag.Get("json") != "":
			if more, ok := FieldTags[t][f.Name]; ok {
				f.Tag, found = f.Tag+" "+more, true
			}
			fields = append(fields, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
		case f.Type.Kind() == reflect.Pointer:
			embedded = append(embedded, f.Type.Elem())
		default:
			embedded = append(embedded, f.Type)
		}
	}
	for _, e := range embedded {
		if e.Kind() != reflect.Struct {
			continue
		}
		inner, any := taggedFields(e)
		found = found || any
		for _, f := range inner {
			if !slices.ContainsFunc(fields, func(outer reflect.StructField) bool { return outer.Name == f.Name }) {
				fields = append(fields, f)
			}
		}
	}
	return fields, found
}

// fieldTag returns a tag of a field of t: its own, or else FieldTags'.
func fieldTag(t reflect.Type, f reflect.StructField, key string) string {
	if v, ok := f.Tag.Lookup(key); ok {
		return v
	}
	return FieldTags[t][f.Name].Get(key)
}

// FieldTags describes and limits fields of types of app and its domains, in the notation of huma's struct tags. They're here because app
// doesn't know its faces; types of this package have tags at their fields.
var FieldTags = map[reflect.Type]map[string]reflect.StructTag{
	reflect.TypeFor[cluster.AccountAnswer](): {
		"State": `enum:"checked,checking,unknown"`,
		"At":    `doc:"Time of the answer"`,
	},
	reflect.TypeFor[cluster.Actions](): {
		"Cluster":   `nullable:"false" doc:"Operations on the cluster, or on services of all nodes"`,
		"Nodes":     `nullable:"false" doc:"Operations on single nodes whose machines exist"`,
		"LostNodes": `nullable:"false" doc:"Operations on single nodes whose machines are lost"`,
	},
	reflect.TypeFor[cluster.UpdatePreview](): {
		"Nodes":   `nullable:"false"`,
		"Changes": `nullable:"false"`,
		"Notes":   `nullable:"false"`,
	},
	reflect.TypeFor[cluster.UpdatedNode](): {
		"Services": `nullable:"false"`,
	},
	reflect.TypeFor[cluster.Update](): {
		"Backfill": `hidden:"true"`,
	},
	reflect.TypeFor[apppolicy.Approval](): {
		"Count":      `minimum:"1" maximum:"20" doc:"Number of approvals required"`,
		"Group":      `maxLength:"63" doc:"Group whose members can approve"`,
		"Role":       `doc:"Role that can approve, including higher roles; default approver if neither group nor role is set"`,
		"High":       `doc:"Approvers must have re-authenticated within the last 5 minutes"`,
		"EscalateTo": `maxLength:"63" doc:"Group whose members can also approve after escalation"`,
		"BreakGlass": `maxLength:"63"`,
	},
	reflect.TypeFor[build.Callbacks](): {
		"Deliveries": `nullable:"false"`,
	},
	reflect.TypeFor[build.BuildHook](): {
		"ID":    `doc:"ID in the hook's URL; not a secret, since deliveries are signed"`,
		"Rules": `nullable:"false"`,
	},
	reflect.TypeFor[app.BuildNode](): {
		"Services": `nullable:"false"`,
	},
	reflect.TypeFor[build.Rule](): {
		"Name":        `maxLength:"63" doc:"Lowercase letters, digits, '-' and '_'"`,
		"When":        `maxLength:"2000" doc:"CEL expression over event that returns true if the rule matches"`,
		"Do":          `enum:"create,delete,extend,nothing"`,
		"Key":         `maxLength:"2000" doc:"CEL expression that returns the key of the cluster; default: the build and its job"`,
		"Template":    `maxLength:"500"`,
		"Size":        `minimum:"0" maximum:"100000" doc:"Number of nodes; 0: the template's default"`,
		"Provider":    `maxLength:"63"`,
		"Cluster":     `maxLength:"500" doc:"Name of the cluster; generated by default"`,
		"Parameters":  `doc:"Values of template parameters"`,
		"Labels":      `doc:"Labels of the cluster; values may contain parts such as ${event.branch}"`,
		"Lease":       `maxLength:"40" doc:"Lease, such as 2h; default for create: 2h"`,
		"Concurrency": `minimum:"0" maximum:"1000" doc:"Maximum number of clusters of this rule at the same time; 0: 10"`,
		"Queue":       `minimum:"0" maximum:"1000" doc:"Maximum number of waiting builds; default: 50"`,
		"WaitFor":     `maxLength:"40" doc:"Maximum time until the cluster must be ready; default: 1h"`,
		"Forks":       `enum:"never,unknown,all" doc:"never: ignore events that may come from a fork; unknown: accept events that don't name their source; all: accept all events"`,
		"Callback":    `maxLength:"2000" doc:"HTTPS URL that receives the build's status; may contain parts such as ${event.payload.callback_url}; default: none"`,
		"Again":       `doc:"Create another cluster if a running build's cluster is deleted"`,
	},
	reflect.TypeFor[cluster.CheaperLayout](): {
		"Prefer":      `doc:"Preference to request for this layout"`,
		"CurrentCost": `doc:"Cost per hour of the preview's layout"`,
	},
	reflect.TypeFor[app.Cluster](): {
		"OwnerGroup": `doc:"Group whose members have the owner's permissions"`,
		"Access":     `enum:"reader,user,co-owner,owner" doc:"The caller's access, within the limits of their role; omitted if only the role counts, as for admins"`,
	},
	reflect.TypeFor[health.ClusterHealth](): {
		"Nodes": `nullable:"false"`,
	},
	reflect.TypeFor[cluster.CreateRequest](): {
		"Visibility": `enum:"private,tenant" doc:"private: visible to its owner, people it's shared with, and admins; tenant: visible to everyone in the tenant; default: the tenant's default visibility"`,
		"Group":      `maxLength:"200" doc:"One of your groups, whose members become co-owners"`,

		"ProviderValues": `doc:"Settings of the provider for this cluster, such as credentials of your own. Sensitive values are never shown again"`,

		"Description": `maxLength:"500" doc:"Description for people"`,
		"Labels":      `doc:"Labels by key, such as cost-centre; machines carry them as tags. Labels that you leave out have the template's defaults"`,
	},
	reflect.TypeFor[providervalue.View](): {
		"Values":     `nullable:"false"`,
		"OwnAccount": `doc:"The machines are in an account that the cluster's users opened, not in the provider's"`,
	},
	reflect.TypeFor[providervalue.Value](): {
		"Set":   `doc:"The cluster has a value of its own"`,
		"Value": `doc:"The value; left out if it's sensitive"`,
	},
	reflect.TypeFor[label.Change](): {
		"Description": `maxLength:"500" doc:"The new description; omit it to keep the current one"`,
		"Set":         `doc:"Labels to add or change, by key"`,
		"Remove":      `maxItems:"40" doc:"Keys of labels to remove"`,
		"Replace":     `doc:"Also remove all labels that aren't in set"`,
	},
	reflect.TypeFor[schedule.ClusterSchedule](): {
		"Next": `nullable:"false"`,
	},
	reflect.TypeFor[template.ScalingPolicy](): {
		"Min":          `minimum:"1" maximum:"10000" doc:"Smallest number of nodes"`,
		"Max":          `minimum:"1" maximum:"10000" doc:"Largest number of nodes"`,
		"Schedule":     `maxItems:"50" doc:"Times that set the number of nodes, or the minimum"`,
		"Metrics":      `maxItems:"10" doc:"Numbers that are measured; if they disagree, the largest size counts"`,
		"Step":         `minimum:"0" maximum:"10000" doc:"How many nodes a metric adds or removes at once; default: 1"`,
		"Every":        `maxLength:"20" doc:"How often metrics are measured, such as 1m, the default"`,
		"CoolDownUp":   `maxLength:"20" doc:"How long after a change a metric can add nodes; default: 3m"`,
		"CoolDownDown": `maxLength:"20" doc:"How long after a change a metric can remove nodes; default: 10m"`,
		"Brake":        `minimum:"0" maximum:"100" doc:"After how many failures in a row scaling pauses; default: 3"`,
		"DryRun":       `doc:"Only the history says what would happen"`,
	},
	reflect.TypeFor[template.ScalingTime](): {
		"At":    `maxLength:"100" doc:"Weekdays and a time, such as Mon-Fri 08:00, or five crontab fields"`,
		"Zone":  `maxLength:"64" doc:"IANA time zone, such as Europe/Berlin; default: UTC"`,
		"Nodes": `minimum:"0" maximum:"10000" doc:"Number of nodes to have at that time"`,
		"Min":   `minimum:"0" maximum:"10000" doc:"Minimum from that time on"`,
	},
	reflect.TypeFor[template.ScalingMetric](): {
		"Name":      `maxLength:"40" doc:"Name; of a metric with a script, that of one of the template's metrics"`,
		"Script":    `maxLength:"16384" doc:"The template's script, which a cluster's own rules can't change; omit it"`,
		"Service":   `maxLength:"100" doc:"Only nodes with this service are measured"`,
		"Aggregate": `maxLength:"20" doc:"average, max or sum of the nodes' numbers; default: average"`,
		"URL":       `maxLength:"2000" doc:"Address of Prometheus, instead of a script"`,
		"Query":     `maxLength:"4000" doc:"PromQL query with one number as its answer"`,
		"Above":     `doc:"Add nodes above this number"`,
		"Below":     `doc:"Remove nodes below this number"`,
		"Target":    `doc:"Number that each node should have, instead of above and below"`,
		"Samples":   `minimum:"0" maximum:"20" doc:"How many measurements in a row must agree; default: 1"`,
	},
	reflect.TypeFor[output.List](): {
		"Outputs":   `nullable:"false"`,
		"MayReveal": `doc:"Whether the caller can get secret values"`,
	},
	reflect.TypeFor[output.Output](): {
		"Secret":   `doc:"The value is only in the answer of reveal"`,
		"Variable": `doc:"Name of the environment variable"`,
		"Missing":  `doc:"Why there is no value yet"`,
		"Mode":     `doc:"Permissions of the file, in octal"`,
	},
	reflect.TypeFor[activity.FeedPart](): {
		"Entries": `nullable:"false" doc:"Newest first"`,
		"Next":    `doc:"Where to continue, as before. A page can have few entries, or none, and still have this"`,
	},
	reflect.TypeFor[activity.Entry](): {
		"Kind": `enum:"clusters,sharing,approvals,access,people,settings"`, "Act": `doc:"Action, as in the audit log"`, "Verb": `doc:"What was done, in words"`,
		"Object": `doc:"What it was done to, as in the audit log"`, "Operation": `doc:"Number of the operation that began"`,
		"Status": `doc:"Status of the operation"`,
	},
	reflect.TypeFor[bulk.Report](): {
		"Action":  `doc:"What is done to each cluster" enum:"extend,sleep,wake,delete"`,
		"Results": `nullable:"false" doc:"In the order of the request, each cluster once"`,
	},
	reflect.TypeFor[bulk.Result](): {
		"Cluster": `doc:"ID; of a cluster that wasn't found, the ID or name in the request"`,
		"Outcome": `doc:"approval: a request will be made. requested: waiting for approval" enum:"ready,approval,done,requested,unchanged,refused"`,
		"Message": `doc:"What happens, what has happened, or why not"`, "Hint": `doc:"What to do about a refusal"`,
		"Code": `doc:"Error code of a refusal"`, "Reason": `doc:"Reason of a refusal, for programs"`, "Request": `doc:"Number of the request"`,
		"Until": `doc:"End of the lease"`, "PerHour": `doc:"By how much the cost per hour changes"`, "Cost": `doc:"Cost of an extension"`,
	},
	reflect.TypeFor[scaling.View](): {
		"Points":  `nullable:"false" doc:"The latest measurements, oldest first"`,
		"History": `nullable:"false" doc:"The latest decisions, newest first"`,
	},
	reflect.TypeFor[window.Window](): {
		"Start":  `maxLength:"100" doc:"Weekdays and a time, such as Sat 02:00, Mon-Fri 22:00 or daily 03:00, or five crontab fields"`,
		"Length": `maxLength:"20" doc:"How long the window is open, such as 4h or 90m"`,
		"Zone":   `maxLength:"64" doc:"IANA time zone, such as Europe/Berlin; default: UTC"`,
	},
	reflect.TypeFor[window.Settings](): {
		"Windows":   `nullable:"false" maxItems:"20" doc:"Times at which changes can start; none: nothing waits"`,
		"AppliesTo": `maxItems:"10" doc:"Changes that wait; default: upgrade, repair, auto_repair and approved"`,
		"Overrun":   `enum:"allow,wait" doc:"For changes that are expected to take longer than the window is open. allow: start anyway; wait: start in a window that is long enough"`,
		"Locked":    `doc:"Of a tenant: clusters can't have windows of their own"`,
	},
	reflect.TypeFor[window.View](): {
		"Next":    `nullable:"false" doc:"The window that is open, and the next ones"`,
		"Waiting": `nullable:"false" doc:"Requests of the cluster that wait for a window"`,
	},
	reflect.TypeFor[app.Expectation](): {
		"Typical":   `doc:"Typical duration, in nanoseconds"`,
		"Low":       `doc:"Low estimate, in nanoseconds"`,
		"High":      `doc:"High estimate, in nanoseconds"`,
		"Estimated": `doc:"Part of typical without history, in nanoseconds"`,
		"Runs":      `doc:"Smallest number of earlier runs of any step; 0 without history"`,
	},
	reflect.TypeFor[apppolicy.Input](): {
		"Groups":   `nullable:"false"`,
		"Services": `nullable:"false"`,
		"Hardware": `nullable:"false"`,
	},
	reflect.TypeFor[family.Field](): {
		"Type":  `enum:"text,lines,int,bool,choice,list"`,
		"SetBy": `enum:"tenant,account_owner,installation"`,
	},
	reflect.TypeFor[health.NodeHealth](): {
		"Reasons": `nullable:"false"`,
	},
	reflect.TypeFor[fleet.Proof](): {
		"State":     `enum:"pending,proven,failed" doc:"pending: not checked yet; failed: the last check couldn't prove the deletion and will be repeated; omitted while the cluster exists"`,
		"CheckedAt": `doc:"Last check of the account"`,
		"NextAt":    `doc:"Latest time of the next check; omitted once proven"`,
	},
	reflect.TypeFor[fleet.ProvisionerGrant](): {
		"Tenants": `nullable:"false"`,
	},
	reflect.TypeFor[plugin.View](): {
		"Name":    `doc:"Name of the file"`,
		"Kind":    `enum:"provider,automator"`,
		"Type":    `doc:"Type of provider, or automator, that the plugin adds"`,
		"State":   `enum:"unregistered,registered,changed,missing,removed" doc:"` + pluginStates + `"`,
		"SHA256":  `doc:"Of the file on this server"`,
		"Pinned":  `doc:"That the file must have"`,
		"Loaded":  `doc:"This server has used it since it was started"`,
		"Problem": `doc:"Why it can't be used, or when it can"`,
	},
	reflect.TypeFor[template.PartialOverride](): {
		"MinAvailable": `doc:"Number of nodes or share of the requested nodes: \"3\", \"60%\"; empty: the minimum that the template's constraints allow"`,
		"KeepFailed":   `maxLength:"20" doc:"How long to keep failed machines for inspection instead of deleting them, such as 4h, or off; default: the template's setting"`,
	},
	reflect.TypeFor[layout.PlaceOptions](): {
		"Places":  `maxItems:"20" doc:"Places to try, one after the other if there's no capacity; fields left out are those of the request. Default: the template's"`,
		"Pricing": `maxItems:"2" enum:"spot,on_demand" doc:"Kinds of price to accept; default: any"`,
		"Order":   `enum:"cheapest,fastest,listed" doc:"Which place to try first; default: the template's, or cheapest"`,
	},
	reflect.TypeFor[template.Place](): {
		"Provider": `maxLength:"64"`,
		"Zone":     `maxLength:"64"`,
		"Hardware": `maxLength:"64"`,
	},
	reflect.TypeFor[layout.Candidate](): {
		"Duration": `doc:"Expected duration, in nanoseconds"`,
		"Account":  `doc:"What the provider's account says about its limits, in previews"`,
		"State":    `enum:"ready,impossible,trying,no_capacity,refused,failed,used"`,
		"Reason":   `doc:"Why the place is impossible, or was left"`,
		"Cluster":  `doc:"Cluster of the attempt"`,
		"Pricing":  `enum:"on_demand,spot,spot_or_on_demand"`,
	},
	reflect.TypeFor[layout.Places](): {
		"Order":      `enum:",cheapest,fastest,listed" doc:"Empty if the request named one place only"`,
		"Current":    `doc:"Cluster of the latest attempt"`,
		"State":      `enum:",trying,leaving,done,ended" doc:"leaving: what was created in a place without capacity is being deleted"`,
		"Candidates": `nullable:"false"`,
	},
	reflect.TypeFor[cluster.Problem](): {
		"Lost":     `nullable:"false"`,
		"Failures": `nullable:"false"`,
		"Options":  `nullable:"false"`,
	},
	reflect.TypeFor[cluster.RecoveryOption](): {
		"Kind": `enum:"resume,repair,roll_back,reconfigure,accept_partial,wake,delete"`,
	},
	reflect.TypeFor[build.BuildHookRequest](): {
		"System":      `maxLength:"40" doc:"Build system that sends to a new hook"`,
		"Owner":       `maxLength:"63" doc:"User the hook acts as; default for a new hook: you"`,
		"Rules":       `maxItems:"50" doc:"Rules for events; the first match applies"`,
		"Enabled":     `doc:"Whether deliveries create clusters; builds that end are handled in any case"`,
		"Secret":      `maxLength:"512" doc:"Signing secret, if the build system generates it; write-only"`,
		"StatusToken": `maxLength:"512" doc:"Build system token for writing commit statuses; empty turns them off; write-only"`,
		"StatusAPI":   `maxLength:"2048" doc:"URL of the build system's API, such as https://github.example.com/api/v3; default: the public API"`,
		"Rotate":      `doc:"Generate a new secret; the old one stays valid for a day"`,
	},
	reflect.TypeFor[build.Trial](): {
		"Rules":    `maxItems:"50" doc:"Rules to try instead of the hook's"`,
		"Delivery": `minimum:"0" doc:"Number of a stored delivery of the hook"`,
		"Event":    `doc:"Sample event"`,
	},
	reflect.TypeFor[build.RuleTrialResult](): {
		"Rules": `nullable:"false"`,
	},
	reflect.TypeFor[build.View](): {
		"Nodes": `nullable:"false"`,
		"Links": `nullable:"false"`,
	},
	reflect.TypeFor[catalog.Report](): {
		"Unchanged": `doc:"Unchanged entries, ignoring key order, spacing and quotes; they get no new version"`,
	},
	reflect.TypeFor[catalog.TemplateDiff](): {
		"Changes": `nullable:"false"`,
	},
	reflect.TypeFor[catalog.TemplateView](): {
		"Parts": `nullable:"false"`,
	},
	reflect.TypeFor[sshaccess.ClusterCertificate](): {
		"Certificate": `doc:"Content of a file such as id_ed25519-cert.pub"`,
		"User":        `doc:"SSH user"`,
		"Serial":      `doc:"Serial number in the audit log and in machines' logs"`,
	},
	reflect.TypeFor[cluster.Diff](): {
		"Changes": `nullable:"false"`,
		"Notes":   `nullable:"false"`,
	},
	reflect.TypeFor[cluster.Page](): {
		"Clusters": `nullable:"false"`,
		"Next":     `doc:"Value of after for the next page; omitted on the last page"`,
	},
	reflect.TypeFor[lock.Ask](): {
		"Node":   `maxLength:"20" doc:"Node to lock; omitted for the whole cluster"`,
		"Reason": `maxLength:"300" doc:"Why, for the people who see the cluster"`,
	},
	reflect.TypeFor[lock.Item](): {
		"Cluster": `doc:"ID of the cluster"`,
		"Name":    `doc:"Name of the cluster"`,
		"Node":    `doc:"Locked node; omitted for the whole cluster"`,
		"Lock":    `doc:"Who locked it, when and why"`,
	},
	reflect.TypeFor[sharing.Share](): {
		"Person": `maxLength:"64"`,
		"Group":  `maxLength:"200"`,
		"Access": `enum:"reader,user,co-owner" doc:"Access level, within the limits of each person's role; omitted when removing a share"`,
		"Until":  `doc:"When the access ends, at most 366 days ahead; omitted if it doesn't"`,
		"For":    `maxLength:"40" doc:"In requests, how long the access lasts instead of until, such as 8h, 1d or 2w"`,
	},
	reflect.TypeFor[sharing.ClusterSharing](): {
		"Shares": `nullable:"false"`,
	},
	reflect.TypeFor[sharing.SharingChange](): {
		"Visibility": `enum:"private,tenant" doc:"private: visible to its owner, people it's shared with, and admins; tenant: visible to everyone in the tenant"`,
		"Add":        `maxItems:"100" doc:"Shares to add or change"`,
		"Remove":     `maxItems:"100" doc:"Shares to remove"`,
	},
	reflect.TypeFor[cluster.SpecExport](): {
		"Omitted": `nullable:"false"`,
		"Groups":  `nullable:"false"`,
	},
	reflect.TypeFor[execution.Queue](): {
		"Groups":     `nullable:"false"`,
		"Operations": `nullable:"false"`,
	},
	reflect.TypeFor[execution.Queues](): {
		"Tenants": `nullable:"false"`,
	},
	reflect.TypeFor[execution.Waiting](): {
		"Groups": `nullable:"false"`,
		"Steps":  `nullable:"false"`,
	},
	reflect.TypeFor[fleet.AccountCalls](): {
		"Hour": `doc:"Calls in about the last hour by error code; successful calls have an empty code"`,
	},
	reflect.TypeFor[fleet.ProviderCheck](): {
		"Duration": `doc:"Duration, in nanoseconds"`,
	},
	reflect.TypeFor[fleet.ProviderHealth](): {
		"Rate":        `doc:"Rate limit; per_second 0 means unlimited"`,
		"Known":       `doc:"Whether call statistics are available; false while Redis is down"`,
		"Waiting":     `doc:"Ready steps of all tenants that are waiting for a machine of this provider"`,
		"LastListing": `doc:"Result of the last listing of the account"`,
	},
	reflect.TypeFor[fleet.ServerInfo](): {
		"Skew":       `doc:"How far this server's clock is ahead of the database's, in nanoseconds"`,
		"RedisError": `doc:"Error if Redis isn't available"`,
		"Leader":     `doc:"Whether this server sends notifications, reconciles and expires leases for all servers"`,
		"Settings":   `nullable:"false"`,
	},
	reflect.TypeFor[fleet.Setting](): {
		"Value": `doc:"Omitted for secrets"`,
	},
	reflect.TypeFor[appoperation.Conditions](): {
		"Size":  `minimum:"0" maximum:"100000" doc:"Maximum number of nodes; 0: as requested"`,
		"Lease": `minimum:"0" doc:"Maximum lease, in nanoseconds; 0: as requested"`,
	},
	reflect.TypeFor[appoperation.Drift](): {
		"Items": `nullable:"false"`,
		"Notes": `nullable:"false"`,
	},
	reflect.TypeFor[appoperation.AcceptPartialPreview](): {
		"Deletes": `nullable:"false"`,
		"Nodes":   `nullable:"false"`,
		"Notes":   `nullable:"false"`,
	},
	reflect.TypeFor[appoperation.ReviewRequest](): {
		"Verdict":  `enum:"approve,deny,conditions"`,
		"Reason":   `maxLength:"1000"`,
		"PlanHash": `maxLength:"64"`,
	},
	reflect.TypeFor[appoperation.RollBackPreview](): {
		"Deletes": `nullable:"false"`,
	},
	reflect.TypeFor[apppolicy.Policy](): {
		"Name":     `maxLength:"63" doc:"Lowercase letters, digits and dashes"`,
		"About":    `maxLength:"500" doc:"Description"`,
		"Order":    `minimum:"0" maximum:"100000" doc:"Evaluation order, lowest first"`,
		"When":     `maxLength:"2000" doc:"CEL expression that returns true if the policy applies"`,
		"Effect":   `enum:"allow,refuse,rewrite,approve"`,
		"Reason":   `maxLength:"1000" doc:"Reason shown to the requester; parts such as ${nodes} are CEL"`,
		"LeaseCap": `maxLength:"2000" doc:"For rewrite: CEL expression that returns the maximum lease"`,
		"Set":      `doc:"For rewrite: CEL expressions for what the request becomes"`,
		"Approval": `doc:"For approve, and optional for rewrite: required approvals"`,
		"Version":  `required:"false" doc:"Set by the server; if sent, it must be the current version"`,
		"SavedBy":  `required:"false"`,
		"SavedAt":  `required:"false"`,
		"Deleted":  `required:"false" doc:"Whether this version records the deletion"`,
	},
	reflect.TypeFor[apppolicy.Set](): {
		"Size":     `maxLength:"2000" doc:"CEL expression that returns the number of nodes, such as min(nodes, 5)"`,
		"Hardware": `maxLength:"2000" doc:"CEL expression that returns a name, or a list of allowed names; anything else becomes the first"`,
		"Provider": `maxLength:"2000" doc:"CEL expression that returns a name, or a list of allowed names; anything else becomes the first"`,
		"Lease":    `maxLength:"2000" doc:"CEL expression that returns the lease"`,
	},
	reflect.TypeFor[apppolicy.Change](): {
		"Policy": `doc:"Name of the policy; or webhook, a space, and the name of the webhook"`,
		"Field":  `enum:"size,hardware,provider,lease,labels"`,
		"From":   `doc:"As requested: a number of nodes, a name (empty: any), or a lease in nanoseconds (0: no expiry)"`,
		"To":     `doc:"After the change, as from"`,
	},
	reflect.TypeFor[apppolicy.TrialResult](): {
		"Cases":   `nullable:"false"`,
		"Partial": `doc:"Whether time ran out before all cases were tried"`,
	},
	reflect.TypeFor[apppolicy.TrialRequest](): {
		"Past": `minimum:"0" maximum:"1000"`,
	},
	reflect.TypeFor[settings.TenantImport](): {
		"File":  `maxLength:"16777216" doc:"Content of an export file"`,
		"Fill":  `doc:"Values for placeholders such as ${secret:NAME}, by name; existing values are kept; write-only"`,
		"Prune": `doc:"Also remove settings missing from the file, in the sections that the file contains"`,
		"AsOf":  `maxLength:"64" doc:"The as_of of the reviewed report; rejected if the settings have changed since"`,
	},
	reflect.TypeFor[settings.TenantReport](): {
		"Problems": `nullable:"false"`,
		"Changes":  `nullable:"false"`,
		"Fill":     `doc:"Names of placeholders without a value"`,
	},
	reflect.TypeFor[inventory.Inventory](): {
		"Hosts": `nullable:"false"`,
	},
	reflect.TypeFor[inventory.Host](): {
		"Services": `nullable:"false"`,
	},
	reflect.TypeFor[usage.Usage](): {
		"By":    `doc:"none, tenant, user, template, provider, hardware, cluster, or label: and a key"`,
		"Step":  `enum:"none,hour,day,week,month,year"`,
		"Lines": `nullable:"false" doc:"Sorted by time, then by cost, highest first"`,
	},
	reflect.TypeFor[webhook.EndpointRequest](): {
		"URL":        `maxLength:"2048" doc:"URL that receives notifications; write-only: only part of it is returned"`,
		"Kinds":      `maxItems:"32" doc:"Kinds of notifications to send; empty: all"`,
		"Format":     `doc:"muster, slack or mail; for an operation hook, muster or coopr"`,
		"To":         `maxLength:"512" doc:"For mail: recipients, separated by commas"`,
		"Enabled":    `doc:"Whether notifications are sent; true also restarts a hook that was stopped"`,
		"Secret":     `maxLength:"128" doc:"Signing secret: whsec_ and 24–64 bytes in base64; write-only"`,
		"Rotate":     `doc:"Generate a new secret; deliveries are also signed with the old one for a day"`,
		"When":       `doc:"For a new operation hook: before, after or failure; template for a hook that templates refer to; or request for one that is asked about each request"`,
		"Operations": `maxItems:"32" doc:"For an operation hook: kinds of operations; empty: all"`,
		"Timeout":    `doc:"For an operation hook: timeout for the response or script, in nanoseconds; 0: 5 minutes, or 30 minutes for a script, or 3 seconds for a request"`,
		"OnTimeout":  `doc:"For a before or request hook: what to do on timeout, veto or continue"`,
		"Script":     `maxLength:"65536" doc:"Instead of a URL: script to run on nodes before or after the operation"`,
		"Services":   `maxItems:"100" doc:"For a script: run on nodes with one of these services; empty: all nodes"`,
	},
}

const pluginStates = "unregistered: used as it is found; changed: the file isn't the registered one, so it isn't run; " +
	"missing: registered, but not on this server; removed: not run any more"
