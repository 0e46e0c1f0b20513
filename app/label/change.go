package label

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/app"
)

// Change is what to do with a cluster's description and labels. What it doesn't name stays.
type Change struct {
	Description *string  `json:"description,omitempty"`
	Set         Labels   `json:"set,omitempty"`
	Remove      []string `json:"remove,omitempty"`
	// Replace removes all labels that aren't set.
	Replace bool `json:"replace,omitempty"`
}

// Check refuses a change that is wrong whatever it is made to.
func (c Change) Check() error {
	if len(c.Set) > maxChange || len(c.Remove) > maxChange {
		return invalid("labels", fmt.Sprintf("Change at most %d labels.", maxChange), "Too many labels at once.")
	}
	if c.Description != nil {
		if err := CheckDescription(*c.Description); err != nil {
			return err
		}
	}
	for _, key := range c.Remove {
		if _, both := c.Set[key]; both {
			return invalid("labels", "Set it or remove it.", "Label %.70q is both set and removed.", key)
		}
	}
	if c.Description == nil && len(c.Set) == 0 && len(c.Remove) == 0 && !c.Replace {
		return invalid("labels", "Name a label to set or remove, or a description.", "Nothing to change.")
	}
	return nil
}

// Apply changes a cluster, by the rules of its template, and says what changed. It is EInvalid where the result breaks a rule; a label that was
// missing before the change may stay so, so that older clusters can be labelled one by one.
func (c Change) Apply(to *app.Cluster, rules *Rules) (said []string, err error) {
	before := to.Labels
	after := maps.Clone(before)
	if after == nil || c.Replace {
		after = Labels{}
	}
	for _, key := range c.Remove {
		delete(after, key)
	}
	maps.Copy(after, c.Set)
	if err := Check(after); err != nil {
		return nil, err
	}
	if err := rules.Missing(after); err != nil && rules.Missing(before) == nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if was, had := before[key]; !had || was != after[key] {
			said = append(said, key+"="+after[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, has := after[key]; !has {
			said = append(said, key+" removed")
		}
	}
	to.Labels = after
	if len(after) == 0 {
		to.Labels = nil
	}
	if c.Description != nil && strings.TrimSpace(*c.Description) != to.Description {
		to.Description = strings.TrimSpace(*c.Description)
		said = append(said, "description")
	}
	return said, nil
}
