package webhook

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
	"muster/app/webhook"
)

// longestReason is how much of a hook's no is shown to people, in bytes.
const longestReason = 300

// veto returns why the one that was asked says no; "" where the answer was no answer to the question: that the address is not the
// right one, that no one may speak there, or that it should be asked again.
func veto(a answer) string {
	switch a.Status {
	case http.StatusUnauthorized, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusProxyAuthRequired, http.StatusRequestTimeout,
		http.StatusGone, http.StatusTooEarly, http.StatusTooManyRequests:
		return ""
	}
	if a.Status < 400 || a.Status > 499 {
		return ""
	}
	reason := a.Text
	var said struct{ Reason, Message, Error, Detail string }
	if json.Unmarshal([]byte(a.Text), &said) == nil {
		for _, text := range []string{said.Detail, said.Error, said.Message, said.Reason} {
			if text != "" {
				reason = text
			}
		}
	}
	reason = strings.TrimRight(short(oneLine(reason), longestReason), ".")
	if reason == "" {
		reason = "it responded " + strings.TrimSpace(strconv.Itoa(a.Status)+" "+http.StatusText(a.Status))
	}
	return reason
}

// newsBody returns what an operation hook is sent. A cluster with more nodes than there is room for is notified of with fewer of them.
func newsBody(d webhook.DueDelivery, p Portal) ([]byte, *app.Error) {
	n := *d.News
	for {
		b, err := json.Marshal(newsValue(n, d.Format, p))
		if err != nil {
			return nil, app.Errorf(app.EInternal, "Can't encode the operation hook's message: %w", err)
		}
		if len(b) <= webhook.MaxHookBody {
			return b, nil
		}
		if len(n.Nodes) == 0 {
			return nil, app.Errorf(app.ETooLarge, "The operation hook's message is larger than %s.", humanize.Bytes(webhook.MaxHookBody))
		}
		n.Nodes = n.Nodes[:len(n.Nodes)/2]
	}
}

// newsEvent is the body of the format muster.
type newsEvent struct {
	Type      string    `json:"type"` // operation.before, operation.after, operation.failure
	Timestamp time.Time `json:"timestamp"`
	Data      newsData  `json:"data"`
}

type newsData struct {
	template.OperationNews
	URL string `json:"url,omitempty"`
}

func newsValue(n template.OperationNews, f webhook.Format, p Portal) any {
	if f == webhook.HookCoopr {
		return cooprBody(n)
	}
	return newsEvent{Type: "operation." + string(n.When), Timestamp: n.At, Data: newsData{n, p.url(app.ClusterSubject(n.Cluster.ID))}}
}

// cooprCallback is what Coopr's callback posted. Which of start, success and failure it was, a receiver knew by the URL; the
// job's status says it too.
type cooprCallback struct {
	Cluster cooprCluster `json:"cluster"`
	Job     cooprJob     `json:"job"`
	Nodes   []cooprNode  `json:"nodes"`
}

// cooprCluster leaves out what may be secret: the provider's fields and the configuration, which Coopr posted as they were.
type cooprCluster struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	CreateTime  int64          `json:"createTime"` // ms
	ExpireTime  int64          `json:"expireTime"` // ms; 0: never
	Provider    cooprNamed     `json:"provider"`
	Template    cooprNamed     `json:"clusterTemplate"`
	Nodes       []string       `json:"nodes"`
	Services    []string       `json:"services"`
	LatestJobID string         `json:"latestJobId"`
	Account     cooprAccount   `json:"account"`
	Status      string         `json:"status"`
	Config      map[string]any `json:"config"`
}

type cooprNamed struct {
	Name string `json:"name"`
}

type cooprAccount struct {
	UserID   string `json:"userId"`
	TenantID string `json:"tenantId"`
}

type cooprJob struct {
	JobID        string            `json:"jobId"`
	ClusterID    string            `json:"clusterId"`
	Action       string            `json:"clusterAction"`
	StagedTasks  [][]string        `json:"stagedTasks"` // there are no stages here
	CurrentStage int               `json:"currentStageNumber"`
	TaskStatus   map[string]string `json:"taskStatus"`
	Status       string            `json:"jobStatus"`
	Message      string            `json:"statusMessage,omitempty"`
}

