package template

import (
	"fmt"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// KeepTime says for how long a failed machine is kept for inspection where it would be deleted: a length such as "4h", or "off" for not at all.
// "" leaves it to what the cluster's template says.
type KeepTime string

// KeepOff has failed machines deleted, whatever the template says.
const KeepOff KeepTime = "off"

// For how long a machine can be kept: at first, and at most with extensions.
const (
	LeastKeepTime   = 15 * time.Minute
	MostKeepTime    = 72 * time.Hour
	DefaultKeepTime = KeepTime("4h")
)

// Check refuses what is neither a length within the bounds nor off: EInvalid, field keep_failed.
func (k KeepTime) Check() error {
	if k == "" || k == KeepOff {
		return nil
	}
	e := &app.Error{Code: app.EInvalid, Field: "keep_failed", Message: fmt.Sprintf("Invalid time to keep failed machines: %.20q.", string(k)),
		Hint: fmt.Sprintf("Use %s to %s, such as 4h, or off.", humanize.Duration(LeastKeepTime), humanize.Duration(MostKeepTime))}
	if len(k) > 20 {
		return e
	}
	if length, err := ParseLength(string(k)); err != nil || length < LeastKeepTime || length > MostKeepTime {
		return e
	}
	return nil
}

// Over is what holds: what was asked for, or else what the template says.
func (k KeepTime) Over(template KeepTime) KeepTime {
	if k == "" {
		return template
	}
	return k
}

// For is the length; 0 where nothing is kept, and for what Check refuses.
func (k KeepTime) For() time.Duration {
	if k == "" || k == KeepOff || k.Check() != nil {
		return 0
	}
	length, _ := ParseLength(string(k))
	return length
}

// Kept is the choice as it is kept with a cluster: off is the same as nothing.
func (k KeepTime) Kept() KeepTime {
	if k.For() == 0 {
		return ""
	}
	return k
}

// Words say it in a form: "4 h", or "Off".
func (k KeepTime) Words() string {
	if length := k.For(); length > 0 {
		return humanize.Duration(length)
	}
	return "off"
}

// KeepTimeOf writes a length in whole minutes.
func KeepTimeOf(d time.Duration) KeepTime {
	if d <= 0 {
		return KeepOff
	}
	if d%time.Hour == 0 {
		return KeepTime(fmt.Sprintf("%dh", d/time.Hour))
	}
	return KeepTime(fmt.Sprintf("%dm", d/time.Minute))
}
