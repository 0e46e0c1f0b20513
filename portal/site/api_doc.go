package site

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"muster/app"
	"muster/app/build"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/health"
	"muster/app/inventory"
	appoperation "muster/app/operation"
	apppolicy "muster/app/policy"
	"muster/app/schedule"
	"muster/app/settings"
	"muster/app/template"
	"muster/app/usage"
	"muster/app/webhook"
)

const SchemaPrefix = "#/components/schemas/"

// apiSchemas is huma's registry of schemas. It adds fieldTags when a type is first used, so schemas are complete before anything reads or
// changes them.
type apiSchemas struct {
	huma.Registry
	done map[string]bool
}

func NewAPISchemas() *apiSchemas {
	return &apiSchemas{huma.NewMapRegistry(SchemaPrefix, huma.DefaultSchemaNamer), map[string]bool{}}
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

// MarshalJSON is here because embedding a Registry does not promote that of huma's implementation.
func (s *apiSchemas) MarshalJSON() ([]byte, error) { return json.Marshal(s.Map()) }

// taggedFields returns the fields from which huma builds the schema of a struct, those of embedded structs last, with their fieldTags. found
// tells whether there are any.
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

// fieldTag returns a tag of a field of t: its own, or else that of fieldTags.
func fieldTag(t reflect.Type, f reflect.StructField, key string) string {
	if v, ok := f.Tag.Lookup(key); ok {
		return v
	}
	return FieldTags[t][f.Name].Get(key)
}

// FieldTags describes fields of types of app and its domains, and limits the values that requests may have for them. The notation is that of
// huma's struct tags. They are here because app does not know its faces; types of this package have their tags at their fields.
var FieldTags = map[reflect.Type]map[string]reflect.StructTag{
	reflect.TypeFor[cluster.AccountAnswer](): {
		"State": `enum:"checked,checking,unknown"`,
		"At":    `doc:"When it answered."`,
	},
	reflect.TypeFor[cluster.Actions](): {
		"Cluster":   `nullable:"false" doc:"Changes of the cluster, or of services on all of its nodes"`,
		"Nodes":     `nullable:"false" doc:"Changes that may name a node whose machine is there"`,
		"LostNodes": `nullable:"false" doc:"Changes that may name a node whose machine is gone"`,
	},
	reflect.TypeFor[cluster.AmendPreview](): {
		"Nodes":   `nullable:"false"`,
		"Changes": `nullable:"false"`,
		"Notes":   `nullable:"false"`,
	},
	reflect.TypeFor[cluster.AmendedNode](): {
		"Services": `nullable:"false"`,
	},
	reflect.TypeFor[cluster.Amendment](): {
		"TopUp": `hidden:"true"`,
	},
	reflect.TypeFor[apppolicy.Approval](): {
		"Count":      `minimum:"1" maximum:"20" doc:"How many have to approve"`,
		"Group":      `maxLength:"63" doc:"Members of this group may"`,
		"Role":       `doc:"Who has this role, or a mightier one, may; approver where neither group nor role is said"`,
		"High":       `doc:"Approvers must have proved within five minutes who they are"`,
		"EscalateTo": `maxLength:"63" doc:"Members of this group may, too, once it was escalated"`,
		"BreakGlass": `maxLength:"63"`,
	},
	reflect.TypeFor[build.BuildCallbacks](): {
		"Told": `nullable:"false"`,
	},
	reflect.TypeFor[build.BuildHook](): {
		"ID":    `doc:"It stands in the address; knowing it is not enough to be heard"`,
		"Rules": `nullable:"false"`,
	},
	reflect.TypeFor[app.BuildNode](): {
		"Services": `nullable:"false"`,
	},
	reflect.TypeFor[build.BuildRule](): {
		"Name":        `maxLength:"63" doc:"Small letters, digits, '-' and '_'"`,
		"When":        `maxLength:"2000" doc:"CEL over event that gives true where the rule matches"`,
		"Do":          `enum:"create,delete,extend,nothing"`,
		"Key":         `maxLength:"2000" doc:"CEL that gives a text; clusters are told apart by it. The build and its job where left out"`,
		"Template":    `maxLength:"500"`,
		"Size":        `minimum:"0" maximum:"100000" doc:"How many nodes; 0: what the template says"`,
		"Provider":    `maxLength:"63"`,
		"Cluster":     `maxLength:"500" doc:"The cluster's name; made up where left out"`,
		"Parameters":  `doc:"Values of the template's parameters"`,
		"Lease":       `maxLength:"40" doc:"Such as 2h; of create 2h where left out"`,
		"Concurrency": `minimum:"0" maximum:"1000" doc:"How many clusters of this rule there are at once; 0: 10"`,
		"Queue":       `minimum:"0" maximum:"1000" doc:"How many builds may wait for their turn; 50 where left out"`,
		"WaitFor":     `maxLength:"40" doc:"How long a build waits to be ready before it fails; 1h where left out"`,
		"Forks":       `enum:"never,unknown,all" doc:"never takes nothing that may come from a fork; unknown takes what does not tell; all takes everything"`,
		"Callback":    `maxLength:"2000" doc:"An https address that is told how the build stands; texts may have parts such as ${event.payload.callback_url}; none tells nobody"`,
		"Again":       `doc:"Whether a build that has not ended gets another cluster when its one is gone"`,
	},
	reflect.TypeFor[cluster.CheaperLayout](): {
		"Prefer":  `doc:"What to ask for to get it."`,
		"Instead": `doc:"What the layout of the preview costs per hour."`,
	},
	reflect.TypeFor[app.Cluster](): {
		"OwnerGroup": `doc:"A group whose members may do what the owner may"`,
		"Access":     `enum:"reader,user,co-owner,owner" doc:"What the one who asks may do, as far as the role allows it; left out where that is up to the role alone, as of admins"`,
	},
	reflect.TypeFor[health.ClusterHealth](): {
		"Nodes": `nullable:"false"`,
	},
	reflect.TypeFor[cluster.ClusterRequest](): {
		"Visibility": `enum:"private,tenant" doc:"private: only its owner, those it is shared with, and admins see it; tenant: everyone in the tenant does; the tenant's default where it is left out"`,
		"Group":      `maxLength:"200" doc:"A group of yours whose members own it together with you"`,
	},
	reflect.TypeFor[schedule.ClusterSchedule](): {
		"Next": `nullable:"false"`,
	},
	reflect.TypeFor[app.Expectation](): {
		"Typical": `doc:"Nanoseconds"`,
		"Low":     `doc:"Nanoseconds"`,
		"High":    `doc:"Nanoseconds"`,
		"Guessed": `doc:"How much of typical is a guess, in nanoseconds"`,
		"Runs":    `doc:"How often what is known least was done before; 0 where all is a guess"`,
	},
	reflect.TypeFor[apppolicy.Facts](): {
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
		"State":     `enum:"pending,proven,failed" doc:"pending: not checked yet; failed: the last check couldn't prove it, and another one follows; left out while the cluster isn't deleted"`,
		"CheckedAt": `doc:"When the account was last checked"`,
		"NextAt":    `doc:"When the account is checked again, at the latest; left out once it is proven"`,
	},
	reflect.TypeFor[fleet.ProvisionerGrant](): {
		"Tenants": `nullable:"false"`,
	},
	reflect.TypeFor[template.Survival](): {
		"AtLeast": `doc:"A number of nodes, or a share of those asked for: \"3\", \"60%\". Empty: as few as the template's constraints allow."`,
	},
	reflect.TypeFor[cluster.Trouble](): {
		"Lost":     `nullable:"false"`,
		"Failures": `nullable:"false"`,
		"Ways":     `nullable:"false"`,
	},
	reflect.TypeFor[cluster.Way](): {
		"Kind": `enum:"resume,repair,roll_back,reconfigure,accept_partial,wake,delete"`,
	},
	reflect.TypeFor[build.BuildHookRequest](): {
		"System":      `maxLength:"40" doc:"Of a new hook: which build system sends to it"`,
		"Owner":       `maxLength:"63" doc:"As whom it acts; you, where it is left out of a new hook"`,
		"Rules":       `maxItems:"50" doc:"What is done with which event: the first rule that matches counts"`,
		"Enabled":     `doc:"Whether deliveries begin anything; ends are heeded all the same"`,
		"Secret":      `maxLength:"512" doc:"What deliveries are signed with, where the build system makes it; write-only"`,
		"StatusToken": `maxLength:"512" doc:"A token of the build system that may write commit statuses; empty stops writing them; write-only"`,
		"StatusAPI":   `maxLength:"2048" doc:"Where the build system's API is, such as https://github.example.com/api/v3; the public one where left out"`,
		"Rotate":      `doc:"Make a new secret; the old one counts too for a day"`,
	},
	reflect.TypeFor[build.BuildTrial](): {
		"Rules":    `maxItems:"50" doc:"Instead of those that the hook has"`,
		"Delivery": `minimum:"0" doc:"The number of a kept delivery of the hook"`,
		"Event":    `doc:"A made-up event"`,
	},
	reflect.TypeFor[build.BuildTried](): {
		"Looks": `nullable:"false"`,
	},
	reflect.TypeFor[build.BuildView](): {
		"Nodes": `nullable:"false"`,
		"Links": `nullable:"false"`,
	},
	reflect.TypeFor[catalog.CatalogReport](): {
		"Same": `doc:"Entries that are saved like this already, or differ at most in the order of keys, spacing or quotes; they get no new version"`,
	},
	reflect.TypeFor[catalog.TemplateDiff](): {
		"Changes": `nullable:"false"`,
	},
	reflect.TypeFor[catalog.TemplateView](): {
		"Parts": `nullable:"false"`,
	},
	reflect.TypeFor[cluster.Certificate](): {
		"Certificate": `doc:"What stands in a file like id_ed25519-cert.pub"`,
		"User":        `doc:"Who to sign in as"`,
		"Serial":      `doc:"Its number, as it stands in the audit and in the logs of machines"`,
	},
	reflect.TypeFor[cluster.ClusterDiff](): {
		"Changes": `nullable:"false"`,
		"Notes":   `nullable:"false"`,
	},
	reflect.TypeFor[cluster.ClusterPage](): {
		"Clusters": `nullable:"false"`,
		"Next":     `doc:"What to give as after to get those that follow; left out at the end"`,
	},
	reflect.TypeFor[cluster.ClusterShare](): {
		"Person": `maxLength:"64"`,
		"Group":  `maxLength:"200"`,
		"Access": `enum:"reader,user,co-owner" doc:"What it allows, as far as the role of each allows it; left out where a share is removed"`,
	},
	reflect.TypeFor[cluster.ClusterSharing](): {
		"Shares": `nullable:"false"`,
	},
	reflect.TypeFor[cluster.SharingChange](): {
		"Visibility": `enum:"private,tenant" doc:"private: only its owner, those it is shared with, and admins see it; tenant: everyone in the tenant does"`,
		"Add":        `maxItems:"100" doc:"Shares to add, or to set to another access"`,
		"Remove":     `maxItems:"100" doc:"Shares to remove"`,
	},
	reflect.TypeFor[cluster.SpecExport](): {
		"LeftOut": `nullable:"false"`,
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
		"Hour": `doc:"Calls within about the last hour by the code of their error; those that went well under the empty code"`,
	},
	reflect.TypeFor[fleet.ProviderCheck](): {
		"Took": `doc:"In nanoseconds."`,
	},
	reflect.TypeFor[fleet.ProviderHealth](): {
		"Rate":    `doc:"No limit where per_second is 0"`,
		"Known":   `doc:"Whether calls could be asked for; false while Redis is away"`,
		"Waiting": `doc:"Steps of operations under way, of all tenants, that are ready for a machine at it and not at work"`,
		"Listed":  `doc:"What the last look at the account found"`,
	},
	reflect.TypeFor[fleet.ServerFacts](): {
		"Skew":      `doc:"How far this server's clock is ahead of the database's"`,
		"RedisDown": `doc:"Why it does not answer"`,
		"Leads":     `doc:"This server rings, reconciles and ends leases for all"`,
		"Settings":  `nullable:"false"`,
	},
	reflect.TypeFor[fleet.Setting](): {
		"Value": `doc:"Left out of secrets"`,
	},
	reflect.TypeFor[appoperation.Conditions](): {
		"Size":  `minimum:"0" maximum:"100000" doc:"Fewer nodes; 0: as asked"`,
		"Lease": `minimum:"0" doc:"A shorter lease, in nanoseconds; 0: as asked"`,
	},
	reflect.TypeFor[appoperation.Drift](): {
		"Items": `nullable:"false"`,
		"Notes": `nullable:"false"`,
	},
	reflect.TypeFor[appoperation.GoOnPreview](): {
		"GivesBack": `nullable:"false"`,
		"Nodes":     `nullable:"false"`,
		"Notes":     `nullable:"false"`,
	},
	reflect.TypeFor[appoperation.ReviewRequest](): {
		"Verdict":  `enum:"approve,deny,conditions"`,
		"Reason":   `maxLength:"1000"`,
		"PlanHash": `maxLength:"64"`,
	},
	reflect.TypeFor[appoperation.RollBackPreview](): {
		"GivesBack": `nullable:"false"`,
	},
	reflect.TypeFor[apppolicy.Policy](): {
		"Name":     `maxLength:"63" doc:"Lower-case letters, digits and dashes"`,
		"About":    `maxLength:"500" doc:"What it is for"`,
		"Order":    `minimum:"0" maximum:"100000" doc:"The smallest is looked at first"`,
		"When":     `maxLength:"2000" doc:"CEL that gives true where the policy applies"`,
		"Effect":   `enum:"allow,refuse,rewrite,approve"`,
		"Reason":   `maxLength:"1000" doc:"Told to the person who asked; parts such as ${nodes} are CEL"`,
		"LeaseCap": `maxLength:"2000" doc:"For rewrite: CEL that gives the longest lease"`,
		"Approval": `doc:"For approve: who has to"`,
		"Version":  `required:"false" doc:"Set by the server. Sent along when saving, it must be the current one"`,
		"SavedBy":  `required:"false"`,
		"SavedAt":  `required:"false"`,
		"Deleted":  `required:"false" doc:"Of a version: this is where it was deleted"`,
	},
	reflect.TypeFor[apppolicy.Trial](): {
		"Cases":   `nullable:"false"`,
		"Partial": `doc:"There was no time for all of them"`,
	},
	reflect.TypeFor[apppolicy.Try](): {
		"Past": `minimum:"0" maximum:"1000"`,
	},
	reflect.TypeFor[settings.TenantImport](): {
		"File":  `maxLength:"16777216" doc:"The file, in the form that an export has"`,
		"Fill":  `doc:"Values for places such as ${secret:NAME}, by name; what the tenant has already stays; write-only"`,
		"Prune": `doc:"Also remove what the file does not hold, in the parts that it speaks of"`,
		"AsOf":  `maxLength:"64" doc:"The as_of of the report that was looked at; where the settings have changed since, nothing happens"`,
	},
	reflect.TypeFor[settings.TenantReport](): {
		"Problems": `nullable:"false"`,
		"Changes":  `nullable:"false"`,
		"Fill":     `doc:"Names of the places that have no value yet"`,
	},
	reflect.TypeFor[inventory.Inventory](): {
		"Hosts": `nullable:"false"`,
	},
	reflect.TypeFor[inventory.InventoryHost](): {
		"Services": `nullable:"false"`,
	},
	reflect.TypeFor[usage.Usage](): {
		"By":    `enum:"none,tenant,user,template,provider,hardware,cluster"`,
		"Step":  `enum:"none,hour,day,week,month"`,
		"Lines": `nullable:"false" doc:"By time, then by cost, the highest first"`,
	},
	reflect.TypeFor[webhook.HookRequest](): {
		"URL":        `maxLength:"2048" doc:"Where notices are sent to; write-only: only a part of it can be read again"`,
		"Kinds":      `maxItems:"32" doc:"Which kinds of notice it wants; an empty list is all"`,
		"Format":     `doc:"muster, slack or mail; of a lifecycle hook muster or coopr"`,
		"To":         `maxLength:"512" doc:"Of the format mail: whom to, addresses with commas between"`,
		"Enabled":    `doc:"Whether notices are sent; true also starts a hook again that was stopped"`,
		"Secret":     `maxLength:"128" doc:"What deliveries are signed with, whsec_ and base64 of 24 to 64 bytes; write-only"`,
		"Rotate":     `doc:"Make a new secret; the old one signs too for a day"`,
		"When":       `doc:"Makes it a lifecycle hook: before, after, failure, or template for one that templates name; of a new hook only"`,
		"Operations": `maxItems:"32" doc:"Of a lifecycle hook: which kinds of operation it is about; an empty list is all"`,
		"Timeout":    `doc:"Of a lifecycle hook: how long an operation waits for its answer, or a run of its script may take, in nanoseconds; 0: 5 minutes, or 30 for a script"`,
		"OnTimeout":  `doc:"Of a hook before operations: what happens where it does not answer in time, veto or go_on"`,
		"Script":     `maxLength:"65536" doc:"Instead of a URL: a script that is run on nodes, before or after the operation"`,
		"Services":   `maxItems:"100" doc:"Of a script: the nodes that have one of these services; an empty list is all nodes"`,
	},
}
