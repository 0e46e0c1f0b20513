//go:build real && openstack && linux

package openstackreal

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program builds the program, once.
var program = sync.OnceValues(func() (string, error) {
	out := cloud.path("bin", "muster")
	return out, command("go", "build", "-ldflags", "-s -w", "-o", out, "muster/cmd/muster")
})

// proofCatalog has accounts of the cloud, with hardware and images. ID and SECRET are an application credential's.
const proofCatalog = `
kind: provider
name: stack
type: openstack
settings:
  {auth_url: 'http://127.0.0.1:5000/v3',
  username: demo, password: '${env:DEMO_SECRET}', project: demo, region: RegionOne, networks: private, floating_network: public}
---
kind: provider
name: fixed
type: openstack
settings:
  {auth_url: 'http://127.0.0.1:5000/v3',
  username: demo, password: '${env:DEMO_SECRET}', project: demo, region: RegionOne, networks: second}
---
kind: provider
name: credential
type: openstack
settings:
  {auth_url: 'http://127.0.0.1:5000/v3',
  application_credential_id: 'ID', application_credential_secret: '${env:CREDENTIAL_SECRET}', networks: private, floating_network: public}
---
kind: provider
name: wrong
type: openstack
settings:
  {auth_url: 'http://127.0.0.1:5000/v3',
  username: demo, password: '${env:WRONG_SECRET}', project: demo, region: RegionOne, networks: private, floating_network: public}
---
kind: provider
name: astray
type: openstack
settings:
  {auth_url: 'http://127.0.0.1:5000/v3',
  username: demo, password: '${env:DEMO_SECRET}', project: demo, region: RegionOne, networks: nowhere, floating_network: public}
---
kind: hardware
name: small
providers: {stack: {flavor: tiny}, fixed: {flavor: tiny}, credential: {flavor: tiny}, wrong: {flavor: tiny}, astray: {flavor: tiny}}
---
kind: hardware
name: unknown
providers: {stack: {flavor: m9.nowhere}}
---
kind: image
name: debian
providers: {stack: {image: debian}, fixed: {image: debian}, credential: {image: debian}, wrong: {image: debian}, astray: {image: debian}}
---
kind: image
name: unknown
providers: {stack: {image: plan9}}
`

// proof is one run of muster provider prove.
type proof struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  bytes.Buffer
	done chan struct{}
}

// proofs starts runs of the program.
type proofs struct{ program, catalog, secret string }

func newProofs(t *testing.T) *proofs {
	t.Helper()
	p, err := program()
	must(t, err)
	id, secret := credential(t)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "catalog.yaml"), []byte(strings.Replace(proofCatalog, "'ID'", id, 1)), 0o600))
	return &proofs{p, dir, secret}
}

// start begins a run with hardware small and image debian, unless the flags say otherwise.
func (p *proofs) start(t *testing.T, provider string, flags ...string) *proof {
	t.Helper()
	args := []string{"provider", "prove", provider, "--catalog", p.catalog, "--cost-per-hour", "0", "--patience", patience.String(), "--yes"}
	flags = append(flags, "--hardware=small", "--image=debian")
	for i, f := range flags { // the first of a name counts
		name, _, _ := strings.Cut(f, "=")
		if !strings.Contains(strings.Join(flags[:i], " ")+" ", name+"=") {
			args = append(args, f)
		}
	}
	r := &proof{t: t, cmd: exec.Command(p.program, args...), done: make(chan struct{})}
	r.cmd.Env = append(os.Environ(), "DEMO_SECRET="+demoSecret, "WRONG_SECRET="+otherSecret, "CREDENTIAL_SECRET="+p.secret)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	must(t, r.cmd.Start())
	go func() {
		_ = r.cmd.Wait()
		close(r.done)
	}()
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		<-r.done
	})
	return r
}

// wait wants a run to end with an exit code, and all of the texts in its output. No secret is in it.
func (r *proof) wait(code int, texts ...string) {
	r.t.Helper()
	<-r.done
	text := r.out.String()
	if got := r.cmd.ProcessState.ExitCode(); got != code {
		r.t.Errorf("exit code %d, want %d", got, code)
	}
	for _, want := range texts {
		if !strings.Contains(text, want) {
			r.t.Errorf("the output lacks %q", want)
		}
	}
	if strings.Contains(text, demoSecret) || strings.Contains(text, otherSecret) || strings.Contains(text, "['") || strings.Contains(text, "<class") {
		r.t.Error("the output has a secret, or what no person can read")
	}
	r.t.Logf("muster %s:\n%s", strings.Join(r.cmd.Args[1:4], " "), text)
}

// reaches waits for a call of the run.
func (r *proof) reaches(what string, call <-chan struct{}) {
	r.t.Helper()
	select {
	case <-call:
	case <-r.done:
		r.t.Fatalf("the run ended before %s:\n%s", what, r.out.String())
	case <-time.After(2 * patience):
		r.t.Fatalf("no %s", what)
	}
}

