package operation

import "muster/app/plan"

// keepStopped notes which services are stopped from now on, and lets those that were stopped before stay so: they are configured
// again where that is needed, and neither reloaded nor looked at.
func (d *updateBuilder) keepStopped() {
	stopped := map[string][]string{}
	for i := range d.nodes {
		n := &d.nodes[i]
		if !n.Stays() {
			continue // what is made again runs
		}
		for _, s := range n.Services {
			switch was := d.was.IsStopped(n.Name, s); n.Work[s] {
			case plan.WorkStop, plan.WorkStopConfigure:
				stopped[n.Name] = append(stopped[n.Name], s)
			case plan.WorkStart, plan.WorkRestart, plan.WorkUpgrade:
			case plan.WorkReload:
				if was {
					n.Work[s] = plan.WorkConfigure
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