type cooprNode struct {
	ID         string           `json:"id"`
	ClusterID  string           `json:"clusterId"`
	Services   []cooprNamed     `json:"services"`
	Properties cooprProperties  `json:"properties"`
	Actions    []map[string]any `json:"actions"`
	Results    map[string]any   `json:"provisionerResults"`
}

type cooprProperties struct {
	Hostname     string            `json:"hostname"`
	IPAddresses  map[string]string `json:"ipaddresses"`
	NodeNum      int               `json:"nodenum"`
	HardwareType string            `json:"hardwaretype"`
	ImageType    string            `json:"imagetype"`
	SSHUser      string            `json:"sshuser"`
	Services     []string          `json:"services"`
}

// cooprActions are what Coopr called the operations that it had; others have the name of ours, in its letters.
var cooprActions = map[app.OperationKind]string{
	app.OperationCreate: "CLUSTER_CREATE", app.OperationDelete: "CLUSTER_DELETE", app.OperationAddServices: "ADD_SERVICES",
	app.OperationReconfigure: "CLUSTER_CONFIGURE", app.OperationStart: "START_SERVICES", app.OperationStop: "STOP_SERVICES",
	app.OperationRestart: "RESTART_SERVICES",
}

// cooprBody writes news in Coopr's words, as a Java server's plain Gson does: names as they are, enumerations in capitals.
func cooprBody(n template.OperationNews) cooprCallback {
	c, o := n.Cluster, n.Operation
	job := fmt.Sprintf("%s-%03d", c.ID, o.ID)
	body := cooprCallback{
		Cluster: cooprCluster{ID: c.ID, Name: c.Name, CreateTime: milliseconds(c.CreatedAt), ExpireTime: milliseconds(c.ExpiresAt),
			Provider: cooprNamed{c.Provider}, Template: cooprNamed{c.Template}, Nodes: []string{}, Services: orNone(c.Services), LatestJobID: job,
			Account: cooprAccount{c.Owner, c.Tenant}, Status: cooprStatus(n), Config: map[string]any{}},
		Job: cooprJob{JobID: job, ClusterID: c.ID, Action: cooprActions[o.Kind], StagedTasks: [][]string{}, TaskStatus: map[string]string{},
			Status: "NOT_SUBMITTED", Message: o.Message},
		Nodes: []cooprNode{},
	}
	if body.Job.Action == "" {
		body.Job.Action = strings.ToUpper(string(o.Kind))
	}
	switch n.When {
	case template.HookAfter:
		body.Job.Status = "COMPLETE"
	case template.HookFailure:
		body.Job.Status = "FAILED"
	}
	for _, m := range n.Nodes {
		id := c.ID + "-" + m.Name
		node := cooprNode{ID: id, ClusterID: c.ID, Services: []cooprNamed{}, Actions: []map[string]any{}, Results: map[string]any{},
			Properties: cooprProperties{Hostname: m.Hostname, IPAddresses: m.Addresses, NodeNum: 999 + app.NodeNumber(m.Name), HardwareType: m.Hardware,
				ImageType: m.Image, SSHUser: m.SSHUser, Services: orNone(m.Services)}}
		if node.Properties.IPAddresses == nil {
			node.Properties.IPAddresses = map[string]string{}
		}
		for _, s := range m.Services {
			node.Services = append(node.Services, cooprNamed{s})
		}
		body.Cluster.Nodes = append(body.Cluster.Nodes, id)
		body.Nodes = append(body.Nodes, node)
	}
	return body
}

// cooprStatus is what Coopr's cluster was at that time.
func cooprStatus(n template.OperationNews) string {
	switch {
	case n.When == template.HookBefore:
		return "PENDING"
	case n.Cluster.Status == app.ClusterDeleted:
		return "TERMINATED"
	case n.When == template.HookAfter:
		return "ACTIVE"
	case n.Operation.Kind == app.OperationCreate || n.Operation.Kind == app.OperationDelete:
		return "INCOMPLETE"
	}
	return "INCONSISTENT"
}

func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
