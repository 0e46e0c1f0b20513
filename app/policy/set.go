package policy

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/label"
)

// Set is what a policy changes in a request: an expression for each field, in CEL. A field without one stays as it is.
type Set struct {
	// Size returns the number of nodes.
	Size string `json:"size,omitempty"`
	// Hardware and Provider return a name, or a list of those that are allowed: what is among them stays, anything else becomes the first.
	Hardware string `json:"hardware,omitempty"`
	Provider string `json:"provider,omitempty"`
	// Lease returns a duration. To shorten leases only, Policy.LeaseCap is simpler.
	Lease string `json:"lease,omitempty"`
	// Labels returns labels to add to those of the cluster, or to replace some of them.
	Labels string `json:"labels,omitempty"`
}

// SetField is an expression with its name.
type SetField struct {
	Field Field
	Text  *string
}

// Fields are all expressions, in the order in which they are evaluated.
func (s *Set) Fields() []SetField {
	if s == nil {
		return nil
	}
	return []SetField{{FieldSize, &s.Size}, {FieldHardware, &s.Hardware}, {FieldProvider, &s.Provider}, {FieldLease, &s.Lease},
		{FieldLabels, &s.Labels}}
}

// None reports whether nothing is set.
func (s *Set) None() bool { return s == nil || *s == Set{} }

// layouts reports whether something is set that a layout depends on.
func (s *Set) layouts() bool {
	return s != nil && (s.Size != "" || s.Hardware != "" || s.Provider != "")
}

// check trims the expressions and refuses those that are too long.
func (s *Set) check() error {
	for _, f := range s.Fields() {
		if *f.Text = strings.TrimSpace(*f.Text); len(*f.Text) > MaxExpression {
			return &app.Error{Code: app.EInvalid, Field: "set." + string(f.Field), Message: "An expression must be at most 2,000 bytes.",
				Hint: "Split it into two policies."}
		}
	}
	return nil
}

// Values are what the expressions of a Set returned, or what a webhook answered. Zero stays as it is.
type Values struct {
	Size     int
	Hardware []string
	Provider []string
	Lease    time.Duration
	Labels   map[string]string // to add or replace
}

// The limits of values, whatever returned them.
const (
	MaxExpression = 2000 // bytes
	maxChoices    = 100
	maxChoice     = 200 // bytes
)

// Check refuses values that no request could have.
func (v Values) Check() error {
	wrong := func(field Field, format string, args ...any) error {
		return &app.Error{Code: app.EInvalid, Field: "set." + string(field), Message: fmt.Sprintf(format, args...)}
	}
	if v.Size < 0 || v.Size > 1_000_000 {
		return wrong(FieldSize, "the size must be positive, not %d", v.Size)
	}
	if v.Lease < 0 {
		return wrong(FieldLease, "the lease must be positive")
	}
	if err := label.Check(v.Labels); err != nil {
		return wrong(FieldLabels, "%s", app.AsError(err).ForPeople())
	}
	for field, names := range map[Field][]string{FieldHardware: v.Hardware, FieldProvider: v.Provider} {
		if len(names) > maxChoices {
			return wrong(field, "%s allows more than %d names", field, maxChoices)
		}
		for _, n := range names {
			if n == "" || len(n) > maxChoice {
				return wrong(field, "%s must be names of 1 to %d bytes", field, maxChoice)
			}
		}
	}
	return nil
}
