package solver

import "slices"

// leaders maps each of some services to another one of its block: services that must coexist make a block, whose leader is
// the one that is mapped to itself.
type leaders map[string]string

// find gives the leader of a service's block.
func (l leaders) find(name string) string {
	for l[name] != name {
		name = l[name]
	}
	return name
}

// join makes those services of a group that are mapped one block, led by the smallest name.
func (l leaders) join(group []string) {
	top := ""
	for _, name := range group {
		if l[name] == "" {
			continue
		}
		at := l.find(name)
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

// exclusiveGroup is services of which every two exclude each other; each group has another number.
type exclusiveGroup struct {
	number   int
	services []string
}

// exclusiveGroups finds three or more services of which the pairs keep apart every two, and none from any other. The keys
// are the pairs.
func exclusiveGroups(pairs [][]string) map[string]exclusiveGroup {
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
		near[s] = distinct(near[s])
	}
	out := map[string]exclusiveGroup{}
	for i, s := range all {
		group := near[s]
		if len(group) < 3 || slices.ContainsFunc(group, func(o string) bool { return !slices.Equal(near[o], group) }) {
			continue
		}
		for j, a := range group {
			for _, b := range group[j+1:] {
				if _, known := out[a+" "+b]; !known {
					out[a+" "+b] = exclusiveGroup{i, group}
				}
			}
		}
	}
	return out
}
