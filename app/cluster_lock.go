package app

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Lock keeps everyone but admins from a cluster or a node. What Muster does by itself continues.
type Lock struct {
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	Reason string    `json:"reason"`
}

// Words say who has locked it, and why.
func (l Lock) Words() string { return "Locked " + l.by() }

func (l Lock) by() string {
	return "by " + l.By + " since " + Moment(l.At) + ": " + strings.TrimSuffix(l.Reason, ".") + "."
}

// Kept is the lock as a store keeps it: "" for none.
func (l *Lock) Kept() string {
	if l == nil {
		return ""
	}
	text, _ := json.Marshal(l)
	return string(text)
}

// KeptLock reads what Kept has written.
func KeptLock(text string) (*Lock, error) {
	if text == "" {
		return nil, nil
	}
	var l Lock
	return &l, json.Unmarshal([]byte(text), &l)
}

// Locked is the reason of errors about locks.
const Locked = "locked"

// CheckLock refuses a locked cluster to all but admins and Muster itself, which acts as one.
func (c Cluster) CheckLock(a Actor) error {
	if c.Lock == nil || a.Role.Rules() {
		return nil
	}
	return &Error{Code: EForbidden, Reason: Locked, Message: fmt.Sprintf("Cluster %q is locked %s", c.Name, c.Lock.by()), Hint: "Ask an admin to unlock it."}
}

// CheckLock refuses a locked node of a cluster in the same way.
func (n Node) CheckLock(a Actor, c Cluster) error {
	if n.Lock == nil || a.Role.Rules() {
		return nil
	}
	return &Error{Code: EForbidden, Reason: Locked, Message: fmt.Sprintf("Node %s of cluster %q is locked %s", n.Name, c.Name, n.Lock.by()),
		Hint: "Ask an admin to unlock it."}
}
