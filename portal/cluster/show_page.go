package cluster

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	appexecution "muster/app/execution"
	"muster/app/family"
	"muster/app/health"
	appidle "muster/app/idle"
	"muster/app/layout"
	"muster/app/output"
	"muster/app/port"
	"muster/app/quarantine"
	"muster/portal/execution"
	"muster/portal/page"
	"muster/portal/plan"
)

// Show is the page of one cluster. Steps are those of the latest operation.
type Show struct {
	Now      time.Time
	Actor    app.Actor
	View     cluster.View
	Steps    []app.Step
	Log      []app.LogLine
	Node     string // the only node of the log; "" for all
	Step     string // the only step of the log; "" for all
	Failures []Failure
	// Change holds the possible changes; nil for none.
	Change    *ChangePanel
	Services  []ServiceLine
	Tabs      page.ClusterTabs
	Apps      bool   // ports of nodes can be opened in the browser
	Have      string // the digests of what the page shows, for its event stream
	NodesFrom int    // the first node that is shown
	Opened    bool   // the plan is unfolded, even without an operation in progress

	// The view of a plan ("graph", "timeline" or "matrix"), the plan's operation, and the first row.
	Picture   string
	PlanOf    int64
	PlanFrom  int
	Graph     plan.Graph
	Gantt     plan.Gantt
	GanttSpan time.Duration // the least
	Tries     plan.Tries
	Pinned    *app.Operation       // the operation whose page this is; nil: the cluster's page
	Places    *layout.Places       // in which the cluster was tried; nil if its request named one place
	Waiting   appexecution.Waiting // the groups only; empty if nothing waits
	Outputs   *output.List         // nil if unknown
	Lease     *LeaseBox            // nil if unknown
	Idle      *appidle.View        // nil if unknown
	// ManualSteps are the open manual steps.
	ManualSteps []execution.ManualStepForm
	// Kept are the failed machines that are kept of the cluster, and Isolation says of a kept one who reaches it.
	Kept      []quarantine.Machine
	Isolation quarantine.Isolation
	UseAgain  bool // the actor may have its cluster use it again
}

// deleteWords is what the button says that deletes a cluster.
func deleteWords(c app.Cluster) string {
	if c.KeptFrom != "" {
		return "Delete machine"
	}
	return "Delete cluster"
}

// Failure is a step that failed, with the end of its log.
type Failure struct {
	Step  app.Step
	Lines []app.LogLine
}

// Operation is the latest operation; nil for none.
func (c Show) Operation() *app.Operation {
	if len(c.View.Operations) == 0 {
		return nil
	}
	return &c.View.Operations[0]
}

// Current is the operation that the buttons act on: the one in progress or paused, or else the latest.
func (c Show) Current() *app.Operation {
	for i, o := range c.View.Operations {
		if !o.Status.Ended() && o.Status != app.OperationWaiting {
			return &c.View.Operations[i]
		}
	}
	return c.Operation()
}

// Can reports whether the button for an act is shown.
func (c Show) Can(a app.Act) bool {
	op := c.Current()
	if op != nil && op.Kind == app.OperationRun && a == app.ActResume && op.Status.Ended() {
		return false // the cluster lacks nothing; the command's own page offers to run it again
	}
	if op == nil || !c.mayChange() && (a != app.ActCancel || !app.CancelsOwnRun(c.Actor, *op, c.View.Cluster)) {
		return false
	}
	return slices.Contains(c.View.Acts(*op, op == c.Operation()), a)
}

// Running reports whether an operation is in progress or about to start.
func (c Show) Running() bool {
	return Running(c.Operation()) || c.undoneSoon() || retriedSoon(c)
}

// placing reports whether the cluster is about to be continued in another place.
func (c Show) placing() bool {
	return c.Places != nil && c.Places.Current == c.View.ID && (c.Places.State == layout.PlacesTrying || c.Places.State == layout.PlacesLeaving)
}

// moves reports whether the page changes with time, or with what happens to other clusters. Ages and remaining times don't count, as
// the browser counts them.
func moves(c Show) bool {
	return c.placing() || c.undoneSoon() || retriedSoon(c) || c.Picture == "timeline" && c.Running() ||
		slices.ContainsFunc(c.Waiting.Groups, func(g appexecution.WaitGroup) bool { return g.Reason.OfOthers() })
}

// troubled reports whether the page's banner shows the problem and the options.
func (c Show) troubled() bool {
	return c.View.Problem != nil && c.View.Status == app.ClusterFailed && !c.undoneSoon() && !retriedSoon(c)
}

