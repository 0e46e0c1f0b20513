package request

import "slices"

// Leaders maps each of some services to another one of its block: services that must coexist make a block, whose leader is
// the one that is mapped to itself.
type Leaders map[string]string

// Find returns the leader of a service's block.
func (l Leaders) Find(name string) string {
	for l[name] != name {
		name = l[name]
	}
	return name
}

// Join makes those services of a group that are mapped one block, led by the smallest name.
func (l Leaders) Join(group []string) {
	top := ""
	for _, name := range group {
		if l[name] == "" {
			continue
		}
		at := l.Find(name)
		switch {
		case top == "":
			top = at
		case at < top:
			l[top] = at
			top = at
		case at > top:
			l[at] = top
		}
	}
}

// ExclusiveGroup is services of which every two exclude each other; each group has another number.
type ExclusiveGroup struct {
	Number   int
	Services []string
}

// ExclusiveGroups finds three or more services of which the pairs keep apart every two, and none from any other. The keys
// are the pairs.
func ExclusiveGroups(pairs [][]string) map[string]ExclusiveGroup {
	near := map[string][]string{} // with the service itself
	var all []string
	for _, pair := range pairs {
		for i, s := range pair {
			if near[s] == nil {
				near[s] = []string{s}
				all = append(all, s)
			}
			near[s] = append(near[s], pair[1-i])
		}
	}
	for s := range near {
		near[s] = Distinct(near[s])
	}
	out := map[string]ExclusiveGroup{}
	for i, s := range all {
		group := near[s]
		if len(group) < 3 || slices.ContainsFunc(group, func(o string) bool { return !slices.Equal(near[o], group) }) {
			continue
		}
		for j, a := range group {
			for _, b := range group[j+1:] {
				if _, known := out[a+" "+b]; !known {
					out[a+" "+b] = ExclusiveGroup{i, group}
				}
			}
		}
	}
	return out
}
