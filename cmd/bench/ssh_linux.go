package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
	"muster/app"
	"muster/app/template"
)

// handshakes is how many connections may be opened at the same time, here and in the bare program.
const handshakes = 64

// chainOfFive is a catalog whose nodes run five scripts each, one after another; the fourth waits for a service on
// another node. More scripts may follow the five.
func chainOfFive(more int) *template.Catalog {
	c := eight()
	script := func() *template.ServiceAction {
		return &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": "true\n"}}
	}
	delete(c.Services, "front")
	c.Services["head"] = &template.Service{About: template.About{Name: "head"}, Actions: map[app.Action]*template.ServiceAction{app.ActionStart: script()}}
	c.Services["back"] = &template.Service{About: template.About{Name: "back"}, Runtime: template.Dependencies{Requires: []string{"head"}},
		Actions: map[app.Action]*template.ServiceAction{app.ActionInstall: script(), app.ActionConfigure: script(),
			app.ActionInitialize: script(), app.ActionStart: script()}}
	c.Services["side"] = &template.Service{About: template.About{Name: "side"}, Actions: map[app.Action]*template.ServiceAction{app.ActionInstall: script()}}
	t := c.Templates["web"]
	t.Defaults.Services = []string{"back", "head", "side"}
	for i := range more {
		name := fmt.Sprintf("side%d", i)
		c.Services[name] = &template.Service{About: template.About{Name: name}, Actions: map[app.Action]*template.ServiceAction{app.ActionInstall: script()}}
		t.Defaults.Services = append(t.Defaults.Services, name)
	}
	t.Constraints.Services = map[string]template.ServiceConstraint{"head": {Min: 1, MinSet: true, Max: 1}}
	return c
}

// overSSH measures the engine with real connections to the sshd of OpenSSH: five scripts a node, and more. It also returns how many "steps"
// that was, and "connections" of a node.
func overSSH(ctx context.Context, nodes, more int) (sample, error) {
	f, err := startFakeNodes(fakeOpenSSH)
	if err != nil {
		return nil, err
	}
	defer f.stop()
	cloud, err := f.cloud()
	if err != nil {
		return nil, err
	}
	tools, err := shellTools()
	if err != nil {
		return nil, err
	}
	r, err := newRig(ctx, rigConfig{catalog: chainOfFive(more), cloud: cloud, tools: tools, tenants: []string{app.DefaultTenant}, slots: nodes})
	if err != nil {
		return nil, err
	}
	defer r.close()
	var steps int
	c, err := during(r.redis, func() error {
		op, _, err := r.create(ctx, app.DefaultTenant, "web", "bench", nodes)
		steps = op.Done
		return err
	})
	if err != nil {
		return nil, err
	}
	r.close() // ends the connections
	if c.nodes, err = f.used(); err != nil {
		return nil, err
	}
	n, err := f.ask("connections")
	s := c.sample()
	s["steps"], s["connections"] = float64(steps), float64(n)/float64(nodes)
	return s, err
}

// bareSSH measures a plain program that does the same with kept connections and remembers nothing.
func bareSSH(ctx context.Context, nodes, more int) (sample, error) {
	f, err := startFakeNodes(fakeOpenSSH)
	if err != nil {
		return nil, err
	}
	defer f.stop()
	signer, err := ssh.ParsePrivateKey(f.Key)
	if err != nil {
		return nil, err
	}
	host, _, _, _, err := ssh.ParseAuthorizedKey([]byte(f.HostKey))
	if err != nil {
		return nil, err
	}
	config := &ssh.ClientConfig{User: loginName(), Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, HostKeyCallback: ssh.FixedHostKey(host),
		HostKeyAlgorithms: []string{ssh.KeyAlgoED25519}, Timeout: 30 * time.Second,
		Config: ssh.Config{Ciphers: []string{"aes128-gcm@openssh.com"}}}
	c, err := during(nil, func() error {
		gate, open := context.WithCancel(ctx)
		defer open()
		slots := make(chan struct{}, handshakes)
		errs := make(chan error, len(f.Addresses))
		var all sync.WaitGroup
		for i, address := range f.Addresses[:nodes] {
			all.Go(func() {
				slots <- struct{}{}
				conn, err := ssh.Dial("tcp", address, config)
				<-slots
				if err != nil {
					errs <- err
					return
				}
				defer conn.Close()
				for step := range 5 + more {
					if step == 3 && i > 0 {
						<-gate.Done()
					}
					if err := bareExec(conn); err != nil {
						errs <- err
						return
					}
					if step == 2 && i == 0 {
						open()
					}
				}
			})
		}
		all.Wait()
		select {
		case err := <-errs:
			return err
		default:
			return ctx.Err()
		}
	})
	if err != nil {
		return nil, err
	}
	c.nodes, err = f.used()
	return c.sample(), err
}

func bareExec(conn *ssh.Client) error {
	s, err := conn.NewSession()
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Run("sh -c true")
}

// loginName is who this process is, as sshd knows it.
func loginName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}
