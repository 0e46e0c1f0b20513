//go:build real

package main

import (
	"testing"

	"muster/cmd/muster/doctor"
	"muster/cmd/muster/server"
)

// A Redis as a package starts it: no log of writes, and no limit of memory.
func TestRealDoctorChecksRedis(t *testing.T) {
	url, _ := realRedis(t)
	d := &doctor.Doctor{Config: server.Config{RedisURL: url}}
	got := d.Redis(t.Context())
	for _, c := range got {
		if c.State == doctor.CheckFail {
			t.Errorf("%+v", c)
		}
	}
	if len(got) == 0 {
		t.Error("nothing was said")
	}
}