// showsHealth reports whether the page shows the cluster's health: not if its banner already does.
func (c Show) showsHealth() bool {
	h := c.View.Health
	if h == nil || c.View.Status == app.ClusterDeleted {
		return false
	}
	if !c.troubled() || h.State != health.Unhealthy && h.State != health.Unreachable || len(c.View.Problem.Lost) == 0 {
		return true
	}
	return slices.ContainsFunc(h.Nodes, func(n health.NodeHealth) bool { return n.Ill() && !slices.Contains(c.View.Problem.Lost, n.Node) })
}

// wayID is the id of the button for an option.
func wayID(k cluster.RecoveryKind) string {
	if k == cluster.RecoveryAcceptPartial {
		return "accept-partial"
	}
	return strings.ReplaceAll(string(k), "_", "-")
}

// wayURL is the address of an option's first page, for all but resume.
func wayURL(id string, k cluster.RecoveryKind) string {
	base := "/clusters/" + id + "/"
	switch k {
	case cluster.RecoveryRepair, cluster.RecoveryReconfigure:
		return base + "change?kind=" + string(k)
	}
	return base + wayID(k)
}

// undoneSoon tells that the latest operation failed or was cancelled, and is about to be rolled back automatically.
func (c Show) undoneSoon() bool {
	op := c.Operation()
	return op != nil && op.OnFailure == app.FailureRollBack && (op.Status == app.OperationFailed || op.Status == app.OperationCancelled)
}

// After is the number of the last log line on the page; a stream continues from there.
func (c Show) After() int64 {
	if len(c.Log) == 0 {
		return 0
	}
	return c.Log[len(c.Log)-1].Seq
}

// LiveURL is the address of the page's event stream.
func (c Show) LiveURL() string {
	q := url.Values{}
	set := func(name, value string) {
		if value != "" && value != "0" {
			q.Set(name, value)
		}
	}
	set("node", c.Node)
	set("step", c.Step)
	set("from", strconv.Itoa(c.NodesFrom))
	set("plan", c.Picture)
	if c.Picture == "timeline" {
		set("rows", strconv.Itoa(c.PlanFrom))
		set("span", strconv.FormatInt(int64(c.Gantt.Span/time.Second), 10))
	}
	if op := c.PlanOperation(); op != nil {
		set("operation", strconv.FormatInt(op.ID, 10))
	}
	if c.Pinned != nil {
		set("view", "operation")
	}
	return "/clusters/" + c.View.ID + "/live?" + q.Encode()
}

// mayChange reports whether the actor can request changes to this cluster; the use cases have the last word.
func (c Show) mayChange() bool {
	return c.Actor.MayIn("DeleteCluster", c.View.Cluster)
}

// CanDelete reports whether the delete button is shown.
func (c Show) CanDelete() bool {
	op := c.Operation()
	deleting := Running(op) && op.Kind == app.OperationDelete
	return c.mayChange() && c.View.Status != app.ClusterDeleted && !deleting
}

// Machines are the nodes whose machines exist, or may exist.
func (c Show) Machines() []string {
	var names []string
	for _, n := range c.View.Nodes {
		if !n.Lost() && (n.Status == app.NodeCreated || n.Status == app.NodeReady || beingCreated(c, n.Name)) {
			names = append(names, n.Name)
		}
	}
	return names
}

// beingCreated reports whether a node's machine was requested, with or without success.
func beingCreated(c Show, node string) bool {
	return slices.ContainsFunc(c.Steps, func(s app.Step) bool {
		return s.Node == node && s.Action == app.ActionCreate && s.Attempt > 0
	})
}

// CanSSH reports whether the key and the SSH commands are shown.
func (c Show) CanSSH() bool {
	return c.Actor.MayIn("ClusterCertificate", c.View.Cluster) && c.View.Status != app.ClusterDeleted
}

// KeyFile is the name under which the cluster's private key is saved.
func (c Show) KeyFile() string { return "muster-" + c.View.ID + ".pem" }

// SSH is the command that opens a shell on a node; "" until its address is known.
func (c Show) SSH(n app.Node) string {
	addr := n.Address(app.AddressAccess)
	if addr == "" || n.Status == app.NodeDeleted || n.Lost() || n.CheckLock(c.Actor, c.View.Cluster) != nil {
		return ""
	}
	user := n.SSHUser
	if user == "" {
		user = "root"
	}
	line := "ssh -i " + c.KeyFile()
	if n.SSHPort != 0 && n.SSHPort != 22 {
		line += " -p " + strconv.Itoa(n.SSHPort)
	}
	return line + " " + user + "@" + addr
}

