package executable

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/program"
	"muster/automators/internal/node"
)

// The versions of the protocol that Muster speaks. A program answers describe with the one that it has chosen of them.
const (
	oldest = 1
	newest = 1
)

// Verbs of Muster.
const (
	verbDescribe  = "describe"
	verbCheck     = "check"
	verbBootstrap = "bootstrap"
	verbRun       = "run"
	verbDryRun    = "dry_run"
)

// What the program may ask for while it carries something out; say is not answered.
const (
	askRun = "run"
	askPut = "put"
	askSay = "say"
)

// Limits of what a program may say.
const (
	longestMessage = 2000    // of an error
	longestCommand = 1 << 20 // of a command line
	longestInput   = 8 << 20 // of a command's input, and of a file
	longestOutput  = 1 << 20 // of what a command said, on either output
	maxAsks        = 10_000  // of one action
	maxFields      = 200
	maxTools       = 50
)

// message is a line in either direction. With a verb it is a request, else an answer to one; each side counts its own.
type message struct {
	ID     uint64          `json:"id,omitempty"`
	Verb   string          `json:"verb,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *failure        `json:"error,omitempty"`
}

type failure struct {
	Code    app.Code `json:"code"`
	Message string   `json:"message"`
	Hint    string   `json:"hint,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	Field   string   `json:"field,omitempty"`
	Exit    int      `json:"exit,omitempty"` // of a tool that ran and failed
}

type describeParams struct {
	Protocol versions `json:"protocol"`
}

type versions struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

type checkParams struct {
	Fields map[string]string `json:"fields"`
}

// nodeLine is family.NodeContext on the line.
type nodeLine struct {
	Tenant   string `json:"tenant"`
	Cluster  string `json:"cluster"`
	Node     string `json:"node"`
	Hostname string `json:"hostname"`
	Owner    string `json:"owner"`
}

type bootstrapParams struct {
	Node nodeLine `json:"node"`
}

type peerLine struct {
	Address  string   `json:"address"`
	Names    []string `json:"names"`
	Services []string `json:"services"`
}

type resourceLine struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

// callParams is family.ServiceCall on the line.
type callParams struct {
	Node      nodeLine          `json:"node"`
	Operation int64             `json:"operation"`
	Step      string            `json:"step"`
	Service   string            `json:"service"`
	Action    app.Action        `json:"action"`
	Fields    map[string]string `json:"fields"`
	Config    map[string]any    `json:"config"`
	Directory string            `json:"resources_directory,omitempty"`
	Resources []resourceLine    `json:"resources"`
	Services  []string          `json:"services"`
	Peers     []peerLine        `json:"peers"`
}

func lineOf(n family.NodeContext) nodeLine {
	return nodeLine{Tenant: n.Tenant, Cluster: n.Cluster, Node: n.Node, Hostname: n.Hostname, Owner: n.Owner}
}

func paramsOf(c family.ServiceCall) callParams {
	p := callParams{Node: lineOf(c.NodeContext), Operation: c.Operation, Step: c.Step, Service: c.Service, Action: c.Action, Fields: c.Fields, Config: c.Config, Directory: c.Resources,
		Resources: []resourceLine{}, Services: append([]string{}, c.Services...), Peers: []peerLine{}}
	if p.Fields == nil {
		p.Fields = map[string]string{}
	}
	if p.Config == nil {
		p.Config = map[string]any{}
	}
	for _, r := range c.Refs {
		p.Resources = append(p.Resources, resourceLine{r.Type, r.Name})
	}
	for _, one := range c.Peers {
		p.Peers = append(p.Peers, peerLine{one.Address, append([]string{}, one.Names...), append([]string{}, one.Services...)})
	}
	return p
}

// runAsk is a command that the program wants run.
type runAsk struct {
	Line  string `json:"line"`
	Stdin string `json:"stdin"`
	Sudo  *bool  `json:"sudo"` // nil is yes, where there is one
	Once  bool   `json:"once"`
	Quiet bool   `json:"quiet"`
}

type ranResult struct {
	Exit   int    `json:"exit"`
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	Cut    bool   `json:"cut,omitempty"`
}

// putAsk is a file that the program wants put: at a path, or under a name in a directory that goes away with the action.
type putAsk struct {
	Path    string `json:"path"`
	Name    string `json:"name"`
	Mode    string `json:"mode"`
	Content string `json:"content"`
	Base64  []byte `json:"content_base64"`
}

type putResult struct {
	Path string `json:"path"`
}

type sayAsk struct {
	Line string `json:"line"`
}

type doneResult struct {
	Facts   json.RawMessage `json:"facts"`
	Changes []string        `json:"changes"`
}

// readMessage understands one line. An error means that the program does not keep to the protocol at all.
func readMessage(line []byte) (message, error) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return message{}, errors.New("a line that isn't a JSON object of the protocol")
	}
	answer := len(m.Result) > 0 && string(m.Result) != "null"
	switch {
	case m.Verb == askSay && !answer && m.Error == nil:
		return m, nil
	case m.ID == 0:
		return message{}, errors.New("a line without an id")
	case m.Verb != "" && (answer || m.Error != nil):
		return message{}, errors.New("a line that is both a request and a response")
	case m.Verb == "" && answer == (m.Error != nil):
		return message{}, errors.New("a response that doesn't have exactly one of result and error")
	}
	return m, nil
}

// codes are those that a program may give.
var codes = []app.Code{app.EInvalid, app.EScript, app.ENotFound, app.EConflict, app.ECredentials, app.ECapacity, app.ETransient, app.ETimeout, app.ECancelled, app.EInternal}

// err makes an error of what a program says went wrong, in the words of what was asked: "web install".
// The words of a tool that failed are last, where the program has none of its own.
func (f *failure) err(what string, last *node.LastLine) *app.Error {
	e := &app.Error{Code: f.Code, Reason: program.Tidy(f.Reason, 100), Message: program.Tidy(f.Message, longestMessage), Hint: program.Tidy(f.Hint, longestMessage), Field: program.Tidy(f.Field, 200)}
	switch {
	case !slices.Contains(codes, f.Code):
		e.Code = app.EInternal
		e.Message = fmt.Sprintf("the automator's program returned the unknown code %q: %s", program.Tidy(string(f.Code), 50), e.Message)
	case e.Message == "" && e.Code != app.EScript:
		e.Message = "the automator's program reported only " + string(e.Code)
	}
	switch {
	case e.Code == app.EScript:
		if e.Message != "" {
			last = &node.LastLine{}
			last.Set(e.Message)
		}
		e.Message = fmt.Sprintf("%s failed with exit code %d%s", what, f.Exit, last.Because())
	case what != "" && e.Code != app.EInvalid:
		e.Message = what + ": " + e.Message
	}
	return e
}

// times are how long a program may take where no one else says so.
type times struct {
	describe time.Duration // to say what it is, from its start
	check    time.Duration // to check fields
	write    time.Duration // to read a line of ours
	eof      time.Duration // to end by itself once its input has ended
	term     time.Duration // to end after SIGTERM
	idle     time.Duration // for which it is kept without work
}

var usualTimes = times{describe: 10 * time.Second, check: 10 * time.Second, write: 30 * time.Second, eof: 3 * time.Second, term: 2 * time.Second, idle: 30 * time.Second}
