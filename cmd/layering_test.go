// Package cmd holds no code of its own, only this test. It keeps the picture of the building true: who may lean on whom,
// and which outside thing lives in which room. It reads direct imports, since fmt alone reaches os.
package cmd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "muster"
	root   = ".." // of the module
)

// A room says on which of our packages the packages that match a pattern may lean. Patterns are those of path.Match;
// "..." matches everything, @ is the package itself, "nouns" for any of the nouns and "domains" for any of the domains.
type room struct {
	who   string
	leans []string
	why   string
}

// The nouns that all domains name, and the contracts of solver, planner and families. "nouns" in a row of the table is any of them.
var nouns = []string{"app", "app/observe", "app/humanize", "app/label", "app/template", "app/layout", "app/plan", "app/family", "app/bake"}

// The domains: a noun each, with its use cases and what it needs of the database. "domains" in a row of the table is any of them.
var domains = []string{"app/build", "app/catalog", "app/chat", "app/cluster", "app/execution", "app/fleet", "app/health", "app/identity",
	"app/idempotency", "app/idle", "app/image", "app/inventory", "app/lease", "app/node", "app/operation", "app/ownership", "app/place", "app/plugin", "app/policy", "app/pool", "app/port",
	"app/notification", "app/providervalue", "app/resource", "app/schedule", "app/secret", "app/settings",
	"app/nodefile", "app/sshaccess", "app/terminal", "app/tunnel", "app/upkeep", "app/usage", "app/volume", "app/webhook", "app/window", "app/dashboard", "app/quarantine",
	"app/scaling", "app/sharing", "app/lock", "app/activity", "app/bulk", "app/run", "app/output"}

