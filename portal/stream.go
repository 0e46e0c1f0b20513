package portal

import (
	"muster/app"
	"muster/portal/site"
)

func newStreams() *site.Streams {
	return &site.Streams{Meter: app.MeterOf(nil), Open: map[string]int{}}
}
