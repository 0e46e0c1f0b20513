package volume

import "fmt"

// CheckZones refuses kept volumes that no node could have: a machine gets only volumes of its own zone. Zone is the one
// that the request asks for, "" for any.
func CheckZones(claims []Claim, zone string) error {
	of := map[string]Claim{}
	for _, c := range claims {
		if c.Zone == "" {
			continue
		}
		if zone != "" && c.Zone != zone {
			return hinted(fmt.Sprintf("Leave out the zone or choose %s, or use another volume.", c.Zone),
				errUse("Volume %s is in zone %s, and the cluster would be in %s.", c.Volume, c.Zone, zone))
		}
		if o, has := of[c.Node]; has && o.Zone != c.Zone {
			return hinted("Use volumes of one zone for each node.", errUse("Node %s would have volumes of two zones: %s is in %s, and %s in %s.",
				c.Node, o.Volume, o.Zone, c.Volume, c.Zone))
		}
		of[c.Node] = c
	}
	return nil
}

// ZoneOf returns the zone that a node has to be in for the kept volumes that it gets; "" for any.
func ZoneOf(claims []Claim, node string) string {
	for _, c := range claims {
		if c.Node == node && c.Zone != "" {
			return c.Zone
		}
	}
	return ""
}
