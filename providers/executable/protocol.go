package executable

import (
	"encoding/json"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
)

// The versions of the protocol that Muster speaks. A program answers describe with the one that it has chosen of them.
const (
	oldest = 1
	newest = 1
)

// The verbs. In the protocol, describe is the program's word on itself, and machine what family.Provider calls Describe.
const (
	verbDescribe     = "describe"
	verbOpen         = "open"
	verbCreate       = "create"
	verbMachine      = "machine"
	verbList         = "list"
	verbDelete       = "delete"
	verbSleep        = "sleep"
	verbWake         = "wake"
	verbAdopt        = "adopt"
	verbCheck        = "check"
	verbOffers       = "offers"
	verbShared       = "shared"
	verbDeleteShared = "delete_shared"
	verbCancel       = "cancel"
)

// Limits of what a program may say.
const (
	longestMessage = 2000 // of an error, a finding or a note
	longestID      = 1000 // of a machine or a shared thing
	maxFields      = 200  // of a descriptor's lists
	maxAtOnce      = 1000
	usualAtOnce    = 32
)

// request is a line that Muster writes. Only cancel has no id, since it is not answered.
type request struct {
	ID     uint64 `json:"id,omitempty"`
	Verb   string `json:"verb"`
	Params any    `json:"params"`
}

// answer is a line that the program writes: one of Result and Error is in it.
type answer struct {
	ID     uint64          `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *failure        `json:"error"`
}

type failure struct {
	Code              app.Code `json:"code"`
	Message           string   `json:"message"`
	Hint              string   `json:"hint"`
	Reason            string   `json:"reason"`
	Field             string   `json:"field"`
	RetryAfterSeconds float64  `json:"retry_after_seconds"`
}

type describeParams struct {
	Protocol versions `json:"protocol"`
}

type versions struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

type openParams struct {
	Protocol int            `json:"protocol"`
	Account  string         `json:"account"`
	Settings map[string]any `json:"settings"`
	DataDir  string         `json:"data_dir,omitempty"`
}

type idParams struct {
	ID string `json:"id"`
}

type tagParams struct {
	Tags map[string]string `json:"tags"`
}

type adoptParams struct {
	ID   string     `json:"id"`
	Spec createSpec `json:"spec"`
}

type checkParams struct {
	Machines []family.MachineNeed `json:"machines"`
	Each     bool                 `json:"each,omitempty"`
}

type cancelParams struct {
	Request uint64 `json:"request"`
}

// createSpec is family.MachineSpec on the line.
type createSpec struct {
	Intent        string             `json:"intent"`
	Hostname      string             `json:"hostname"`
	Flavor        template.Flavor    `json:"flavor"`
	Image         template.Image     `json:"image"`
	Tags          map[string]string  `json:"tags"`
	Zone          string             `json:"zone,omitempty"`
	HostKey       string             `json:"host_key,omitempty"`
	AuthorizedKey string             `json:"authorized_key,omitempty"`
	Firewall      *template.Firewall `json:"firewall,omitempty"`
}

func specLine(s family.MachineSpec) createSpec {
	return createSpec{Intent: s.Intent, Hostname: s.Hostname, Flavor: s.Flavor, Image: s.Image, Tags: s.Tags, Zone: s.Zone, HostKey: string(s.HostKey), AuthorizedKey: s.AuthorizedKey, Firewall: s.Firewall}
}

// machineLine is family.Machine on the line.
type machineLine struct {
	ID        string              `json:"id"`
	State     family.MachineState `json:"state"`
	Hostname  string              `json:"hostname"`
	Addresses map[string]string   `json:"addresses"`
	SSHUser   string              `json:"ssh_user"`
	SSHPort   int                 `json:"ssh_port"`
	Tags      map[string]string   `json:"tags"`
	HostKey   string              `json:"host_key"`
	OwnRoot   bool                `json:"own_root"`
	Note      string              `json:"note"`
	Zone      string              `json:"zone"`
	CreatedAt time.Time           `json:"created_at,omitzero"`
}

type machinesLine struct {
	Machines []machineLine `json:"machines"`
}

type findingsLine struct {
	Findings []family.Finding `json:"findings"`
}

type thingsLine struct {
	Things []family.SharedThing `json:"things"`
}
