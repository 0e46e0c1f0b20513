package app

import (
	"fmt"
	"slices"
	"strings"
)

// LostNodes gives the nodes whose machines a cluster is said to have lost.
func LostNodes(c Cluster, nodes []Node) (lost []string) {
	for _, n := range nodes {
		if n.Lost() {
			lost = append(lost, n.Name)
		}
	}
	list, is := strings.CutPrefix(c.Message, LostMachines)
	if len(lost) > 0 || !is || c.Status != ClusterFailed {
		return lost
	}
	list, _, _ = strings.Cut(list, ".")
	for _, name := range strings.Split(list, ", ") {
		if slices.ContainsFunc(nodes, func(n Node) bool { return n.Name == name }) {
			lost = append(lost, name)
		}
	}
	return lost
}

func (v ValueChange) Words() string {
	switch {
	case v.Before == "" && v.After == "":
		return v.Path + " is another one in the catalog."
	case v.Before == "":
		return fmt.Sprintf("%s is new in the catalog: %s.", v.Path, CutText(v.After, 80))
	case v.After == "":
		return fmt.Sprintf("%s is not in the catalog any more; it was %s.", v.Path, CutText(v.Before, 80))
	}
	return fmt.Sprintf("%s is %s, and %s in the catalog.", v.Path, CutText(v.Before, 80), CutText(v.After, 80))
}
