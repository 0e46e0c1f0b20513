package page

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"muster/app"
)

// ClusterShow is the page of one cluster. Steps are those of the latest operation.
type ClusterShow struct {
	Now      time.Time
	Actor    app.Actor
	View     app.ClusterView
	Steps    []app.Step
	Log      []app.LogLine
	Node     string // the log shows only this node; "" for all
	Step     string // the log shows only this step; "" for all
	Failures []Failure
}

// Failure is a step that failed, with the last that it said.
type Failure struct {
	Step  app.Step
	Lines []app.LogLine
}

// Operation is the latest operation; nil where there never was one.
func (c ClusterShow) Operation() *app.Operation {
	if len(c.View.Operations) == 0 {
		return nil
	}
	return &c.View.Operations[0]
}

// Running tells whether something happens by itself.
func (c ClusterShow) Running() bool { return running(c.Operation()) }

// After is the number of the last log line on the page; a stream goes on from there.
func (c ClusterShow) After() int64 {
	if len(c.Log) == 0 {
		return 0
	}
	return c.Log[len(c.Log)-1].Seq
}

// LiveURL is where the page's event stream is.
func (c ClusterShow) LiveURL() string {
	q := url.Values{}
	if c.Node != "" {
		q.Set("node", c.Node)
	}
	if c.Step != "" {
		q.Set("step", c.Step)
	}
	if op := c.Operation(); op != nil {
		q.Set("operation", strconv.FormatInt(op.ID, 10))
	}
	return "/clusters/" + c.View.ID + "/live?" + q.Encode()
}

// Sentence says how the cluster is.
func (c ClusterShow) Sentence() string {
	op := c.Operation()
	switch c.View.Status {
	case app.ClusterActive:
		s := "Everything is as it was asked for."
		if !c.View.ExpiresAt.IsZero() {
			return s + " The lease ends " + LeaseEnd(c.Now, c.View.Cluster) + "."
		}
		return s
	case app.ClusterDeleted:
		return "Gone: every machine was given back " + Ago(c.Now, c.View.DeletedAt) + "."
	case app.ClusterFailed:
		if op == nil {
			return "Something went wrong."
		}
		if op.Status == app.OperationCancelled {
			return fmt.Sprintf("It was stopped after %d of %s. Delete gives back what there is.", op.Done, Count(op.Total, "step"))
		}
		return fmt.Sprintf("The %s failed after %d of %s. Resume goes on where it stopped; delete gives everything back.",
			op.Kind, op.Done, Count(op.Total, "step"))
	}
	return c.progress(op)
}

func (c ClusterShow) progress(op *app.Operation) string {
	switch {
	case op == nil:
		return "Waiting to begin."
	case op.Status == app.OperationWaiting:
		return "Waiting for the operation before it to end."
	case op.Status == app.OperationCancelling:
		return "Stopping: no new step begins, and running ones are told to end."
	}
	verb := "Being created"
	if op.Kind == app.OperationDelete {
		verb = "Being deleted"
	}
	s := fmt.Sprintf("%s: %d of %s done", verb, op.Done, Count(op.Total, "step"))
	if left, ok := remaining(c.Now, *op, c.Steps); ok {
		s += ", about " + Span(max(left, time.Second)) + " to go"
	}
	return s + "."
}

// Message is what the cluster or its latest operation says about itself, "" for nothing.
func (c ClusterShow) Message() string {
	if c.View.Message != "" {
		return c.View.Message
	}
	if op := c.Operation(); op != nil {
		return op.Message
	}
	return ""
}

// mayChange tells whether the actor may ask for changes to this cluster; the use cases have the last word.
func (c ClusterShow) mayChange() bool {
	return c.Actor.Role == app.RoleAdmin || c.Actor.Role != app.RoleViewer && c.Actor.User == c.View.Owner
}

// CanDelete tells whether the delete button is shown.
func (c ClusterShow) CanDelete() bool {
	op := c.Operation()
	deleting := running(op) && op.Kind == app.OperationDelete
	return c.mayChange() && c.View.Status != app.ClusterDeleted && !deleting
}

// CanResume tells whether the resume button is shown.
func (c ClusterShow) CanResume() bool {
	op := c.Operation()
	return c.mayChange() && c.View.Status == app.ClusterFailed && op != nil && op.Status != app.OperationCancelled
}

// CanSSH tells whether the key and the lines to connect are shown.
func (c ClusterShow) CanSSH() bool { return c.mayChange() && c.View.Status != app.ClusterDeleted }

// KeyFile is the name under which the cluster's private key is saved.
func (c ClusterShow) KeyFile() string { return "muster-" + c.View.ID + ".pem" }

// SSH is the command line that opens a shell on a node, "" until its address is known.
func (c ClusterShow) SSH(n app.Node) string {
	addr := n.Address(app.AddressAccess)
	if addr == "" || n.Status == app.NodeDeleted {
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

// Matrix is the latest operation's plan at work.
func (c ClusterShow) Matrix() Matrix { return NewMatrix(c.Steps) }

// filterURL is the page with its log narrowed to a node or a step.
func (c ClusterShow) filterURL(node, step string) string {
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

// steps lists the steps that the log can be narrowed to.
func (c ClusterShow) steps() []app.Step {
	var out []app.Step
	for _, s := range c.Steps {
		if !s.Join && (c.Node == "" || s.Node == c.Node) {
			out = append(out, s)
		}
	}
	return out
}

func opWords(o app.Operation) string {
	s := string(o.Kind) + " " + string(o.Status)
	if o.Status == app.OperationRunning || o.Status == app.OperationFailed {
		s += fmt.Sprintf(", %d of %s", o.Done, Count(o.Total, "step"))
	}
	return s
}

func opTook(now time.Time, o app.Operation) string {
	switch {
	case o.StartedAt.IsZero():
		return ""
	case o.EndedAt.IsZero():
		return "for " + Span(now.Sub(o.StartedAt))
	}
	return "took " + Span(o.EndedAt.Sub(o.StartedAt))
}

// links are those of the cluster's links that a browser may follow. Catalog and machines have a say in them.
func (c ClusterShow) links() []app.Link {
	var out []app.Link
	for _, l := range c.View.Links {
		u, err := url.Parse(l.URL)
		if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && c.View.Status != app.ClusterDeleted {
			out = append(out, l)
		}
	}
	return out
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

// StreamClass tells the style sheet who said a line.
func StreamClass(s app.Stream) string {
	switch s {
	case app.StreamErr:
		return "err"
	case app.StreamSystem:
		return "sys"
	}
	return "out"
}
