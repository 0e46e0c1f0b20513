//go:build real

package main

import "testing"

// A Redis as a package starts it: no log of writes, and no limit of memory.
func TestRealRedisIsLookedAtByDoctor(t *testing.T) {
	url, _ := realRedis(t)
	d := &doctor{config: serverConfig{RedisURL: url}}
	got := d.redis(t.Context())
	for _, c := range got {
		if c.State == checkFail {
			t.Errorf("%+v", c)
		}
	}
	if len(got) == 0 {
		t.Error("nothing was said")
	}
}
