package app

import "slices"

// IsStopped tells whether somebody has stopped a service on a node, and nobody has started it since.
func (d Definition) IsStopped(node, service string) bool {
	return slices.Contains(d.Stopped[node], service)
}

// keepStopped notes which services are stopped from now on, and lets those that were stopped before stay so: they are configured
// anew where that is needed, and neither reloaded nor looked at.
func (d *amended) keepStopped() {
	stopped := map[string][]string{}
	for i := range d.nodes {
		n := &d.nodes[i]
		if !n.stays() {
			continue // what is made anew runs
		}
		for _, s := range n.Services {
			switch was := d.was.IsStopped(n.Name, s); n.Work[s] {
			case WorkStop, WorkStopConfigure:
				stopped[n.Name] = append(stopped[n.Name], s)
			case WorkStart, WorkRestart, WorkUpgrade:
			case WorkReload:
				if was {
					n.Work[s] = WorkConfigure
					stopped[n.Name] = append(stopped[n.Name], s)
				}
			default:
				if was {
					stopped[n.Name] = append(stopped[n.Name], s)
				}
			}
		}
	}
	if len(stopped) == 0 {
		stopped = nil
	}
	d.definition.Stopped = stopped
}
