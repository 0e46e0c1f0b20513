package idle

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app/template"
)

// reading is what a node says, line by line: "own 192.0.2.1 50000 22".
func reading(lines ...string) *Reading {
	r := &Reading{}
	for _, line := range lines {
		about, rest, _ := strings.Cut(line, " ")
		r.Line(about, rest)
	}
	return r
}

// Lines of /proc/net/tcp: of Muster's own connection, a person's, and one to port 8080.
const (
	ownLine    = "tcp   1: 0A02000A:0016 010200C0:C350 01 00000000:00000000 02:000 00000000 0 0 1 1"
	personLine = "tcp   2: 0A02000A:0016 070200C0:C351 01 00000000:00000000 02:000 00000000 0 0 1 1"
	person6    = "tcp   3: 0000000000000000FFFF00000A02000A:0016 0000000000000000FFFF0000070200C0:C352 01 00000000:00000000"
	webLine    = "tcp   4: 0A02000A:1F90 070200C0:C353 01 00000000:00000000"
	selfLine   = "tcp   5: 0A02000A:1F90 0A02000A:C353 01 00000000:00000000"
	own        = "own 192.0.2.1 50000 22"
)

func TestConditions(t *testing.T) {
	ssh, web := template.IdleConditions{NoSSH: true}, template.IdleConditions{NoConnections: []int{8080, 8443}}
	load, gpu, script := template.IdleConditions{LoadBelow: 0.5}, template.IdleConditions{GPUBelow: 5}, template.IdleConditions{Script: "x"}
	for name, c := range map[string]struct {
		if_   template.IdleConditions
		lines []string
		want  string // "": idle
	}{
		"only Muster's own connection":         {ssh, []string{own, ownLine, "tables"}, ""},
		"a person":                             {ssh, []string{own, ownLine, personLine, "tables"}, "an SSH connection from 192.0.2.7"},
		"a person over IPv6":                   {ssh, []string{own, ownLine, person6, "tables"}, "an SSH connection from 192.0.2.7"},
		"a person whose name is known":         {ssh, []string{own, ownLine, personLine, "person ann 192.0.2.7", "tables"}, "an SSH session of ann from 192.0.2.7"},
		"two sessions are said once":           {ssh, []string{own, ownLine, personLine, person6, "tables"}, "an SSH connection from 192.0.2.7"},
		"another worker's connection":          {ssh, []string{own, "known 192.0.2.7 50001", ownLine, personLine, "tables"}, ""},
		"its own connection isn't listed":      {ssh, []string{own, personLine, "tables"}, "SSH connections are unknown"},
		"no tables":                            {ssh, []string{own}, "SSH connections are unknown"},
		"no answer":                            {ssh, nil, "SSH connections are unknown"},
		"nonsense":                             {ssh, []string{"own", "tcp", "tcp a b c 01", "tcp 1: zz:1 :2 01", "tables"}, "SSH connections are unknown"},
		"no connection to the ports":           {web, []string{ownLine, "tables"}, ""},
		"a connection to a port":               {web, []string{webLine, "tables"}, "1 connection to port 8080"},
		"the node's own connection":            {web, []string{selfLine, "tables"}, ""},
		"connections are unknown":              {web, nil, "connections are unknown"},
		"a low load":                           {load, []string{"load 0.99 2"}, ""},
		"a high load":                          {load, []string{"load 1.00 2"}, "load 0.50 per core"},
		"no load":                              {load, nil, "the load is unknown"},
		"no number of cores":                   {load, []string{"load 0.1 x"}, "the load is unknown"},
		"no GPU":                               {gpu, []string{"nogpu"}, ""},
		"an idle GPU":                          {gpu, []string{"gpu 0", "gpu 4"}, ""},
		"a busy GPU":                           {gpu, []string{"gpu 0", "gpu 5"}, "GPU 1 is used to 5%"},
		"a GPU that doesn't tell":              {gpu, []string{"gpu [N/A]"}, "use of GPU 0 is unknown"},
		"a GPU without nvidia-smi":             {gpu, []string{"badgpu nvidia-smi isn't installed"}, "GPU use is unknown: nvidia-smi isn't installed"},
		"no word of GPUs":                      {gpu, nil, "GPU use is unknown"},
		"the script says idle":                 {script, []string{"script 0 nothing runs"}, ""},
		"the script says in use":               {script, []string{"script 1 3 jobs run "}, "the script says: 3 jobs run"},
		"the script says in use without words": {script, []string{"script 1 "}, "the script says that it's in use"},
		"the script fails":                     {script, []string{"script 127 sh: x: not found"}, "the script failed with exit code 127: sh: x: not found"},
		"the script takes too long":            {script, []string{"script 124 "}, "the script gave no answer in time"},
		"the script has no answer":             {script, nil, "the script gave no answer in time"},
	} {
		if got := strings.Join(reading(c.lines...).Reasons(c.if_), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Whatever happens, nothing is done to a cluster that was in use, or not known, at some time since it was warned of or within the time that makes it idle.
func TestNothingHappensToClustersInUse(t *testing.T) {
	const every, nodes = time.Minute, 3
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		s := State{Policy: template.IdlePolicy{After: 10 * time.Minute, Grace: 5 * time.Minute}}
		var used, warned, kept time.Time // last
		used = now
		acted := 0
		for range 400 {
			now = now.Add(time.Duration(r.IntN(90)) * time.Second)
			switch n := r.IntN(100); {
			case n < 3:
				s, used = s.Measured(Measurement{Began: now, At: now, Every: every, Nodes: nodes, Reasons: []string{"n1: busy"}}), now
			case n < 4:
				s, used = s.Active(now), now
			case n < 5:
				kept = now.Add(20 * time.Minute)
				s, used = s.Keep(kept, now, "ada"), now
			case n < 6:
				now = now.Add(time.Hour) // no one measures
				used = now
			case n < 60:
				s = s.Measured(Measurement{Began: now.Add(-time.Second), At: now, Every: every, Nodes: nodes})
			default:
				switch s.Next(now, every, nodes) {
				case StepWarn:
					if now.Sub(used) < 10*time.Minute-time.Second || now.Before(kept) {
						t.Fatalf("seed %d: warned %s after it was used", seed, now.Sub(used))
					}
					s, warned = s.Warned(now), now
				case StepConfirm:
					s = s.Confirming(now)
				case StepAct:
					if used.After(warned) || now.Sub(warned) < 5*time.Minute || s.MeasuredAt.Before(s.ConfirmAt) {
						t.Fatalf("seed %d: acted %s after the warning, used %s after it", seed, now.Sub(warned), used.Sub(warned))
					}
					acted++
					s, used = s.Active(now), now
				}
			}
		}
		if seed == 0 && acted == 0 {
			t.Error("nothing ever happens")
		}
	}
}

func TestStates(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(s State, minutes int, reasons ...string) State {
		m := now.Add(time.Duration(minutes) * time.Minute)
		return s.Measured(Measurement{Began: m, At: m, Every: time.Minute, Nodes: 1, Reasons: reasons})
	}
	s := at(State{Policy: template.IdlePolicy{After: 10 * time.Minute, Then: template.IdleWarn}}, 0)
	if !s.IdleSince.Equal(now) || !s.DueAt.Equal(now.Add(10*time.Minute)) {
		t.Errorf("idle: %+v", s)
	}
	if later := at(s, 60); !later.IdleSince.Equal(now.Add(time.Hour)) {
		t.Errorf("an hour without measurements counts as idle: %+v", later)
	}
	if s = s.Warned(now); !s.DueAt.IsZero() || !s.ActAt.IsZero() || s.DoneAt.IsZero() {
		t.Errorf("warned only: %+v", s)
	}
	if s = at(s, 1); !s.DueAt.IsZero() {
		t.Errorf("warned again: %+v", s)
	}
	if s = at(s, 2, "n1: busy"); !s.DoneAt.IsZero() || !slices.Equal(s.Reasons, []string{"n1: busy"}) {
		t.Errorf("in use: %+v", s)
	}
	if v := (Saving{PerHour: 2, From: now}).Within(now.Add(-time.Hour), now.Add(3*time.Hour)); v.Hours != 3 || v.Saved != 6 {
		t.Errorf("saved %+v", v)
	}
	if v := (Saving{PerHour: 2, From: now, Until: now.Add(2 * time.Hour)}).Within(now.Add(time.Hour), now.Add(3*time.Hour)); v.Hours != 1 || v.Saved != 2 {
		t.Errorf("saved %+v", v)
	}
}
