package puppet

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"muster/app"
	"muster/app/family"
	"muster/automators/internal/node"
)

// failure is what a run said of why it failed.
type failure struct {
	mu       sync.Mutex
	last     string // on the error output
	resource string // the first that failed, and why
	first    string // of the lines that say error
}

func (f *failure) watch(out family.Output) family.Output {
	return func(s app.Stream, line string) {
		if s == family.StreamErr {
			f.hear(line)
		}
		if out != nil {
			out(s, line)
		}
	}
}

func (f *failure) hear(line string) {
	line = strings.TrimSpace(line)
	if line == "" || strings.HasPrefix(line, "Error: Facter:") { // what Facter cannot look at does not fail a run
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = line
	said, ok := strings.CutPrefix(line, "Error: ")
	if !ok {
		return
	}
	if f.first == "" {
		f.first = said
	}
	if source, reason, ok := splitSource(said); ok && f.resource == "" {
		name, _ := resourceOf(source)
		f.resource = name + ": " + reason
	}
}

// splitSource parts a source, such as /Stage[main]/Main/Exec[x]/returns, from what is said of it.
func splitSource(said string) (source, reason string, ok bool) {
	if !strings.HasPrefix(said, "/Stage[") {
		return "", "", false
	}
	depth := 0
	for i, c := range said {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ':' && depth <= 0 && strings.HasPrefix(said[i:], ": "):
			return said[:i], strings.TrimSpace(said[i+2:]), true
		}
	}
	return "", "", false
}

// resourceOf finds the resource in a source, and which of its properties is spoken of: File[/etc/motd] and content in
// /Stage[main]/Main/File[/etc/motd]/content.
func resourceOf(source string) (resource, property string) {
	depth, from := 0, 0
	part := func(s string) {
		switch {
		case strings.HasSuffix(s, "]") && strings.Contains(s, "["):
			resource, property = s, ""
		case resource != "":
			property = s
		}
	}
	for i, c := range source {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == '/' && depth <= 0:
			part(source[from:i])
			from = i + 1
		}
	}
	part(source[from:])
	return resource, property
}

// meaning is what Puppet's exit codes say.
var meaning = map[int]string{
	1:   "the catalog failed to compile or apply",
	4:   "a resource failed; nothing else changed",
	6:   "a resource failed; others changed",
	127: "Puppet isn't installed",
}

func (f *failure) err(call family.ServiceCall, exit int) *app.Error {
	f.mu.Lock()
	defer f.mu.Unlock()
	reason := f.resource
	if reason == "" {
		reason = f.first
	}
	if reason == "" {
		reason = f.last
	}
	words := ""
	if m := meaning[exit]; m != "" {
		words = " (" + m + ")"
	}
	var last node.LastLine
	last.Set(reason)
	return &app.Error{
		Code: app.EScript, Reason: "exit_code",
		Message: fmt.Sprintf("%s %s failed with exit code %d%s%s", call.Service, call.Action, exit, words, last.Because()),
	}
}

// noop collects what a dry run has logged. Its log comes behind all else, see markLog.
type noop struct {
	mu      sync.Mutex
	logging bool
	outputs string
	log     []string
}

func (n *noop) watch(out family.Output) family.Output {
	return func(s app.Stream, line string) {
		if s == family.StreamOut && n.hear(line) {
			return
		}
		out(s, line)
	}
}

// hear reports whether a line is not for people.
func (n *noop) hear(line string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if path, ok := strings.CutPrefix(line, markOutputs); ok && n.outputs == "" {
		n.outputs = path
		return true
	}
	if line == markLog {
		n.logging = true
		return true
	}
	if n.logging && len(n.log) < 100_000 {
		n.log = append(n.log, line)
	}
	return n.logging
}

func (n *noop) changes() family.Changes {
	n.mu.Lock()
	defer n.mu.Unlock()
	return changesOf(n.log, "File["+n.outputs+"]")
}

// changesOf reads the lines of a log of --noop: what would be changed, without the values, since these may be secret. The resource named ours is not
// the node's.
func changesOf(log []string, ours string) family.Changes {
	var all family.Changes
	seen, changed := map[string]bool{}, map[string]bool{}
	tell := func(text string) {
		if !seen[text] {
			seen[text] = true
			all.Add(text)
		}
	}
	for _, line := range log {
		var e struct{ Level, Message, Source string }
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "{") {
			continue
		}
		if json.Unmarshal([]byte(line), &e) != nil {
			all.More++ // a line that was too long to come in one piece
			continue
		}
		if e.Level != "notice" || !strings.HasPrefix(e.Source, "/Stage[") {
			continue
		}
		resource, property := resourceOf(e.Source)
		kind, _, _ := strings.Cut(resource, "[")
		if resource == ours || kind == "Notify" { // which only says something
			continue
		}
		switch {
		case strings.HasSuffix(e.Message, "(noop)"):
			changed[resource] = true
			tell(resource + ": " + property + values(property, e.Message))
		case strings.HasPrefix(e.Message, "Would have triggered 'refresh'"):
			// Of what only holds others (a class, a stage, a type that a manifest defines) Puppet says so as well.
			if kind != "Class" && kind != "Stage" && !strings.Contains(kind, "::") && !changed[resource] {
				tell(resource + ": refresh")
			}
		}
	}
	return all
}

// values tells those of a property that is never secret.
func values(property, message string) string {
	if property != "ensure" && property != "mode" && property != "owner" && property != "group" && property != "enable" {
		return ""
	}
	from, ok := strings.CutPrefix(message, "current_value ")
	if !ok {
		return ""
	}
	from, to, ok := strings.Cut(from, ", should be ")
	if !ok {
		return ""
	}
	return " from " + strings.Trim(from, "'") + " to " + strings.Trim(strings.TrimSuffix(to, " (noop)"), "'")
}
