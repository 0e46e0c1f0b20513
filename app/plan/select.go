package plan

import (
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/humanize"
)

// MostSelectors bounds how many selectors may be given.
const MostSelectors = 1000

// selectKeys are what nodes can be chosen by.
var selectKeys = []struct {
	name string
	of   func(n app.Node) []string
}{
	{"node", func(n app.Node) []string { return []string{n.Name} }},
	{"service", func(n app.Node) []string { return n.Services }},
	{"hardware", func(n app.Node) []string { return []string{n.Hardware} }},
	{"image", func(n app.Node) []string { return []string{n.Image} }},
	{"zone", func(n app.Node) []string { return []string{n.Zone} }},
}

// Select returns the names of the nodes that selectors such as service=nginx choose, in the order of nodes. Of one key, any value will do;
// of several keys, all must fit. EInvalid where a selector chooses nothing.
func Select(nodes []app.Node, on []string) ([]string, error) {
	if len(on) > MostSelectors {
		return nil, wrongSelector(fmt.Sprintf("There are more than %d selectors.", MostSelectors), "Choose by service instead.")
	}
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(n app.Node) bool { return n.Status == app.NodeDeleted || n.Leaving })
	wanted, all := map[string]map[string]bool{}, map[string][]string{}
	for _, text := range on {
		key, value, _ := strings.Cut(text, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		known, err := all[key], error(nil)
		if known == nil {
			known, err = selectValues(nodes, key)
			all[key] = known
		}
		_, has := slices.BinarySearch(known, value)
		switch {
		case err != nil:
			return nil, err
		case !has:
			return nil, wrongSelector(fmt.Sprintf("No node has %s %.80q.", key, value), humanize.DidYouMean(value, known, "Choose from "+humanize.Or(few(known))+"."))
		}
		if wanted[key] == nil {
			wanted[key] = map[string]bool{}
		}
		wanted[key][value] = true
	}
	var chosen []string
	for _, n := range nodes {
		if selected(n, wanted) {
			chosen = append(chosen, n.Name)
		}
	}
	if len(chosen) == 0 {
		return nil, wrongSelector("No node fits all selectors.", "Different keys narrow the choice down; repeat a key to choose more nodes.")
	}
	return chosen, nil
}

func selected(n app.Node, wanted map[string]map[string]bool) bool {
	for _, k := range selectKeys {
		values := wanted[k.name]
		if len(values) > 0 && !slices.ContainsFunc(k.of(n), func(v string) bool { return values[v] }) {
			return false
		}
	}
	return true
}

// selectValues returns the values that nodes have of a key, sorted.
func selectValues(nodes []app.Node, key string) ([]string, error) {
	names := make([]string, len(selectKeys))
	for i, k := range selectKeys {
		if names[i] = k.name; k.name != key {
			continue
		}
		var all []string
		for _, n := range nodes {
			all = append(all, k.of(n)...)
		}
		slices.Sort(all)
		return slices.DeleteFunc(slices.Compact(all), func(v string) bool { return v == "" }), nil
	}
	return nil, wrongSelector(fmt.Sprintf("Nodes can't be chosen by %.40q.", key), "Use KEY=VALUE, with a key of "+humanize.Or(names)+", such as service=nginx.")
}

// few returns the first of many names.
func few(names []string) []string {
	const most = 10
	if len(names) > most {
		return append(slices.Clone(names[:most]), "others")
	}
	return names
}

func wrongSelector(message, hint string) error {
	return &app.Error{Code: app.EInvalid, Field: "on", Message: message, Hint: hint}
}

// CheckSelector says what is wrong with how a selector is written; "" where nothing is.
func CheckSelector(text string) (message, hint string) {
	key, value, _ := strings.Cut(text, "=")
	if _, err := selectValues(nil, strings.TrimSpace(key)); err != nil {
		e := app.AsError(err)
		return e.Message, e.Hint
	}
	if strings.TrimSpace(value) == "" {
		return "A value is missing.", "Use KEY=VALUE, such as service=nginx."
	}
	return "", ""
}
