package fake

import (
	"maps"
	"slices"
)

// zoneFor returns the zone that a machine comes into. One that was left to the cloud comes into the first by name of the zones with limits that has room, so that
// limits hold for it as well; where no zone has one, or machines without a zone have a limit of their own, it is in none.
func (c *Cloud) zoneFor(zone string) (string, error) {
	if _, limited := c.room[""]; zone != "" || limited || len(c.room) == 0 {
		return zone, c.admit(zone)
	}
	var full error
	for _, z := range slices.Sorted(maps.Keys(c.room)) {
		err := c.admit(z)
		if err == nil {
			return z, nil
		}
		full = err
	}
	return "", full
}
