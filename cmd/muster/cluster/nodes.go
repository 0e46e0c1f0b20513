package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/cmd/muster/cli"
)

// nodeTable lists nodes, with zones only if there are any.
func nodeTable(nodes []app.Node) *cli.Table {
	zoned := slices.ContainsFunc(nodes, func(n app.Node) bool { return n.Zone != "" })
	heads := []string{"NODE", "HOST", "HARDWARE", "IMAGE", "ZONE", "STATUS", "ADDRESS", "SERVICES"}
	line := func(cells ...string) []string {
		if !zoned {
			return slices.Delete(cells, 4, 5)
		}
		return cells
	}
	t := cli.NewTable(line(heads...)...)
	for _, n := range nodes {
		t.Add(line(n.Name, n.Hostname, hardwareOf(n), n.Image, cmp.Or(n.Zone, "-"), n.State(), cmp.Or(n.Address(app.AddressAccess), "-"),
			strings.Join(servicesOf(n), ", "))...)
	}
	return t
}

// servicesOf returns a node's services, and marks stopped ones.
func servicesOf(n app.Node) []string {
	services := slices.Clone(n.Services)
	for i, s := range services {
		if slices.Contains(n.Stopped, s) {
			services[i] += " (stopped)"
		}
	}
	return services
}

// hardwareOf returns a node's hardware, and the one it replaces.
func hardwareOf(n app.Node) string {
	if n.InsteadOf != "" {
		return fmt.Sprintf("%s (for %s)", n.Hardware, n.InsteadOf)
	}
	return n.Hardware
}
