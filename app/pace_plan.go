package app

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Expectation is how long something will take, and how that is known. Low and High are between what four of five times lie.
type Expectation struct {
	Typical time.Duration `json:"typical"`
	Low     time.Duration `json:"low"`
	High    time.Duration `json:"high"`
	// Guessed is how much of Typical is a guess, since it was never done here.
	Guessed time.Duration `json:"guessed"`
	// Runs is how often that was done of which least is known, guesses aside; 0 where all is a guess.
	Runs int64 `json:"runs"`
}

// About says how long it takes: "about 2 min 10 s (2 to 3 min)". It is "" where nothing takes time.
func (e Expectation) About() string {
	if e.Typical <= 0 {
		return ""
	}
	text := AboutLength(expectedLength(e.Typical))
	if low, high := expectedLength(e.Low), expectedLength(e.High); low != high && e.High > 0 {
		if strings.HasPrefix(low, "less than") {
			return text + " (up to " + high + ")"
		}
		text += " (" + low + " to " + high + ")"
	}
	return text
}

// From says how that is known: "from 37 earlier runs".
func (e Expectation) From() string {
	switch {
	case e.Typical <= 0:
		return ""
	case e.Runs == 0 || e.Guessed >= e.Typical:
		return "a guess: never done here"
	case e.Guessed >= time.Second && e.Guessed*20 >= e.Typical:
		return fmt.Sprintf("from %s, and a guess for %s of it that was never done here", runs(e.Runs), expectedLength(e.Guessed))
	}
	return "from " + runs(e.Runs)
}

// Words is About and From in one; "" where nothing takes time.
func (e Expectation) Words() string {
	if e.Typical <= 0 {
		return ""
	}
	return e.About() + "; " + e.From()
}

func runs(n int64) string {
	if n == 1 {
		return "1 earlier run"
	}
	return fmt.Sprintf("%d earlier runs", n)
}

// expectedLength is Length with no more digits than an expectation has.
func expectedLength(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than 1 s"
	case d < time.Minute:
		d = d.Round(time.Second)
	case d < 10*time.Minute:
		d = d.Round(10 * time.Second)
	case d < time.Hour:
		d = d.Round(time.Minute)
	default:
		d = d.Round(5 * time.Minute)
	}
	return Length(d)
}

// PaceKey names the kind of a step on a node; hook is for the action of that name.
func (r PlanRequest) PaceKey(n PlanNode, action Action, service, hook string) PaceKey {
	k := PaceKey{Tenant: r.Tenant, Action: action, Service: service, Provider: r.Provider, Type: r.ProviderType, Hardware: n.Hardware, Image: n.Image}
	s := r.Services[service]
	switch {
	case action == ActionHook:
		k.Service = hook
		if i := slices.IndexFunc(r.Hooks, func(h OperationHook) bool { return h.Name == hook }); i >= 0 {
			k.Version = versionOf(r.Hooks[i].Script)
		}
	case s == nil:
	case action == ActionCompare:
		k.Version = versionOf("compare", s.Actions)
	case action == ActionCheck:
		k.Version = versionOf(s.Health)
	case s.Actions[action] != nil:
		k.Version = versionOf(s.Actions[action].Automator, s.Actions[action].Fields)
	}
	return k
}

func versionOf(what ...any) string {
	b, err := json.Marshal(what)
	if err != nil {
		panic("app: a service holds only plain values: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// machineActions are those of which any plan may have some.
var machineActions = []Action{ActionCreate, ActionConfirm, ActionBootstrap, ActionSleep, ActionWake, ActionDelete, ActionNames}

// PaceKeys gives the kinds of steps that a plan of the request may have, with those that are wider, each once.
func (r PlanRequest) PaceKeys() []PaceKey {
	var keys []PaceKey
	seen := map[PaceKey]bool{}
	add := func(k PaceKey) {
		for _, k := range k.Widths() {
			if seen[k] {
				return
			}
			seen[k] = true
			keys = append(keys, k)
		}
	}
	type on struct{ hardware, image, service string }
	known := map[on]bool{}
	first := func(n PlanNode, service string) bool {
		at := on{n.Hardware, n.Image, service}
		was := known[at]
		known[at] = true
		return !was
	}
	for _, n := range r.Nodes {
		if first(n, "") {
			for _, action := range machineActions {
				add(r.PaceKey(n, action, "", ""))
			}
			for _, h := range r.Hooks {
				if h.Script != "" {
					add(r.PaceKey(n, ActionHook, "", h.Name))
				}
			}
		}
		for _, names := range [][]string{n.Services, n.Removed} {
			for _, name := range names {
				s := r.Services[name]
				if s == nil || !first(n, name) {
					continue
				}
				for _, action := range ServiceActions {
					if s.Actions[action] != nil {
						add(r.PaceKey(n, action, name, ""))
					}
				}
				if n.Work[name] == WorkCompare {
					add(r.PaceKey(n, ActionCompare, name, ""))
				}
				if s.Health != nil {
					add(r.PaceKey(n, ActionCheck, name, ""))
				}
			}
		}
	}
	return keys
}