// The first matching line counts.
var rooms = []room{
	{"app", []string{"app/observe", "app/humanize"}, "app is the still point: whatever it needs from outside is an interface of its own"},
	{"app/observe", nil, "what is counted knows nothing of what counts"},
	{"app/humanize", nil, "words for people know nothing of what is said"},
	{"app/label", []string{"app", "app/humanize"}, "what describes clusters needs neither them nor the catalog, which both use its rules"},
	{"app/template", []string{"app", "app/humanize", "app/label", "app/schedule"}, "what admins publish needs only errors, people and times"},
	{"app/bake", []string{"app", "app/template"}, "what an image consists of is said by the catalog's entries"},
	{"app/layout", []string{"app", "app/humanize", "app/template"}, "the contract of the solver is made of the catalog's entries"},
	{"app/plan", []string{"app", "app/layout", "app/humanize", "app/template"}, "the contract of the planner is made of the catalog's entries"},
	{"app/family", []string{"app", "app/label", "app/template"}, "the contract of the families is made of the catalog's entries"},
	{"app/build", []string{"nouns", "app/catalog", "app/cluster", "app/identity", "app/lease", "app/policy", "app/sshaccess", "app/webhook"}, "builds get clusters and tell hooks"},
	{"app/catalog", []string{"nouns"}, "entries need only the nouns"},
	{"app/chat", []string{"nouns", "app/catalog", "app/cluster", "app/identity", "app/secret"},
		"people in chats are accounts that look at clusters, without their secrets"},
	{"app/cluster", []string{"nouns", "app/catalog", "app/health", "app/identity", "app/policy", "app/providervalue", "app/resource", "app/schedule", "app/secret", "app/volume",
		"app/webhook", "app/window"}, "a creation draws on the catalog, secrets, resources, policies and hooks"},
	{"app/execution", []string{"nouns", "app/catalog", "app/cluster", "app/health", "app/idle", "app/lease", "app/operation", "app/providervalue", "app/quarantine", "app/resource",
		"app/scaling", "app/secret", "app/volume"}, "a step is carried out for an operation on a cluster"},
	{"app/fleet", []string{"nouns", "app/catalog", "app/cluster", "app/execution", "app/identity", "app/lease", "app/secret", "app/tunnel", "app/volume"},
		"provisioners carry out steps"},
	{"app/activity", []string{"nouns", "app/cluster"}, "what happens in clusters that someone may see"},
	{"app/bulk", []string{"nouns", "app/cluster", "app/lease", "app/policy"}, "what is done to many clusters is what is done to one"},
	{"app/dashboard", []string{"nouns", "app/catalog", "app/cluster"}, "what someone sees first is of clusters"},
	{"app/health", []string{"nouns"}, "what checks found is about nodes"},
	{"app/idle", []string{"nouns", "app/catalog", "app/cluster", "app/health", "app/operation"},
		"the use of a cluster is measured with its health, and ended by its operations"},
	{"app/scaling", []string{"nouns", "app/cluster", "app/identity", "app/window"},
		"clusters are grown and shrunk as their owners do it, at times that come again"},
	{"app/schedule", []string{"nouns"}, "when clusters sleep needs only the nouns"},
	{"app/sharing", []string{"nouns", "app/cluster"}, "it is clusters that are shared"},
	{"app/lock", []string{"nouns", "app/cluster"}, "it is clusters that are locked"},
	{"app/window", []string{"nouns", "app/schedule"}, "windows are times that come again, as those of schedules"},
	{"app/identity", []string{"nouns", "app/catalog"}, "a second tenant is refused while the first has machines on this host"},
	{"app/idempotency", []string{"nouns", "app/cluster"}, "an answer is repeated to those who may still see its cluster"},
	{"app/ownership", []string{"nouns", "app/cluster", "app/identity", "app/sharing"}, "who owns a cluster and what it is called"},
	{"app/inventory", []string{"nouns", "app/cluster"}, "files for other tools need only the nouns"},
	{"app/lease", []string{"nouns", "app/catalog", "app/cluster", "app/identity"}, "what ends is a cluster, and what keeps it from ending are accounts"},
	{"app/node", []string{"nouns", "app/cluster"}, "who sees a cluster sees its nodes"},
	{"app/operation", []string{"nouns", "app/catalog", "app/cluster", "app/health", "app/identity", "app/policy", "app/providervalue", "app/quarantine", "app/resource",
		"app/schedule", "app/volume", "app/window"}, "a change of a cluster begins with what a cluster is"},
	{"app/place", []string{"nouns", "app/catalog", "app/cluster", "app/identity", "app/operation", "app/policy", "app/providervalue"},
		"each attempt is a cluster, and leaving a place is a rollback"},
	{"app/plugin", []string{"nouns", "app/program"}, "what is decided about programs is obeyed where they are started"},
	{"app/policy", []string{"nouns"}, "policies and quotas need only the nouns"},
	{"app/image", []string{"nouns", "app/catalog", "app/cluster", "app/policy"}, "images are built in clusters, and clusters start from them"},
	{"app/pool", []string{"nouns", "app/catalog", "app/cluster", "app/policy"}, "machines of pools are set up as those of clusters are"},
	{"app/providervalue", []string{"nouns", "app/catalog"}, "what users set of a provider is up to its entry"},
	{"app/quarantine", []string{"nouns", "app/catalog", "app/cluster", "app/health", "app/policy"}, "a machine that is kept is a cluster of its own"},
	{"app/resource", []string{"nouns"}, "archives and files need only the nouns"},
	{"app/secret", []string{"nouns", "app/catalog"}, "what may be shown of a cluster depends on its template"},
	{"app/settings", []string{"nouns", "app/build", "app/catalog", "app/identity", "app/idle", "app/policy", "app/pool", "app/resource", "app/secret",
		"app/webhook", "app/window"}, "the settings of a tenant are those of all domains that keep some"},
	{"app/run", []string{"nouns", "app/cluster", "app/identity", "app/policy", "app/schedule"},
		"a command is an update of its cluster, and one by schedule is of a person who still may"},
	{"app/output", []string{"nouns", "app/cluster", "app/execution", "app/secret"}, "values of a cluster are made of its configuration, secrets and facts"},
	{"app/sshaccess", []string{"nouns", "app/catalog", "app/cluster", "app/tunnel"},
		"who signs in to a node may change its cluster, whose provider says where it is"},
	{"app/port", []string{"nouns", "app/identity", "app/sshaccess"}, "who is signed in reaches a node's ports over SSH"},
	{"app/nodefile", []string{"nouns", "app/sshaccess", "app/terminal"}, "files are copied as terminals are opened"},
	{"app/nodefile/nodefiletest", []string{"nouns"}, "a node for tests needs only the nouns"},
	{"app/terminal", []string{"nouns", "app/cluster", "app/sshaccess"}, "a terminal is on a node of a cluster"},
	{"app/tunnel", []string{"nouns"}, "a connection is to an address"},
	{"app/upkeep", []string{"nouns", "app/cluster", "app/idle", "app/image", "app/lease", "app/operation", "app/pool", "app/run",
		"app/scaling", "app/sharing", "app/terminal", "app/usage"},
		"it calls what is due in each domain"},
	{"app/usage", []string{"nouns", "app/catalog", "app/cluster", "app/lease", "app/policy"}, "what is used is known by clusters, and what is coming by leases"},
	{"app/volume", []string{"nouns", "app/catalog"}, "volumes cost what the catalog says"},
	{"app/webhook", []string{"nouns"}, "hooks need only the nouns"},
	{"app/notification", []string{"nouns", "app/chat"}, "chats say which kinds they are sent"},
	{"app/all", []string{"nouns", "domains", "app/store"}, "it joins the domains, on top of the store, for what takes all of them"},
	{"app/store", []string{"nouns", "app/store/db", "app/store/audit", "app/store/feed", "app/store/idempotency", "app/store/secret",
		"app/store/user", "app/store/token", "app/store/session", "app/store/identity", "app/store/signin", "app/store/catalog", "app/store/policy",
		"app/store/resource", "app/store/chat", "app/store/cluster", "app/store/receipt", "app/store/idle", "app/store/scaling", "app/store/lease", "app/store/usage",
		"app/store/health", "app/store/build", "app/store/operation", "app/store/execution", "app/store/pool", "app/store/request", "app/store/webhook",
		"app/store/fleet", "app/store/volume", "app/store/window", "app/store/quarantine", "app/store/place", "app/store/plugin", "app/store/providervalue", "app/store/image",
		"app/store/notification",
		"app/store/run", "app/store/terminal", "app/store/tunnel", "app/store/activity"},
		"it puts the parts together that keep a noun each"},
	// The parts, lowest first: the SQL of one noun calls that of another only if it's listed above it.
	{"app/store/db", []string{"nouns", "domains", "migrations"}, "an open database knows no noun, and its tables are made by migrations"},
	{"app/store/run", []string{"nouns", "domains", "app/store/db"}, "commands are noted by operations and their steps"},
	{"app/store/audit", []string{"nouns", "domains", "app/store/db"}, "whatever is kept writes to the audit log through a transaction; this reads it"},
	{"app/store/feed", []string{"nouns", "domains", "app/store/db"}, "events, logs and notices are written by all and read by people"},
	{"app/store/idempotency", []string{"nouns", "domains", "app/store/db"}, "what an answer was depends on nothing else that is kept"},
	{"app/store/secret", []string{"nouns", "domains", "app/store/db"}, "secrets depend on nothing else that is kept"},
	{"app/store/user", []string{"nouns", "domains", "app/store/db"}, "an account depends on nothing else that is kept"},
	{"app/store/token", []string{"nouns", "domains", "app/store/db", "app/store/user"}, "a token acts as a user"},
	{"app/store/session", []string{"nouns", "domains", "app/store/db", "app/store/user", "app/store/token"},
		"a session is a user's, and a new password ends tokens, too"},
	{"app/store/identity", []string{"nouns", "domains", "app/store/db", "app/store/user", "app/store/token", "app/store/session"},
		"who is deleted or disabled is signed out"},
	{"app/store/signin", []string{"nouns", "domains", "app/store/db", "app/store/user", "app/store/token", "app/store/session", "app/store/identity"},
		"users from elsewhere may get an account, its groups and a token"},
	{"app/store/catalog", []string{"nouns", "domains", "app/store/db"}, "catalogs depend on nothing else that is kept"},
	{"app/store/policy", []string{"nouns", "domains", "app/ledger", "app/store/db", "app/store/identity"}, "what a tenant may have is its own"},
	{"app/store/resource", []string{"nouns", "domains", "app/store/db", "app/store/identity"}, "resources are a tenant's, which has to be open"},
	{"app/store/chat", []string{"nouns", "domains", "app/store/db", "app/store/feed", "app/store/identity", "app/store/signin"},
		"people in chats are accounts"},
	{"app/store/cluster", []string{"nouns", "domains", "app/ledger", "app/store/db", "app/store/feed", "app/store/user", "app/store/identity",
		"app/store/policy"}, "clusters belong to accounts and take what was reserved"},
	{"app/store/activity", []string{"nouns", "domains", "app/store/db", "app/store/cluster"}, "who sees a cluster sees what was done to it"},
	{"app/store/terminal", []string{"nouns", "domains", "app/store/db"}, "what was shown in terminals depends on nothing else that is kept"},
	{"app/store/tunnel", []string{"nouns", "domains", "app/store/db"}, "who is asked for a connection depends on nothing else that is kept"},
	{"app/store/plugin", []string{"nouns", "domains", "app/program", "app/store/db"}, "what was decided about programs depends on nothing else that is kept"},
	{"app/store/notification", []string{"nouns", "domains", "app/store/db", "app/store/feed"}, "people are sent notices"},
	{"app/store/window", []string{"nouns", "domains", "app/store/db", "app/store/cluster"}, "a cluster may have its own windows"},
	{"app/store/providervalue", []string{"nouns", "domains", "app/store/db"}, "what users set depends on nothing else that is kept"},
	{"app/store/receipt", []string{"nouns", "domains", "app/store/db", "app/store/cluster", "app/store/providervalue"}, "what was created at providers was created for clusters"},
	{"app/store/volume", []string{"nouns", "domains", "app/store/db", "app/store/receipt"}, "volumes are what clusters leave behind"},
	{"app/store/idle", []string{"nouns", "domains", "app/store/db", "app/store/cluster"}, "it is clusters that are used"},
	{"app/store/scaling", []string{"nouns", "domains", "app/store/db", "app/store/cluster"}, "it is clusters that are scaled"},
	{"app/store/lease", []string{"nouns", "domains", "app/store/db", "app/store/policy", "app/store/cluster", "app/store/idle"},
		"clusters end, sleep and wake, and hold quotas until they end"},
	{"app/store/usage", []string{"nouns", "domains", "app/store/db", "app/store/policy", "app/store/cluster"}, "clusters are used"},
	{"app/store/health", []string{"nouns", "domains", "app/store/db", "app/store/cluster", "app/store/idle", "app/store/scaling"},
		"it is clusters that are checked, and their use with them"},
	{"app/store/build", []string{"nouns", "domains", "app/store/db", "app/store/identity", "app/store/cluster"},
		"builds are for clusters, and who may read one may read its builds"},
	{"app/store/ledger", []string{"nouns", "domains", "app/ledger", "app/store/db", "app/store/feed", "app/store/policy", "app/store/cluster",
		"app/store/receipt", "app/store/idle", "app/store/health", "app/store/build", "app/store/volume", "app/store/window"},
		"a transaction that moves steps writes what follows for clusters, quotas, builds and health"},
	{"app/store/place", []string{"nouns", "domains", "app/store/db"}, "places are noted by those who create clusters and machines"},
	{"app/store/operation", []string{"nouns", "domains", "app/ledger", "app/store/db", "app/store/feed", "app/store/identity", "app/store/catalog",
		"app/store/policy", "app/store/resource", "app/store/cluster", "app/store/idle", "app/store/lease", "app/store/health", "app/store/build", "app/store/volume",
		"app/store/ledger", "app/store/place", "app/store/providervalue", "app/store/run"},
		"an operation begins with what a cluster is, and reserves and notes what it takes"},
	{"app/store/image", []string{"nouns", "domains", "app/store/db", "app/store/identity", "app/store/operation"}, "images are built by operations"},
	{"app/store/execution", []string{"nouns", "domains", "app/ledger", "app/store/db", "app/store/policy", "app/store/cluster", "app/store/receipt",
		"app/store/volume", "app/store/ledger", "app/store/operation", "app/store/place", "app/store/image", "app/store/run"}, "a finished step moves others by the ledger's rules"},
	{"app/store/quarantine", []string{"nouns", "domains", "app/store/db", "app/store/cluster"}, "kept machines are in clusters of their own"},
	{"app/store/pool", []string{"nouns", "domains", "app/store/db", "app/store/identity", "app/store/ledger", "app/store/operation"},
		"machines of pools are created and deleted by operations"},
	{"app/store/request", []string{"nouns", "domains", "app/store/db", "app/store/policy", "app/store/chat", "app/store/cluster", "app/store/build",
		"app/store/operation"}, "what is approved becomes an operation in the same transaction"},
	{"app/store/webhook", []string{"nouns", "domains", "app/store/db", "app/store/feed", "app/store/ledger", "app/store/operation"},
		"operations wait for the answers of some hooks"},
	{"app/store/fleet", []string{"nouns", "domains", "app/ledger", "app/store/db", "app/store/feed", "app/store/identity", "app/store/cluster",
		"app/store/health", "app/store/pool"}, "a machine that is found may be of a pool, and one that is lost makes its cluster unhealthy"},
	{"app/store/db/dbtest", []string{"app/store/db"}, "it has empty databases for tests of the parts"},
	{"app/store/storetest", []string{"app/store", "app/store/db"}, "it has stores on disk made for tests"},
	{"app/store/storetest/kit", []string{"nouns", "app/all", "domains", "app/apptest", "app/store"}, "what cases share knows no noun's cases, and opens no store"},
	{"app/store/storetest/suite", []string{"app/store", "app/store/storetest/*"}, "it joins the cases of all nouns"},
	{"app/store/storetest/execution", []string{"nouns", "app/all", "domains", "app/apptest", "app/ledger", "app/ledger/ledgertest", "app/store/storetest/kit"}, "random runs compare what a store does with the rules"},
	{"app/store/storetest/*", []string{"nouns", "app/all", "domains", "app/apptest", "app/store", "app/store/storetest/kit"}, "a noun's cases know no other noun's cases, and open no store"},
	{"app/ledger/ledgertest", []string{"nouns", "app/execution", "app/ledger"}, "a ledger in memory needs only the rules"},
	{"app/execution/executiontest", []string{"nouns", "app/all", "domains", "app/apptest", "app/store"}, "workers are tried against the use cases, and the store shows what came of it"},
	{"app/apptest/harness", []string{"nouns", "app/all", "domains", "app/apptest", "app/policy/cel", "app/store", "app/store/storetest", "planner", "solver", "solver/change"}, "use cases are opened for tests as the server opens them"},
	{"app/apptest", []string{"nouns", "app/cluster"}, "what many tests share knows only the nouns"},
	{"app/archive", []string{"nouns", "app/resource"}, "archives are resources"},
	{"app/ledger", []string{"nouns", "app/execution"}, "it moves steps by what ended their attempts"},
	{"app/netguard", []string{"nouns", "app/webhook"}, "it guards where hooks may lead"},
	{"app/policy/cel", []string{"nouns", "app/build", "app/policy"}, "rules of policies and of builds are CEL"},
	{"app/file/yamlfile", []string{"nouns"}, "what people write is read alike"},
	{"app/file/catalog/form", []string{"nouns", "app/resource"}, "a document is read without what others say"},
	{"app/file/catalog", []string{"nouns", "app/file/catalog/form", "app/file/yamlfile", "domains"}, "entries are read by their form, and checked together"},
	{"app/file/*", []string{"nouns", "app/file/yamlfile", "domains"}, "a file that people write becomes a domain's values"},
	{"app/*", []string{"nouns"}, "what serves app knows app alone"},
	{"solver", []string{"nouns", "solver/internal/*"}, "it chooses, and all it needs is in its arguments; it knows nothing of those who explain and change"},
	{"solver/explain", []string{"nouns", "solver", "solver/internal/*"}, "it asks a solver, and reads requests as that does"},
	{"solver/change", []string{"nouns", "solver", "solver/internal/*"}, "new nodes are found by the solver; explanations are no business of it"},
	{"solver/internal/bitset", nil, "sets of numbers know nothing of what is numbered"},
	{"solver/internal/request", []string{"nouns"}, "requests are read before anything is looked for"},
	{"solver/internal/load", []string{"nouns"}, "what is taken and offered is measured before anything is looked for"},
	{"solver/solvertest", []string{"nouns", "solver/internal/request"}, "problems are made of app's values, for any solver, whose layouts it checks without its help"},
	{"planner", []string{"nouns"}, "it chooses, and all it needs is in its arguments"},
	{"providers", []string{"nouns", "app/netguard", "app/program", "providers/*", "providers/internal/account"}, "the family's list names its members"},
	{"providers/internal/*", []string{"nouns", "providers/internal/*"}, "what several members need knows none of them"},
	{"providers/*/internal/*", []string{"nouns", "providers/internal/*"}, "a member's own client knows no other member"},
	{"providers/providertest", []string{"nouns", "providers/conformance"}, "it runs the suite in tests"},
	{"providers/executable", []string{"nouns", "app/program"}, "programs of one's own are found and ended alike, in every family"},
	{"providers/aws", []string{"nouns", "app/awsbody", "providers/internal/*"}, "every use of AWS puts its SDK behind the same guard"},
	{"providers/google", []string{"nouns", "app/googleauth", "@/internal/*", "providers/internal/*"}, "every client of Google puts its tokens on requests in the same way"},
	{"providers/*", []string{"nouns", "@/internal/*", "providers/internal/*"}, "a member knows its cloud and the contract, and no other member"},
	{"automators", []string{"nouns", "app/program", "automators/*"}, "the family's list names its members"},
	{"automators/internal/*", []string{"nouns", "automators/internal/*"}, "what several members need knows none of them"},
	{"automators/*/internal/*", []string{"nouns", "automators/internal/*"}, "a member's own helpers know no other member"},
	{"automators/automatortest", []string{"nouns", "automators/conformance", "jobs/remote", "jobs/remote/remotetest"}, "it runs the suite in tests, over the shell that members will be given"},
	{"automators/conformance", []string{"nouns", "jobs/remote"}, "attempts of a step are distinguished by the shell's own claims"},
	{"automators/executable", []string{"nouns", "app/resource", "app/program", "automators/internal/*"}, "programs of one's own are found and ended alike, in every family"},
	{"automators/*", []string{"nouns", "app/resource", "@/internal/*", "automators/internal/*"}, "a member knows its tool and the contract, and no other member"},
	{"portal/buildsystems", []string{"nouns", "app/build", "portal/buildsystems/*", "portal/buildsystems/internal/*"}, "the family's list names its members"},
	{"portal/ldap/ldaptest", nil, "it is the other end, in tests only"},
	{"portal/buildsystems/buildsystemtest", []string{"nouns", "app/build"}, "the suite is handed the family that it tries"},
	{"portal/buildsystems/internal/*", []string{"nouns", "app/build", "app/webhook"}, "what members share knows none of them"},
	{"portal/buildsystems/*", []string{"nouns", "app/build", "portal/buildsystems/internal/*"}, "a member knows its system and the contract, and no other member"},
	{"jobs", []string{"nouns", "domains", "app/archive", "app/program", "jobs/budget", "jobs/cache", "jobs/coordinator", "jobs/internal/*", "jobs/queue", "jobs/redact", "jobs/remote"}, "workers carry out what app says, over contracts and the shell next door; cmd hands them the families"},
	{"jobs/internal/*", []string{"nouns"}, "what all loops share knows none of them"},
	{"jobs/queue", []string{"nouns", "domains", "jobs/internal/*"}, "doorbells know nothing of those who hear them"},
	{"jobs/budget", []string{"nouns", "domains", "jobs/internal/*", "jobs/queue"}, "processes share rates over the queue's Redis"},
	{"jobs/cache", []string{"nouns", "app/execution", "jobs/internal/*"}, "contents are fetched over app's contract"},
	{"jobs/redact", []string{"nouns", "app/secret"}, "texts know nothing of who wrote them"},
	{"jobs/coordinator", []string{"nouns", "domains", "app/program", "jobs/internal/*", "portal/wire"}, "workers elsewhere write to the portal"},
	{"jobs/provisioner", []string{"nouns", "domains", "jobs", "jobs/internal/*"}, "it runs workers"},
	{"jobs/reconcile", []string{"nouns", "domains", "jobs", "jobs/budget", "jobs/internal/*"}, "it opens accounts as workers do"},
	{"jobs/upkeep", []string{"nouns", "domains", "jobs/internal/*"}, "app says what is to be done; loops know when"},
	{"jobs/remote/*", []string{"nouns", "jobs/remote"}, "what serves shells knows only them"},
	{"jobs/remote", []string{"nouns"}, "a shell on one machine knows only the contract of shells"},
	{"bot", []string{"nouns", "domains"}, "a face asks app and shapes the answer"},
	{"bot/*", []string{"nouns", "domains", "bot"}, "a chat client speaks for the bot"},
	{"bot/slack/slacktest", nil, "it is Slack, which knows nothing of us"},
	{"portal/address", []string{"nouns", "portal/wire"}, "an address is made of a noun"},
	{"portal/client", []string{"nouns", "domains", "portal/wire"}, "it speaks the REST API in app's terms, to a server that may be anywhere"},
	{"portal/wire", []string{"nouns", "domains"}, "both ends of a call over HTTP read it, so it knows neither"},
	{"portal", []string{"nouns", "domains", "portal/*"}, "a face asks app and shapes the answer"},
	{"portal/page", []string{"nouns", "domains", "portal/static"}, "what all pages share knows none of them"},
	{"portal/site", []string{"nouns", "domains", "portal/page", "portal/plan"}, "what all nouns share knows none of them"},
	{"portal/plan", []string{"nouns", "domains", "portal/page"}, "pictures of plans are shown by pages and know none of them"},
	{"portal/build", []string{"nouns", "domains", "portal/address", "portal/page", "portal/site", "portal/webhook"}, "deliveries to a hook look alike in both directions"},
	{"portal/template", []string{"nouns", "domains", "portal/page", "portal/site"}, "fields of parameters are shown by every form that asks for them"},
	{"portal/execution", []string{"nouns", "domains", "portal/page", "portal/site", "portal/template"}, "manual steps ask as parameters do"},
	{"portal/catalog", []string{"nouns", "domains", "portal/page", "portal/plan", "portal/site", "portal/template"}, "a trial shows a plan, and asks for parameters"},
	{"portal/policy", []string{"nouns", "domains", "portal/page", "portal/plan", "portal/site"}, "a request shows what it would do"},
	{"portal/fleet", []string{"nouns", "domains", "app/program", "portal/catalog", "portal/page", "portal/site", "portal/wire"}, "providers are entries of the catalog, and workers call in over HTTP"},
	{"portal/cluster", []string{"nouns", "domains", "portal/build", "portal/execution", "portal/health", "portal/identity", "portal/idle",
		"portal/output", "portal/page",
		"portal/plan", "portal/policy", "portal/providervalue", "portal/quarantine", "portal/quota", "portal/site", "portal/template"}, "the page of a cluster shows parts of these nouns"},
	{"portal/operation", []string{"nouns", "domains", "portal/cluster", "portal/health", "portal/page", "portal/plan", "portal/quarantine", "portal/site",
		"portal/template"}, "what changes a cluster shows parts of its page"},
	{"portal/activity", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/bulk", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/home", []string{"nouns", "domains", "portal/address", "portal/cluster", "portal/execution", "portal/fleet", "portal/page", "portal/policy", "portal/quota", "portal/site", "portal/template", "portal/webhook"}, "the first page sums up other nouns"},
	{"docs", nil, "pages for people know no code"},
	{"portal/docs", []string{"nouns", "docs", "portal/page", "portal/site"}, "the documentation knows no noun"},
	{"portal/audit", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/chat", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/health", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/idle", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/run", []string{"nouns", "domains", "portal/page", "portal/site", "portal/template"}, "actions have parameters as templates do"},
	{"portal/output", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/scaling", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/sharing", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/lock", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/identity", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/node", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/image", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/pool", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/quota", []string{"nouns", "domains", "portal/idle", "portal/page", "portal/site"}, "usage shows what idle clusters saved"},
	{"portal/notification", []string{"nouns", "domains", "portal/address", "portal/page", "portal/site", "portal/wire"}, "this noun knows no other"},
	{"portal/window", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/providervalue", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/quarantine", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/resource", []string{"nouns", "domains", "portal/page", "portal/site"}, "this noun knows no other"},
	{"portal/webhook", []string{"nouns", "domains", "portal/address", "portal/page", "portal/site", "portal/wire"}, "this noun knows no other"},
	{"portal/*", []string{"nouns", "domains", "portal/*"}, "what serves the portal knows app and its neighbours in the portal"},
	{"jobs/prometheus", []string{"nouns", "app/netguard"}, "what tenants have asked for goes where tenants may"},
	{"jobs/email", []string{"nouns", "app/notification", "app/webhook"}, "emails are tried again as webhooks are"},
	{"jobs/webhook", []string{"nouns", "app/policy", "app/webhook", "app/netguard"}, "what is sent to the outside is app's to say, and policies have webhooks asked"},
	{"cmd/muster/cli", []string{"nouns", "domains", "app/file/catalog/form", "portal/client", "solver/explain"}, "what all commands share knows no command"},
	{"cmd/muster/families", []string{"nouns", "domains", "app/file/catalog", "app/program", "automators", "automators/*", "cmd/muster/cli", "providers"}, "the families as this binary has them"},
	{"cmd/muster/server", []string{"..."}, "the server's wiring introduces all of these to each other"},
	{"cmd/muster/wiring/faces", []string{"nouns", "domains", "app/all", "bot", "bot/slack", "portal/site"}, "which service a face gets is the same in the server and in tests of the face"},
	{"cmd/muster/wiring", []string{"nouns", "app/*", "app/file/*", "app/policy/cel", "automators", "automators/shell", "cmd/muster/families", "cmd/muster/wiring/faces", "jobs", "jobs/remote", "planner", "portal", "portal/*", "providers", "solver", "solver/*"},
		"what the use cases, the portal and the chat are made of is the same in the server, the demo data and the bench"},
	{"cmd/muster/doctor", []string{"..."}, "it looks at all that a server is wired of"},
	{"cmd/muster/demo", []string{"nouns", "domains", "app/store", "cmd/muster/*", "portal/client"}, "it runs a server and asks it"},
	{"cmd/muster/database", []string{"nouns", "domains", "app/store", "app/store/*", "cmd/muster/cli"}, "it speaks to the database of this host's server itself"},
	{"cmd/muster/offline", []string{"nouns", "app/*", "app/file/*", "cmd/muster/cli", "cmd/muster/cluster", "cmd/muster/families", "planner", "solver", "solver/*"}, "it works on catalog files alone"},
	{"cmd/muster/catalog", []string{"nouns", "domains", "app/*", "app/file/*", "app/file/catalog/form", "automators", "automators/*", "cmd/muster/cli", "cmd/muster/cluster", "cmd/muster/families", "jobs/remote", "portal/client", "providers", "providers/*"},
		"it works on catalog files, asks a server, and tries members of the families"},
	{"cmd/muster/observe/metrics", []string{"nouns"}, "what is counted is app's to say"},
	{"cmd/muster/observe/trace", []string{"nouns"}, "what is followed is app's to say"},
	{"cmd/muster/observe/trace/otlptest", nil, "it reads what collectors are sent, which knows nothing of us"},
	{"migrations", nil, "numbered SQL has no logic"},
	{"app/store/blob", []string{"nouns", "app/resource", "app/archive", "app/awsbody", "app/cloudurl", "app/googleauth", "app/retry"}, "contents are looked into as they come; places in clouds are named and asked as key services are"},
	{"app/store/backup", []string{"nouns", "app/resource", "app/store/db"}, "the form of a backup is rows, and what they are is the store's to say"},
	{"app/store/kms", []string{"nouns", "app/awsbody", "app/cloudurl", "app/googleauth", "app/retry"}, "a key in a service knows nothing of what it seals"},
	{"cmd/muster/bulk", []string{"nouns", "domains", "cmd/muster/cli", "portal/client"}, "it adds to the commands for one cluster, which it is given"},
	{"cmd/muster/cluster", []string{"nouns", "domains", "app/file/spec", "cmd/muster/cli", "cmd/muster/providervalue", "cmd/muster/volume", "jobs/remote", "planner", "portal/client", "solver"}, "specs of clusters are files, and the key for a visit is made where SSH is spoken"},
	{"cmd/muster/connect", []string{"nouns", "domains", "cmd/muster/cli", "cmd/muster/cluster", "jobs/remote", "portal/wire"}, "what reaches nodes speaks SSH, over the server's streams"},
	{"cmd/muster/build", []string{"nouns", "domains", "app/file/spec", "cmd/muster/cli", "cmd/muster/webhook", "portal/address", "portal/client"}, "rules of builds are files, and deliveries are numbered as those of webhooks"},
	{"cmd/muster/policy", []string{"nouns", "domains", "app/file/yamlfile", "cmd/muster/cli", "cmd/muster/cluster", "portal/client"}, "policies are files"},
	{"cmd/muster/volume", []string{"nouns", "domains", "cmd/muster/cli", "portal/client"}, "volumes belong to no cluster once they are kept"},
	{"cmd/muster/scaling", []string{"nouns", "domains", "app/file/yamlfile", "cmd/muster/cli", "cmd/muster/cluster", "portal/client"}, "scaling rules are files"},
	{"cmd/muster/lock", []string{"nouns", "domains", "cmd/muster/cli", "cmd/muster/cluster", "portal/client"}, "a family of its own, for clusters"},
	{"cmd/muster/output", []string{"nouns", "domains", "cmd/muster/cli", "cmd/muster/cluster", "jobs/remote", "portal/client"},
		"ssh asks for a key with a certificate, which is made where SSH is spoken"},
	{"cmd/muster/notification", []string{"nouns", "domains", "cmd/muster/cli", "portal/client", "portal/wire"},
		"notices are shown with their addresses"},
	{"cmd/muster/*", []string{"nouns", "domains", "cmd/muster/cli", "cmd/muster/cluster", "portal/client"}, "a noun's commands ask a server; what they share is in cli"},
	{"cmd/*", []string{"..."}, "cmd introduces all of these to each other"},
}

// shared is what every command may use though it is in a command's folder, and why.
var shared = map[string]string{
	"cmd/demodata":        "it is what others in cmd measure and draw",
	"cmd/muster/families": "a catalog is checked in the same way wherever it is read",
	"cmd/muster/wiring":   "what is measured and drawn is wired as the server is",
}

// Outside things that live in some rooms only.
var homes = []struct {
	what  string // an import path and all below it
	rooms []string
	why   string
}{
	{"database/sql", []string{"app/store/db", "app/store/storetest", "app/apptest/harness", "cmd/bench"}, "rows in SQL are the store's, and of those who fill tables for tests; everything else asks for app's values;\n" +
		"the engine is measured beside bare rows"},
	{"modernc.org/sqlite", []string{"app/store/db"}, "the driver goes with database/sql"},
	{"github.com/jackc/pgx", []string{"app/store/db"}, "so does that of PostgreSQL"},
	{"gocloud.dev", nil, "it is not kept any more, since it brings gRPC: blob and kms have drivers of their own"},
	{"github.com/pressly/goose", []string{"app/store/db"}, "migrations are run by the one who owns the tables"},
	{"go.yaml.in/yaml", []string{"app/file/catalog", "app/file/catalog/form", "app/file/spec", "app/file/tenantfile", "app/file/yamlfile", "cmd/muster/*", "providers/internal/userdata", "providers/openstack"},
		"YAML is a form of catalog files, of specs of clusters, of the settings of a tenant, of a new machine's user data, of a clouds.yaml, and of the settings that cmd reads"},
	{"gopkg.in/yaml.v3", nil, "it is not kept any more; go.yaml.in/yaml is"},
	{"github.com/invopop/jsonschema", []string{"app/file/catalog/form"}, "the schema is of catalog files"},
	{"github.com/google/cel-go", []string{"app/policy/cel"}, "policies are understood in one place"},
	{"github.com/hibiken/asynq", []string{"jobs/queue", "cmd/bench"},
		"tasks are asynq's envelope and stay inside jobs; the engine is measured beside a bare queue"},
	{"github.com/redis/go-redis", []string{"jobs", "jobs/budget", "jobs/queue"}, "Redis carries doorbells and nothing else"},
	{"github.com/alicebob/miniredis", []string{"jobs/budget", "jobs/queue", "cmd/*", "cmd/muster/server"}, "the in-process Redis serves jobs; cmd starts it"},
	{"github.com/digitalocean/godo", []string{"providers/digitalocean"}, "a cloud's SDK lives with its member"},
	{"github.com/vmware/govmomi", []string{"providers/vsphere"}, "a cloud's SDK lives with its member"},
	{"google.golang.org/api", nil, "Google's APIs are plain REST; its SDK for them is 10 MB of source and brings gRPC"},
	{"cloud.google.com/go/auth", []string{"providers/google", "app/googleauth"}, "a cloud's credentials live with its member, and with what puts its tokens on requests"},
	{"github.com/gophercloud/gophercloud", []string{"providers/openstack", "providers/rackspace", "providers/internal/openstack"}, "a cloud's SDK lives with its member, and with what the members of clouds made of OpenStack share"},
	{"github.com/moby/moby", []string{"providers/docker"}, "a cloud's SDK lives with its member"},
	{"golang.org/x/crypto/ssh", []string{"jobs/remote", "jobs/remote/*", "providers/fake", "providers/internal/account", "providers/joyent/internal/cloudapi", "providers/sandbox", "providers/static/internal/shell", "providers/conformance", "providers/providertest", "cmd/bench"},
		"Muster speaks SSH in one place; a machine that we make ourselves is the other end, and holds the keys it is given;\n" +
			"standing machines have no cloud's API but SSH, and their member may not lean on jobs;\n" +
			"the engine is measured beside a bare program that does the same"},
	{"github.com/gliderlabs/ssh", []string{"providers/sandbox", "jobs/remote/remotetest"}, "a machine without an sshd of its own is one inside the sandbox"},
	{"github.com/pkg/sftp", []string{"jobs/remote", "jobs/remote/*", "providers/sandbox"}, "files go over the same connections"},
	{"github.com/a-h/templ", []string{"portal", "portal/*", "cmd/dev"}, "HTML is the web face's"},
	{"github.com/yuin/goldmark", []string{"portal/docs"}, "one room reads Markdown"},
	{"github.com/go-chi/chi", []string{"portal", "portal/*"}, "routes are the web face's"},
	{"github.com/danielgtaylor/huma", []string{"portal", "portal/*"}, "the REST API is served by the web face"},
	{"github.com/coreos/go-oidc", []string{"portal/oidc"}, "one room speaks OpenID Connect"},
	{"golang.org/x/oauth2", []string{"portal/oidc"}, "so does it with OAuth below it"},
	{"github.com/go-ldap/ldap", []string{"portal/ldap", "portal/ldap/ldaptest"}, "one room speaks LDAP"},
	{"github.com/go-asn1-ber/asn1-ber", []string{"portal/ldap"}, "and bounds its messages"},
	{"github.com/zitadel/oidc", nil, "it is the other end, in tests only"},
	{"github.com/alexedwards/scs", []string{"portal", "portal/site", "cmd/*", "cmd/muster/server"}, "sessions are the web face's; cmd hands it their store"},
	{"github.com/spf13/cobra", []string{"cmd/*", "cmd/muster/*"}, "command lines are read in cmd and passed on as plain values"},
	{"github.com/spf13/pflag", []string{"cmd/*", "cmd/muster/*"}, "command lines are read in cmd and passed on as plain values"},
	{"github.com/slack-go/slack", []string{"bot/slack"}, "one room speaks to Slack"},
	{"github.com/aws", []string{"providers/aws", "app/store/blob", "app/store/kms", "app/cloudurl"}, "one member speaks to AWS; S3 is a place for contents and KMS a key service, with clients behind our guard, configured by URLs in one place"},
	{"github.com/Azure", []string{"providers/azure", "app/store/blob", "app/store/kms", "app/cloudurl"}, "one member speaks to Azure, which also has a place for contents and a key service"},
	{"github.com/chromedp", []string{"portal/portaltest"}, "one place drives a browser"},
	{"github.com/prometheus", []string{"cmd/muster/observe/metrics"}, "one room speaks to Prometheus; the others count in app's words"},
	{"go.opentelemetry.io/proto", []string{"cmd/muster/observe/trace/otlptest"}, "the messages of collectors are for tests: in the program they would bring protobuf"},
	{"go.opentelemetry.io", []string{"cmd/muster/observe/trace", "cmd/muster/observe/trace/otlptest"}, "one room speaks to OpenTelemetry; the others follow in app's words"},
	{"net/http/httptest", []string{"bot/slack/slacktest", "portal/portaltest", "portal/buildsystems/buildsystemtest"}, "what helps tests is in no program that people run"},
	{"net/http/pprof", []string{"cmd/muster/server"}, "profiles are shown by the process itself"},
	{"testing", []string{"app/apptest", "app/apptest/harness", "app/execution/executiontest", "bot/slack/slacktest", "app/store/storetest",
		"app/store/storetest/*", "app/store/db/dbtest", "portal/portaltest", "providers/providertest", "automators/automatortest", "portal/buildsystems/buildsystemtest", "portal/ldap/ldaptest", "jobs/remote/remotetest"},
		"only suites that others run import it outside of tests"},
}

// inputs is what would let an answer depend on more than the question.
var inputs = []string{"os", "net", "syscall", "database/sql", "embed", "log", "math/rand", "crypto/rand", "github.com", "golang.org", "modernc.org", "go.yaml.in"}

// What pure rooms must not touch: a value in, a value out.
var pure = []struct {
	who       string
	forbidden []string
	why       string
}{
	{"app", []string{"os", "net", "net/http", "net/rpc", "net/smtp", "syscall", "database/sql", "embed", "log", "plugin", "github.com", "modernc.org", "go.yaml.in"},
		"app does no input or output; it states interfaces for it"},
	{"app/observe", []string{"os", "net", "net/http", "net/rpc", "net/smtp", "syscall", "database/sql", "embed", "log", "plugin", "github.com", "modernc.org", "go.yaml.in"}, "nouns and contracts do no input or output"},
	{"app/humanize", []string{"os", "net", "net/http", "net/rpc", "net/smtp", "syscall", "database/sql", "embed", "log", "plugin", "modernc.org", "go.yaml.in"}, "nouns and contracts do no input or output"},
	{"app/template", []string{"os", "net", "net/http", "net/rpc", "net/smtp", "syscall", "database/sql", "embed", "log", "plugin", "github.com", "modernc.org", "go.yaml.in"}, "nouns and contracts do no input or output"},
	{"app/layout", []string{"os", "net", "net/http", "net/rpc", "net/smtp", "syscall", "database/sql", "embed", "log", "plugin", "github.com", "modernc.org", "go.yaml.in"}, "nouns and contracts do no input or output"},
	{"app/plan", []string{"os", "net", "net/http", "net/rpc", "net/smtp", "syscall", "database/sql", "embed", "log", "plugin", "github.com", "modernc.org", "go.yaml.in"}, "nouns and contracts do no input or output"},
	{"app/family", []string{"os", "net/http", "net/rpc", "net/smtp", "syscall", "database/sql", "embed", "log", "plugin", "github.com",
		"modernc.org", "go.yaml.in"},
		"nouns and contracts do no input or output; of net they name only what a connection is"},
	{"app/ledger", []string{"os", "net", "syscall", "database/sql", "embed", "log", "math/rand", "crypto/rand", "context", "sync", "github.com", "golang.org", "modernc.org"},
		"the rules take rows and give rows; loading, saving and the clock are the store's"},
	{"solver", inputs, "the same question gets the same answer, on any machine, any day"},
	{"solver/explain", inputs, "the same question gets the same answer, on any machine, any day"},
	{"solver/change", inputs, "the same question gets the same answer, on any machine, any day"},
	{"solver/internal/request", inputs, "the same question gets the same answer, on any machine, any day"},
	{"solver/internal/bitset", inputs, "the same question gets the same answer, on any machine, any day"},
	{"solver/internal/load", inputs, "the same question gets the same answer, on any machine, any day"},
	{"planner", inputs, "the same question gets the same answer, on any machine, any day"},
	{"portal/buildsystems", inputs, "a delivery that was kept is understood again as it was"},
	{"migrations", []string{"os", "net", "database/sql", "github.com", "golang.org", "modernc.org"}, "numbered SQL, embedded, without logic"},
}

// alsoPure are packages below a forbidden path that do no input or output.
// Of cron only the parser of fields is used.
var alsoPure = []string{"net/url", "net/netip", "net/mail", "github.com/robfig/cron/v3"}

// The top of the tree: a folder is a room, and a new room is a decision. True marks those that must be there; bin is
// what make leaves and git never sees.
var top = map[string]bool{
	"app": true, "automators": true, "bin": false, "bot": false, "cmd": true, "deploy": false, "docs": true, "examples": true, "jobs": true,
	"migrations": true, "planner": true, "portal": true, "providers": true, "solver": true,
}

var topFiles = []string{"CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "go.mod", "go.sum", "LICENSE", "Makefile", "README.md", "SECURITY.md"}

// pkg is one package of ours: its folder, its file names and what its own files and its tests import directly.
type pkg struct {
	files   []string
	imports map[string]string // path to the file that imports it
}

// packages reads the direct imports of every package; tests are left out, for they may lean on anything but cmd.
func packages(t *testing.T) map[string]*pkg {
	t.Helper()
	found := map[string]*pkg{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if file != root && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(file, "go.mod")); file != root && err == nil {
				return fs.SkipDir // a module of its own, which is no part of the building
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		dir = filepath.ToSlash(dir)
		p := found[dir]
		if p == nil {
			p = &pkg{imports: map[string]string{}}
			found[dir] = p
		}
		p.files = append(p.files, name)
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			p.imports[imported] = path.Join(dir, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatal("no packages found")
	}
	return found
}

func TestImportRules(t *testing.T) {
	for dir, p := range packages(t) {
		at := slices.IndexFunc(rooms, func(r room) bool { return match(r.who, dir) })
		if at < 0 {
			t.Errorf("%s is in no room of the table: add a line to rooms in cmd/layering_test.go with what it may lean on, and why. "+
				"A domain also goes into domains there, and into the table of docs/architecture.md", dir)
			continue
		}
		for imported, file := range p.imports {
			ours, ok := strings.CutPrefix(imported, module+"/")
			if !ok {
				continue
			}
			// A command's own folders are its own, and know each other.
			if strings.HasPrefix(ours, "cmd/") && command(ours) != command(dir) && (shared[ours] == "" || !strings.HasPrefix(dir, "cmd/")) {
				t.Errorf("%s imports %s: only cmd, and a command's own folders, may", file, imported)
			}
			if !slices.ContainsFunc(rooms[at].leans, func(pattern string) bool {
				return match(strings.Replace(pattern, "@", dir, 1), ours) || pattern == "domains" && slices.Contains(domains, ours) || pattern == "nouns" && slices.Contains(nouns, ours)
			}) {
				t.Errorf("%s imports %s: %s", file, imported, rooms[at].why)
			}
		}
	}
}

// One noun's SQL calls another's in the same transaction, in one direction: the table has the parts of the store lowest first.
func TestPartsOfTheStoreImportOneWay(t *testing.T) {
	const parts = "app/store/"
	lower := map[string]bool{}
	for _, r := range rooms {
		if !strings.HasPrefix(r.who, parts) || below(r.who, "app/store/storetest") {
			continue
		}
		for _, l := range r.leans {
			if strings.HasPrefix(l, parts) && !lower[l] {
				t.Errorf("%s leans on %s, which does not stand above it in the table", r.who, l)
			}
		}
		lower[r.who] = true
	}
}

// What is measured, drawn and tried as a whole is what runs: parts that every installation has are put together in one place.
func TestUseCasesAndPortalAreWiredOnce(t *testing.T) {
	const wiring = "cmd/muster/wiring"
	made := map[string]bool{"all.New": true, "portal.New": true}
	for dir, p := range packages(t) {
		if !strings.HasPrefix(dir, "cmd/") {
			continue
		}
		for _, name := range p.files {
			files := token.NewFileSet()
			parsed, err := parser.ParseFile(files, filepath.Join(root, dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				x, ok := s.X.(*ast.Ident)
				if !ok {
					return true
				}
				switch call := x.Name + "." + s.Sel.Name; {
				case made[call] && dir == wiring:
					delete(made, call)
				case call == "all.New" || call == "portal.New":
					t.Errorf("%s calls %s: take the function of %s that does, so that it is wired as the server is", files.Position(s.Pos()), call, wiring)
				}
				return true
			})
		}
	}
	for call := range made {
		t.Errorf("%s does not call %s", wiring, call)
	}
}

func TestRestrictedImports(t *testing.T) {
	for dir, p := range packages(t) {
		for imported, file := range p.imports {
			for _, h := range homes {
				if below(imported, h.what) && !slices.ContainsFunc(h.rooms, func(pattern string) bool { return match(pattern, dir) }) {
					t.Errorf("%s imports %s: %s", file, imported, h.why)
				}
			}
		}
	}
}

func TestPureRooms(t *testing.T) {
	found := packages(t)
	for _, r := range pure {
		p := found[r.who]
		if p == nil {
			t.Errorf("there is no package %s", r.who)
			continue
		}
		for imported, file := range p.imports {
			if slices.Contains(alsoPure, imported) {
				continue
			}
			if slices.ContainsFunc(r.forbidden, func(f string) bool { return below(imported, f) }) {
				t.Errorf("%s imports %s: %s", file, imported, r.why)
			}
		}
	}
}

// Rooms below app that go by a clock of their own.
var clocks = []struct{ who, why string }{
	{"app/store/db", "it waits for databases, and locks and keys are held by the host's clock"},
	{"app/store/blob", "contents that nothing names are as old as their host says"},
	{"app/store/session", "sessions end by the host's clock"},
	{"app/store/fleet", "levels are read as they are at that moment"},
	{"app/apptest", "it waits for databases to start"},
	{"app/store/storetest", "sessions and catalogs of tests are as old as the test"},
	{"app/program", "it waits for programs of the host"},
}

// What the use cases know of time is the clock that they are given, which tests move and which may be another than the host's.
func TestUseCasesHaveNoClockOfTheirOwn(t *testing.T) {
	for dir, p := range packages(t) {
		if !below(dir, "app") || slices.ContainsFunc(clocks, func(c struct{ who, why string }) bool { return below(dir, c.who) }) {
			continue
		}
		for _, name := range p.files {
			files := token.NewFileSet()
			parsed, err := parser.ParseFile(files, filepath.Join(root, dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until"}, s.Sel.Name) {
					t.Errorf("%s calls time.%s: take the clock that is given, such as Config.Now", files.Position(s.Pos()), s.Sel.Name)
				}
				return true
			})
		}
	}
}

func TestEachPackageHasADocComment(t *testing.T) {
	for dir, p := range packages(t) {
		if !slices.Contains(p.files, "doc.go") {
			t.Errorf("%s has no doc.go", dir)
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, dir, "doc.go"), nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Error(err)
		} else if parsed.Doc.Text() == "" {
			t.Errorf("%s/doc.go has no package comment", dir)
		}
	}
}

func TestTopOfTheTree(t *testing.T) {
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	missing := maps.Clone(top)
	for _, e := range entries {
		name := e.Name()
		_, known := top[name]
		switch {
		case strings.HasPrefix(name, "."):
		case e.IsDir() && !known:
			t.Errorf("%s/ is a new room: if it is meant to stay, name it here and in the docs", name)
		case !e.IsDir() && !slices.Contains(topFiles, name):
			t.Errorf("%s does not belong at the top", name)
		}
		delete(missing, name)
	}
	for name, must := range missing {
		if must {
			t.Errorf("%s/ is missing", name)
		}
	}
}

// match reports whether a folder fits a pattern.
func match(pattern, dir string) bool {
	if pattern == "..." {
		return true
	}
	ok, err := path.Match(pattern, dir)
	return ok && err == nil
}

// command is the command that a folder belongs to: of cmd/muster/cli it is cmd/muster.
func command(dir string) string {
	parts := strings.Split(dir, "/")
	return strings.Join(parts[:min(2, len(parts))], "/")
}

// below reports whether an import is a path or is below it; versions count as below.
func below(imported, what string) bool {
	return imported == what || strings.HasPrefix(imported, what+"/")
}
