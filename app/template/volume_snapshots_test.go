package template

import (
	"strings"
	"testing"
)

func TestSchedulesOfSnapshotsHaveBounds(t *testing.T) {
	for _, c := range []struct {
		s     Snapshots
		wrong string
	}{
		{Snapshots{}, ""},
		{Snapshots{Every: "24h", Keep: 7}, ""},
		{Snapshots{Every: "24h", KeepFor: "30d"}, ""},
		{Snapshots{Every: "0 2 * * *", Keep: 7}, ""},
		{Snapshots{Every: "0 * * * *", Keep: 100}, ""},
		{Snapshots{Every: "0 2 * * 1", KeepFor: "365d"}, ""},
		{Snapshots{Every: "30m", Keep: 7}, "can't be made every"},
		{Snapshots{Every: "100d", Keep: 7}, "can't be made every"},
		{Snapshots{Every: "*/10 * * * *", Keep: 7}, "as often as"},
		{Snapshots{Every: "0,30 2 * * *", Keep: 7}, "as often as"},
		{Snapshots{Every: "0 2 * *", Keep: 7}, "0 2 * *"},
		{Snapshots{Every: "1h", KeepFor: "5d"}, "more than 100"},
		{Snapshots{Every: "24h", KeepFor: "3650d"}, "more than 100"},
		{Snapshots{Every: "0 * * * *", KeepFor: "30d"}, "more than 100"},
		{Snapshots{Every: "24h"}, "either keep or keep_for"},
		{Snapshots{Every: "24h", Keep: 101}, "either keep or keep_for"},
		{Snapshots{Every: "24h", Keep: 7, KeepFor: "30d"}, "either keep or keep_for"},
		{Snapshots{Keep: 7}, "no interval"},
	} {
		err := c.s.Check()
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%+v: %v, want %q", c.s, err, c.wrong)
		}
	}
}