// Matrix is the table of the latest operation's steps.
func (c Show) Matrix() plan.Matrix { return plan.NewMatrix(c.Steps) }

// filterURL is the page with its log filtered by node or step.
func (c Show) filterURL(node, step string) string {
	q := url.Values{}
	if node != "" {
		q.Set("node", node)
	}
	if step != "" {
		q.Set("step", step)
	}
	u := "/clusters/" + c.View.ID
	if len(q) > 0 {
		u += "?" + q.Encode()
	}
	return u + "#log"
}

// logsURL is the page of the log, with the same filter.
func (c Show) logsURL() string {
	return LogQuery{Node: c.Node, Step: c.Step}.URL(c.View.ID)
}

// only is the log's filter.
func (c Show) only() string {
	if c.Step != "" {
		return c.Step
	}
	return c.Node
}

// busy reports whether the page is mainly about the operation in progress.
func (c Show) busy() bool {
	return c.Running() || c.View.Status == app.ClusterPending
}

// recentOperations is how many operations the cluster's page lists.
const recentOperations = 3

// waits reports whether any steps wait.
func (c Show) waits() bool { return len(c.Waiting.Groups) > 0 }

// followable are the cluster's links that are safe to open. Their addresses come from the catalog and from machines.
func followable(v cluster.View) []app.Link {
	var out []app.Link
	for _, l := range v.Links {
		u, err := url.Parse(l.URL)
		if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && v.Status != app.ClusterDeleted {
			out = append(out, l)
		}
	}
	return out
}

// links are those that no service of the catalog declares; the others are shown with their services.
func (c Show) links() []app.Link {
	return slices.DeleteFunc(followable(c.View), func(l app.Link) bool {
		return slices.ContainsFunc(c.Services, func(s ServiceLine) bool { return slices.Contains(s.Links, l) })
	})
}

func linkHost(u string) string {
	parsed, err := url.Parse(u)
	if err != nil || parsed.Host == "" {
		return u
	}
	if host, port, err := net.SplitHostPort(parsed.Host); err == nil {
		return host + ":" + port + strings.TrimSuffix(parsed.Path, "/")
	}
	return parsed.Host + strings.TrimSuffix(parsed.Path, "/")
}

// StreamClass is the CSS class of a log line's stream.
func StreamClass(s app.Stream) string {
	switch s {
	case family.StreamErr:
		return "err"
	case family.StreamSystem:
		return "sys"
	}
	return "out"
}

// canWake reports whether the button to wake the cluster is shown.
func (c Show) canWake() bool {
	return !c.Tabs.Deleted && c.View.Status == app.ClusterAsleep && c.Actor.MayIn("WakeCluster", c.View.Cluster)
}

// healthOf is the health of a node; the zero value if it isn't checked.
func (c Show) healthOf(n app.Node) health.NodeHealth {
	if c.View.Health == nil || n.Status != app.NodeReady {
		return health.NodeHealth{}
	}
	return c.View.Health.Of(n.Name)
}

// nodesShown is how many rows the table of nodes has.
const nodesShown = 25

func (c Show) nodePages() page.Pages {
	return page.Pages{From: c.NodesFrom, Size: nodesShown, All: len(c.View.Nodes), Noun: "node", URL: func(from int) string {
		return "/clusters/" + c.View.ID + "?from=" + strconv.Itoa(from) + "#nodes"
	}}
}

// NodeRows are the nodes on this page. If there are several pages, unhealthy nodes come first.
func (c Show) NodeRows() []app.Node {
	all := c.View.Nodes
	if len(all) > nodesShown {
		var ill, well []app.Node
		for _, n := range all {
			if c.healthOf(n).Ill() || n.Status == app.NodeReady && len(n.Stopped) > 0 {
				ill = append(ill, n)
			} else {
				well = append(well, n)
			}
		}
		all = append(ill, well...)
	}
	from, to := c.nodePages().Cut()
	return all[from:to]
}

// through is the address that opens a link through the server; "" where the actor may not, or there is none.
func (c Show) through(l app.Link) string {
	a, path, ok := port.Of(c.View.Cluster, c.View.Nodes, l.URL)
	if !c.Apps || !ok || !c.Actor.MayIn("OpenPort", c.View.Cluster) {
		return ""
	}
	return page.PortURL(a, path)
}
