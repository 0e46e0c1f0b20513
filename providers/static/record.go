package static

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
)

// record is what a machine that is in use says of itself. It is one line of JSON, and is changed only by who knows the current line.
type record struct {
	Token     string            `json:"token"` // of this checkout, so that a machine's next user is another machine to the outside
	State     state             `json:"state"`
	Intent    string            `json:"intent"`
	Hostname  string            `json:"hostname"`
	Tags      map[string]string `json:"tags"`
	Keys      []string          `json:"keys"` // that were let in, without their comments
	CreatedAt time.Time         `json:"made_at"`
	Failed    string            `json:"failed,omitempty"` // why it could not be wiped
}

type state string

const (
	taking state = "taking" // reserved, and being made ready
	ready  state = "ready"
	wiping state = "wiping" // given back; no one gets it before this record is gone
)

func newToken() string {
	var b [5]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// line is the record as it is on the machine.
func (r *record) line() string {
	b, _ := json.Marshal(r) // strings and maps of them
	return string(b)
}

func (r *record) with(change func(*record)) *record {
	c := *r
	c.Tags, c.Keys = maps.Clone(r.Tags), slices.Clone(r.Keys)
	change(&c)
	return &c
}

func readRecord(line string) (*record, error) {
	r := new(record)
	if err := json.Unmarshal([]byte(line), r); err != nil {
		return nil, err
	}
	if r.Token == "" || r.State != taking && r.State != ready && r.State != wiping {
		return nil, app.Errorf(app.EInvalid, "it has no token or state")
	}
	return r, nil
}

// id is the machine to the outside: a name of the inventory, and which checkout of it.
func id(m *machine, r *record) string { return m.name + "~" + r.Token }

func (p *provider) byID(id string) (*machine, string) {
	name, token, ok := strings.Cut(id, "~")
	if !ok || token == "" {
		return nil, ""
	}
	return p.byName[name], token
}

// view is what is known of a machine now.
type view struct {
	*machine
	rec     *record // nil: it is free
	line    string  // as it is on the machine
	hostKey string
	silent  error // why it could not be asked; then rec is what was known last
	unknown bool  // it could not be asked, and nothing was known
}

func (v *view) free() bool { return v.silent == nil && v.rec == nil && !v.out }

// machine is a checkout in app's words.
func (p *provider) machine(v *view) family.Machine {
	r := v.rec
	m := family.Machine{ID: id(v.machine, r), State: family.MachineRunning, Hostname: r.Hostname, SSHUser: v.user, SSHPort: v.port, Tags: maps.Clone(r.Tags),
		HostKey: v.hostKey, OwnRoot: true, Zone: v.zone, CreatedAt: r.CreatedAt, Note: "static machine " + v.name,
		Addresses: map[string]string{"access_v4": v.address, "bind_v4": v.bind}}
	switch {
	case v.out:
		m.State, m.Note = family.MachineStopped, m.Note+", out of service; last known state"
	case v.silent != nil:
		m.State, m.Note = family.MachineStopped, m.Note+", not reachable; last known state: "+app.AsError(v.silent).ForPeople()
	case r.State == taking:
		m.State = family.MachineStarting
	case r.State == wiping && r.Failed != "":
		m.State, m.Note = family.MachineStopped, m.Note+", released but not wiped: "+r.Failed
	case r.State == wiping:
		m.State, m.Note = family.MachineStopped, m.Note+", released, being wiped"
	}
	return m
}
