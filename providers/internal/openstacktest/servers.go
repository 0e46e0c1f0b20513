package openstacktest

import (
	"fmt"
	"slices"
	"strings"
)

// Made is what a server was made of.
type Made struct {
	ID, Name, Zone, UserData, Status string
	Metadata                         map[string]string
	Drive                            bool
	Groups, Networks                 []string // by name
	Volumes                          []string // such as "30 GB ssd from debian-12"
}

// Servers returns all servers, sorted by name.
func (c *Cloud) Servers() []Made {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tick()
	out := []Made{}
	for _, s := range c.servers {
		m := Made{ID: s.id, Name: s.name, Zone: s.zone, UserData: s.userData, Status: s.status, Metadata: s.metadata, Drive: s.drive}
		for _, id := range s.groups {
			m.Groups = append(m.Groups, c.groups[id].name)
		}
		for _, id := range s.networks {
			m.Networks = append(m.Networks, c.networkOf(id).Name)
		}
		for _, d := range s.disks {
			if d.Destination == "volume" {
				from := "nothing"
				if image := c.imageOf(d.UUID); image != nil {
					from = image.Name
				}
				m.Volumes = append(m.Volumes, strings.Join(strings.Fields(fmt.Sprintf("%d GB %s from %s", d.Size, d.Type, from)), " "))
			}
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Made) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Lose has a server go, as when someone deletes it by other means.
func (c *Cloud) Lose(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tick()
	for port, p := range c.ports {
		if p.server == id {
			c.unplug(port)
		}
	}
	if s := c.servers[id]; s != nil {
		for i, v := range s.volumes {
			if s.ends(i) {
				delete(c.volumes, v)
			} else if one := c.volumes[v]; one != nil {
				one.server, one.device, one.status = "", "", "available"
			}
		}
	}
	delete(c.servers, id)
}

// Break has a server that runs fail, as when its host does.
func (c *Cloud) Break(id, fault string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.servers[id]
	s.status, s.task, s.fault = "ERROR", "", fault
}
