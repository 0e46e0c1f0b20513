package portal

import (
	"muster/app/observe"
	"muster/portal/site"
)

func newStreams() *site.Streams {
	return &site.Streams{Meter: observe.MeterOf(nil), Open: map[string]int{}}
}
