package label

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/humanize"
)

// Rules are what a template says of labels of its clusters.
type Rules struct {
	// Defaults are labels of clusters that say nothing else.
	Defaults Labels `json:"defaults,omitempty"`
	// Required are the keys that every cluster needs, each with a sentence for those who lack it, which may be "".
	Required map[string]string `json:"required,omitempty"`
}

// maxHint is how long a sentence about a required label may be.
const maxHint = 200

// Check refuses rules that no cluster could keep.
func (r *Rules) Check() error {
	if r == nil {
		return nil
	}
	if len(r.Required) > MaxLabels {
		return invalid("labels", fmt.Sprintf("At most %d are allowed.", MaxLabels), "Too many required labels: %d.", len(r.Required))
	}
	for _, key := range slices.Sorted(maps.Keys(r.Required)) {
		if err := CheckKey(key); err != nil {
			return err
		}
		if len(r.Required[key]) > maxHint {
			return invalid("labels", fmt.Sprintf("Shorten it to %d characters.", maxHint), "The text about label %q is too long.", key)
		}
	}
	return Check(r.Defaults)
}

// Fill adds the defaults for what the labels don't say. Neither is changed.
func (r *Rules) Fill(labels Labels) Labels {
	if r == nil || len(r.Defaults) == 0 {
		return labels
	}
	out := maps.Clone(r.Defaults)
	maps.Copy(out, labels)
	return out
}

// Missing refuses labels that lack a required one. The error names all that are missing, and how to add them.
func (r *Rules) Missing(labels Labels) error {
	if r == nil {
		return nil
	}
	var keys, hints []string
	for _, key := range slices.Sorted(maps.Keys(r.Required)) {
		if labels[key] != "" {
			continue
		}
		keys = append(keys, key)
		if hint := strings.TrimSpace(r.Required[key]); hint != "" {
			hints = append(hints, hint)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	noun := "label"
	if len(keys) > 1 {
		noun = "labels"
	}
	e := app.Errorf(app.EInvalid, "This template requires the %s %s.", noun, humanize.And(keys))
	e.Reason, e.Field = "label_required", "labels"
	e.Hint = strings.Join(append([]string{"Add " + humanize.And(valued(keys)) + "."}, hints...), " ")
	return e
}

func valued(keys []string) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = key + "=VALUE"
	}
	return out
}

// Complete fills in a template's defaults, and refuses what the cluster couldn't have.
func (r *Rules) Complete(description string, labels Labels) (Labels, error) {
	if err := CheckDescription(description); err != nil {
		return nil, err
	}
	labels = r.Fill(labels)
	if err := Check(labels); err != nil {
		return nil, err
	}
	return labels, r.Missing(labels)
}
