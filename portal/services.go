package portal

import (
	"muster/portal/activity"
	"muster/portal/audit"
	"muster/portal/build"
	"muster/portal/bulk"
	"muster/portal/catalog"
	"muster/portal/chat"
	"muster/portal/cluster"
	"muster/portal/docs"
	"muster/portal/execution"
	"muster/portal/fleet"
	"muster/portal/health"
	"muster/portal/home"
	"muster/portal/identity"
	"muster/portal/idle"
	"muster/portal/image"
	"muster/portal/lock"
	"muster/portal/node"
	"muster/portal/nodefile"
	"muster/portal/notification"
	"muster/portal/operation"
	"muster/portal/output"
	"muster/portal/policy"
	"muster/portal/pool"
	"muster/portal/port"
	"muster/portal/providervalue"
	"muster/portal/quarantine"
	"muster/portal/quota"
	"muster/portal/resource"
	"muster/portal/run"
	"muster/portal/scaling"
	"muster/portal/sharing"
	"muster/portal/site"
	"muster/portal/template"
	"muster/portal/terminal"
	"muster/portal/volume"
	"muster/portal/webhook"
	"muster/portal/window"
)

// services serve the pages and REST operations of one noun each.
type services struct {
	webhook   *webhook.Service
	audit     *audit.Service
	chat      *chat.Service
	health    *health.Service
	identity  *identity.Service
	idle      *idle.Service
	node      *node.Service
	pool      *pool.Service
	volume    *volume.Service
	image     *image.Service
	kept      *quarantine.Service
	quota     *quota.Service
	resource  *resource.Service
	template  *template.Service
	build     *build.Service
	bulk      *bulk.Service
	activity  *activity.Service
	execution *execution.Service
	catalog   *catalog.Service
	policy    *policy.Service
	fleet     *fleet.Service
	cluster   *cluster.Service
	operation *operation.Service
	home      *home.Service
	window    *window.Service
	run       *run.Service
	scaling   *scaling.Service
	sharing   *sharing.Service
	lock      *lock.Service
	output    *output.Service
	value     *providervalue.Service

	notification *notification.Service
	terminal     *terminal.Service
	port         *port.Service
	nodefile     *nodefile.Service
	docs         *docs.Service
}

func newServices(s *site.Site) (n services) {
	n.webhook = webhook.New(s)
	n.window = window.New(s)
	n.run = run.New(s)
	n.scaling = scaling.New(s)
	n.sharing = sharing.New(s)
	n.lock = lock.New(s)
	n.output = output.New(s)
	n.value = providervalue.New(s)
	n.notification = notification.New(s)
	n.terminal = terminal.New(s)
	n.port = port.New(s)
	n.nodefile = nodefile.New(s)
	n.docs = docs.New(s)
	n.audit = audit.New(s)
	n.chat = chat.New(s)
	n.health = health.New(s)
	n.identity = identity.New(s)
	n.idle = idle.New(s)
	n.node = node.New(s)
	n.pool = pool.New(s)
	n.volume = volume.New(s)
	n.image = image.New(s)
	n.kept = quarantine.New(s)
	n.quota = quota.New(s)
	n.resource = resource.New(s)
	n.template = template.New(s)
	n.build = build.New(s)
	n.bulk = bulk.New(s)
	n.activity = activity.New(s)
	n.execution = execution.New(s)
	n.catalog = catalog.New(s)
	n.policy = policy.New(s)
	n.fleet = fleet.New(s, n.catalog)
	n.cluster = cluster.New(s, n.quota, n.policy)
	n.operation = operation.New(s, n.health, n.cluster)
	n.home = home.New(s, n.quota, n.template, n.fleet)
	return n
}