const works = " works: "

// TestProof runs muster provider prove in accounts that are good.
func TestProof(t *testing.T) {
	p := newProofs(t)
	for name, args := range map[string][]string{"floating addresses": {"stack"}, "fixed addresses": {"fixed"}, "without signing in": {"stack", "--login=false"},
		"an application credential": {"credential"}} {
		t.Run(name, func(t *testing.T) {
			p.start(t, args[0], args[1:]...).wait(0, args[0]+works, "Nothing is left in the account.")
			nothingLeft(t)
		})
	}
}

// TestProofThatIsRefused has people read what is wrong, in a sentence, and leaves nothing.
func TestProofThatIsRefused(t *testing.T) {
	p := newProofs(t)
	quota := func(service, name string) func() (func() error, error) {
		return func() (func() error, error) { return cloud.quota(service, name, 0) }
	}
	for name, c := range map[string]struct {
		args    []string
		arrange func() (undo func() error, err error)
		want    []string
	}{
		"a wrong password": {[]string{"wrong"}, nil,
			[]string{"can't prepare the account", "rejected the credentials", "Check the user, domain, project and password"}},
		"an unknown flavor": {[]string{"stack", "--hardware=unknown"}, nil,
			[]string{`flavor "m9.nowhere" doesn't exist in the project`, "Known: diskless, tiny."}},
		"an unknown image": {[]string{"stack", "--image=unknown"}, nil,
			[]string{`image "plan9" doesn't exist in the project`, "openstack image list"}},
		"an unknown network": {[]string{"astray"}, nil,
			[]string{`network "nowhere" doesn't exist in the project`, "openstack network list"}},
		"no server left": {[]string{"stack"}, quota("compute", "instances"),
			[]string{"the quota allows 0 servers", "Quota exceeded for instances: Requested 1, but already used 0 of 0 instances"}},
		"no security group left": {[]string{"stack"}, quota("network", "security_group"),
			[]string{"the quota allows 0 security groups", "Quota exceeded for resources: security group."}},
		"no floating IP left": {[]string{"stack"}, quota("network", "floatingip"),
			[]string{"the quota allows 0 floating IPs", "Quota exceeded for resources: floating IP."}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.arrange != nil {
				undo, err := c.arrange()
				must(t, err)
				defer func() { must(t, undo()) }()
			}
			p.start(t, c.args[0], c.args[1:]...).wait(1, c.want...)
			nothingLeft(t)
		})
	}
}

// TestProofThatIsInterrupted ends a run at its create and at its delete: by the keyboard, after which it cleans up itself, and by kill -9, after which the
// next run does.
func TestProofThatIsInterrupted(t *testing.T) {
	p := newProofs(t)
	for name, call := range map[string]func() <-chan struct{}{
		"at the create":      func() <-chan struct{} { return cloud.front.nth(1, posts("/servers")) },
		"at the floating IP": func() <-chan struct{} { return cloud.front.nth(1, posts("/floatingips")) },
		"at the delete":      func() <-chan struct{} { return cloud.front.nth(1, deletes) },
	} {
		t.Run("SIGINT "+name, func(t *testing.T) {
			at := call()
			r := p.start(t, "stack")
			r.reaches("the call", at)
			must(t, r.cmd.Process.Signal(os.Interrupt))
			r.wait(1, "stack wasn't proven: stopped before all checks were made.", "ok      what was created is deleted")
			nothingLeft(t)
		})
		t.Run("kill -9 "+name, func(t *testing.T) {
			at := call()
			r := p.start(t, "stack")
			r.reaches("the call", at)
			must(t, r.cmd.Process.Signal(syscall.SIGKILL))
			<-r.done
			p.start(t, "stack").wait(0, "stack"+works)
			nothingLeft(t)
		})
	}
}

// TestProofWhileNeutronIsFrozen freezes Neutron when the machine is deleted. The run waits for it, and nothing is left.
func TestProofWhileNeutronIsFrozen(t *testing.T) {
	p := newProofs(t)
	at := cloud.front.nth(1, deletes)
	r := p.start(t, "stack")
	r.reaches("the delete", at)
	more := cloud.front.nth(5, func(r *http.Request) bool { return service(r) == "compute" })
	thaw := cloud.freeze("neutron")
	defer thaw()
	select { // Nova waits for Neutron as well, so there may be few calls
	case <-more:
	case <-time.After(20 * time.Second):
	}
	thaw()
	r.wait(0, "stack"+works)
	nothingLeft(t)
}

// TestProofWhereServersFail has every server end in ERROR, by a Neutron that binds no ports.
func TestProofWhereServersFail(t *testing.T) {
	p := newProofs(t)
	must(t, cloud.restartNeutron(false))
	r := p.start(t, "stack")
	r.wait(1, "the cloud failed to build the server", "ok      what was created is deleted")
	must(t, cloud.restartNeutron(true))
	nothingLeft(t)
	p.start(t, "stack").wait(0, "stack"+works)
	nothingLeft(t)
}
