package queue

import "testing"

func TestRedisInfoIsRead(t *testing.T) {
	var f RedisInfo
	f.read("# Server\r\nredis_version:7.0.15\r\nused_memory:1048576\r\nmaxmemory:2097152\r\nmaxmemory_policy:allkeys-lru\r\naof_enabled:1\r\nrole:slave\r\n")
	if want := (RedisInfo{Version: "7.0.15", Major: 7, Policy: "allkeys-lru", MaxMemory: 2097152, Used: 1048576, AOF: true, Replica: true}); f != want {
		t.Errorf("%+v, want %+v", f, want)
	}
}
