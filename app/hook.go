package app

import (
	"strings"
	"time"
)

// HookFormat says what a hook's receiver understands.
type HookFormat string

// The formats.
const (
	HookMuster HookFormat = "muster" // JSON with everything about the notice
	HookSlack  HookFormat = "slack"  // {"text": …}, as incoming webhooks of Slack, Mattermost and others take it
	HookMail   HookFormat = "mail"   // {"to": …, "subject": …, "text": …}, for gateways that send mail
	HookCoopr  HookFormat = "coopr"  // {"cluster": …, "job": …, "nodes": …}, as Coopr's callback posted it; of lifecycle hooks only
)

// HookState is how a hook stands.
type HookState string

// The states.
const (
	HookActive  HookState = "active"
	HookOff     HookState = "off"     // a person switched it off
	HookStopped HookState = "stopped" // Muster stopped it by itself; Why says why
)

// Hook is an address that notices of a tenant are sent to. Neither its secret nor the whole of its URL, which for many
// receivers is a secret too, can be read again.
type Hook struct {
	ID     int64  `json:"-"`
	Tenant string `json:"-"`
	Name   string `json:"name"`
	// URL is where it leads, without what may be secret; see RedactURL.
	URL    string       `json:"url"`
	Kinds  []NoticeKind `json:"kinds,omitempty"` // sorted; none: all
	Format HookFormat   `json:"format"`
	// Of a lifecycle hook, which is told of operations and no notices; see OperationHook.
	When       HookPhase       `json:"when,omitempty"`
	Operations []OperationKind `json:"operations,omitempty"` // sorted; none: all
	Timeout    time.Duration   `json:"timeout,omitempty"`
	OnTimeout  HookChoice      `json:"on_timeout,omitempty"`
	Script     string          `json:"script,omitempty"` // instead of an address: it is run on nodes
	Services   []string        `json:"services,omitempty"`

	To        string    `json:"to,omitempty"` // of the format mail: the addresses, with commas between
	State     HookState `json:"state"`
	Why       string    `json:"why,omitempty"` // of a stopped one
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	ChangedAt time.Time `json:"changed_at"`
	SecretAt  time.Time `json:"secret_at"`          // when its secret was set
	OldUntil  time.Time `json:"old_until,omitzero"` // until when the secret before signs too
	Failures  int       `json:"failures"`           // deliveries in a row that failed
	Waiting   int       `json:"waiting"`            // deliveries that are still to be made
	Last      *HookLast `json:"last,omitempty"`     // what became of the latest attempt; nil: there was none yet
	NextAt    time.Time `json:"next_at,omitzero"`   // when the delivery is tried again that the others wait behind
}

// HookLast is the latest attempt of any delivery of a hook.
type HookLast struct {
	Delivery int64         `json:"delivery"`
	At       time.Time     `json:"at"`
	Took     time.Duration `json:"took"`
	Status   int           `json:"status,omitempty"` // 0: no answer
	Code     Code          `json:"code,omitempty"`   // "": it was taken
	Error    string        `json:"error,omitempty"`
}

// HookName tells whether a name can stand in an address without being written otherwise.
func HookName(s string) bool {
	if len(s) < 1 || len(s) > 63 {
		return false
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return false
		}
	}
	return true
}

func Joined[T ~string](list []T) string {
	var words []string
	for _, w := range list {
		words = append(words, string(w))
	}
	return strings.Join(words, ", ")
}
