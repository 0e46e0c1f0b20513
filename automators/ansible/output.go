package ansible

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"muster/app"
	"muster/app/family"
	"muster/automators/internal/node"
)

// runOutput is what a run printed about itself, by the plugin and otherwise.
type runOutput struct {
	mu      sync.Mutex
	last    string // on the error output
	first   string // of what begins with ERROR!
	failed  string // the task that failed last, and why: an earlier one may have been rescued
	listing bool   // what comes is the plugin's
	changed []string
}

// note is a line of the plugin's.
type note struct{ Task, Action, Msg, Subject string }

// title is how a task is called for people.
func (n note) title() string {
	if short := n.Action[strings.LastIndexByte(n.Action, '.')+1:]; n.Task != short && n.Task != n.Action {
		return n.Task + " (" + short + ")"
	}
	return n.Task
}

func (s *runOutput) watch(out family.Output) family.Output {
	return func(stream app.Stream, line string) {
		if !s.hear(stream, line) && out != nil {
			out(stream, line)
		}
	}
}

// hear reports whether a line is not for people.
func (s *runOutput) hear(stream app.Stream, line string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stream == family.StreamErr {
		text, ours := strings.CutPrefix(line, markFailed)
		if !ours {
			if line = strings.TrimSpace(line); line != "" {
				s.last = line
			}
			if text, ok := strings.CutPrefix(line, "ERROR! "); ok && s.first == "" {
				s.first = text
			}
			return false
		}
		var n note
		if json.Unmarshal([]byte(text), &n) == nil {
			reason, _, _ := strings.Cut(strings.TrimSpace(n.Msg), "\n")
			s.failed = n.title()
			if reason != "" {
				s.failed += ": " + reason
			}
		}
		return true
	}
	if stream != family.StreamOut {
		return false
	}
	if line == markChanged {
		s.listing = true
		return true
	}
	if s.listing && len(s.changed) < 100_000 {
		s.changed = append(s.changed, line)
	}
	return s.listing
}

func (s *runOutput) changes() family.Changes {
	s.mu.Lock()
	defer s.mu.Unlock()
	return changesOf(s.changed)
}

// changesOf reads the plugin's lines of what would be changed.
func changesOf(lines []string) family.Changes {
	var all family.Changes
	for _, l := range lines {
		if strings.TrimSpace(l) == "" {
			continue
		}
		var n note
		if json.Unmarshal([]byte(l), &n) != nil {
			all.More++
			continue
		}
		text := n.title()
		if n.Subject != "" {
			text += ": " + n.Subject
		}
		all.Add(text)
	}
	return all
}

// meaning is what ansible-playbook's exit codes say.
var meaning = map[int]string{
	1:   "Ansible failed",
	2:   "a task failed",
	4:   "the playbook is invalid or the node is unreachable",
	5:   "Ansible rejected an option",
	8:   "a task failed and the play was aborted",
	127: "Ansible isn't installed",
	250: "unexpected Ansible error",
}

func (s *runOutput) err(call family.ServiceCall, exit int) *app.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	reason := s.failed
	if reason == "" {
		reason = s.first
	}
	if reason == "" {
		reason = s.last
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
