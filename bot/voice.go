package bot

import (
	"time"
)

// voice formats money and times for one reader. The zero voice has no currency and uses UTC, which suits messages that people in many
// time zones read.
type voice struct {
	zone *time.Location
}

// maxZone limits the name of a time zone that is looked up.
const maxZone = 64

// to is the voice for one person.
func (v voice) to(p Person) voice {
	v.zone = nil
	if p.Zone != "" && len(p.Zone) <= maxZone {
		if at, err := time.LoadLocation(p.Zone); err == nil {
			v.zone = at
		}
	}
	return v
}

// moment is a time in the reader's zone, with the zone's name.
func (v voice) moment(t time.Time) string {
	zone := v.zone
	if zone == nil {
		zone = time.UTC
	}
	return t.In(zone).Format("2 Jan 2006 15:04 MST")
}
