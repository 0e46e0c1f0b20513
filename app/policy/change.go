package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Field is a field of a request that policies can change.
type Field string

// The fields.
const (
	FieldSize     Field = "size"
	FieldHardware Field = "hardware"
	FieldProvider Field = "provider"
	FieldLease    Field = "lease"
	FieldLabels   Field = "labels"
)

// Change is what a policy, or a webhook, changed in a request. From and To are an int of the size, a time.Duration of the lease (0: no
// expiry), and a string of anything else ("": what the solver chooses). Of labels it's those that change, as "team=web, env=dev".
type Change struct {
	Policy string `json:"policy"`
	Field  Field  `json:"field"`
	From   any    `json:"from"`
	To     any    `json:"to"`
	Reason string `json:"reason,omitempty"`
}

// UnmarshalJSON reads a change; one without a field is of the lease, as all were once.
func (c *Change) UnmarshalJSON(b []byte) error {
	type plain Change
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode((*plain)(c)); err != nil {
		return err
	}
	if c.Field == "" {
		c.Field = FieldLease
	}
	for _, v := range []*any{&c.From, &c.To} {
		switch x := (*v).(type) {
		case json.Number:
			n, err := x.Int64()
			if err != nil {
				return fmt.Errorf("change of %.40s: %.40q isn't a whole number", c.Field, x.String())
			}
			if *v = int(n); c.Field == FieldLease {
				*v = time.Duration(n)
			}
		case string:
		default:
			return fmt.Errorf("change of %.40s: from and to are a number or a text", c.Field)
		}
	}
	return nil
}

// valueText is a value for people.
func (f Field) valueText(v any) string {
	switch x := v.(type) {
	case time.Duration:
		return LeaseText(x)
	case string:
		if x == "" && f == FieldLabels {
			return "none"
		}
		if x == "" {
			return "any"
		}
		return x
	}
	return fmt.Sprint(v)
}

// FromText and ToText are the values for people.
func (c Change) FromText() string { return c.Field.valueText(c.From) }
func (c Change) ToText() string   { return c.Field.valueText(c.To) }

// Text says what changed: "size 8 → 5".
func (c Change) Text() string { return fmt.Sprintf("%s %s → %s", c.Field, c.FromText(), c.ToText()) }

// Source says who changed it: "Policy small-dev" or "Webhook cmdb".
func (c Change) Source() string { return SourceText(c.Policy) }

// Sentence says all of it: "Policy small-dev: size 8 → 5. At most 5 nodes."
func (c Change) Sentence() string {
	return strings.TrimSpace(fmt.Sprintf("%s: %s. %s", c.Source(), c.Text(), c.Reason))
}

// webhookMark begins the name of a webhook where names of policies are: no policy has a space in its name.
const webhookMark = "webhook "

// WebhookSource is the name of a webhook among those of policies.
func WebhookSource(name string) string { return webhookMark + name }

// SourceText says what a name in a decision is of.
func SourceText(name string) string {
	if hook, ok := strings.CutPrefix(name, webhookMark); ok {
		return "Webhook " + hook
	}
	return "Policy " + name
}

// addChange adds a change to a list. What the same policy changed before becomes one change with it.
func addChange(list []Change, c Change) []Change {
	for i := range list {
		if list[i].Policy == c.Policy && list[i].Field == c.Field {
			list[i].To = c.To
			return list
		}
	}
	return append(list, c)
}
