//go:build real && linux

package main

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The same with a real Redis, all of whose traffic and keys are looked at.
func TestRealPlantedSecretsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	where, _ := realRedis(t)
	port := strings.TrimSuffix(where[strings.LastIndexByte(where, ':')+1:], "/0")
	traffic := &safeBuffer{}
	monitor := exec.Command("redis-cli", "-p", port, "MONITOR")
	monitor.Stdout = traffic
	if err := monitor.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = monitor.Process.Kill(); _ = monitor.Wait() })
	r := newPlantedRun(t, where)
	keys := func() {
		out, err := exec.Command("redis-cli", "-p", port, "--scan").Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range strings.Fields(string(out)) {
			r.look("Redis keys", k, []byte(k))
			dump, err := exec.Command("redis-cli", "-p", port, "DUMP", k).Output()
			if err != nil {
				t.Fatal(err)
			}
			r.look("Redis values", k, dump)
		}
	}
	r.run(keys)
	keys()
	for deadline := time.Now().Add(hangs); len(traffic.String()) < 1000 && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
	}
	if len(traffic.String()) < 1000 {
		t.Error("Redis had no traffic")
	}
	r.look("Redis traffic", "", []byte(traffic.String()))
	r.check()
}
