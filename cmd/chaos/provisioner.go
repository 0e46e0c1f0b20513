//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// addProvisioners lets hosts of workers of their own carry out the steps, one for each server, with a network in between.
// The first has Redis too, the second asks its server for everything.
func (y *system) addProvisioners(s setup) error {
	token := sync.OnceValues(func() (string, error) { return y.provisionerToken(s) })
	for i, server := range y.servers {
		n, err := newProxy(server.address)
		if err != nil {
			return err
		}
		y.uplinks = append(y.uplinks, n)
		env := s.env
		if i == 0 {
			redis, err := y.addRedis(s)
			if err != nil {
				return err
			}
			env = append(env[:len(env):len(env)], "REDIS_URL="+redis)
		}
		name := "provisioner" + strconv.Itoa(i+1)
		p := &process{name: name, env: env, log: filepath.Join(s.dir, name+".log"), died: s.died,
			argv: []string{s.binary, "provisioner", "--server", "http://" + n.address(), "--name", name, "--slots", "8", "--drain", "10s",
				"--data", filepath.Join(s.dir, "data-"+name)}}
		p.before = func() error {
			t, err := token()
			if err == nil && len(p.env) == len(env) {
				p.env = append(p.env[:len(p.env):len(p.env)], "MUSTER_PROVISIONER_TOKEN="+t)
			}
			return err
		}
		p.ready = func(context.Context) error { return nil } // its tenant is known from the servers' answers
		y.provisioners = append(y.provisioners, p)
	}
	return nil
}

// provisionerToken asks the first server for a token with which provisioners register.
func (y *system) provisionerToken(s setup) (string, error) {
	cmd := exec.Command(s.binary, "provisioner", "token", "create", "chaos", "--all-tenants", "--data", y.clients[0], "--format", "json")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("a token for provisioners: %w: %s", err, out)
	}
	var answer struct{ Token string }
	if err := json.Unmarshal(out, &answer); err != nil || answer.Token == "" {
		return "", fmt.Errorf("a token for provisioners: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return answer.Token, nil
}
