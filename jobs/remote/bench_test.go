package remote_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"muster/app/family"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

// ownCPU is what this process has used so far; the node's programs count by themselves.
func ownCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// bare is the connection that a program without this package would have.
func bare(b *testing.B, target remote.Target) *ssh.Client {
	key, err := ssh.ParsePrivateKey(target.PrivateKey)
	if err != nil {
		b.Fatal(err)
	}
	host, _, _, _, err := ssh.ParseAuthorizedKey([]byte(target.HostKey))
	if err != nil {
		b.Fatal(err)
	}
	c, err := ssh.Dial("tcp", fmt.Sprintf("%s:%d", target.Address, target.Port), &ssh.ClientConfig{
		User: target.User, Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: ssh.FixedHostKey(host),
		Config: ssh.Config{Ciphers: []string{ssh.CipherAES128GCM}},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	return c
}

// BenchmarkExec tells what one command on a kept connection to a real sshd costs, in this process alone (cpu) and by the
// clock with this machine being the node as well, where eight connections are busy at the same time. The ways take turns, and each figure is a
// median, so that what else the
// machine does weighs on all of them alike.
func BenchmarkExec(b *testing.B) {
	n := remotetest.OpenSSH(b)
	payload := strings.Repeat("echo a line of a script >/dev/null\n", 40)
	const conns, each = 8, 4
	var clients []*ssh.Client
	var shells []*remote.Conn
	for range conns {
		clients, shells = append(clients, bare(b, n.Target())), append(shells, dial(b, n.Target()))
	}
	session := func(i int, line string, stdin io.Reader) error {
		s, err := clients[i].NewSession()
		if err != nil {
			return err
		}
		defer s.Close()
		s.Stdin = stdin
		_, err = s.Output(line)
		return err
	}
	run := func(sh family.Shell, cmd family.Command) error {
		exit, err := sh.Run(context.Background(), cmd, nil)
		if err == nil && exit != 0 {
			err = fmt.Errorf("exit code %d", exit)
		}
		return err
	}
	var epochs atomic.Int64
	under := func(i int, place string) family.Shell {
		epoch := epochs.Add(1)
		return remote.Under(shells[i], remote.Claim{Place: fmt.Sprint(place, i), Epoch: epoch, Operation: epoch/200 + 1, Index: int(epoch % 200)})
	}
	script := func(once bool) family.Command {
		return family.Command{Line: `eval "$(cat)"`, Stdin: strings.NewReader(payload), Once: once}
	}
	ways := []struct {
		name string
		do   func(i int) error
	}{
		{"bare", func(i int) error { return session(i, "true", nil) }},
		{"bare-script", func(i int) error { return session(i, "sh -eu", strings.NewReader(payload)) }},
		{"run", func(i int) error { return run(shells[i], family.Command{Line: "true"}) }},
		{"run-script", func(i int) error { return run(shells[i], script(false)) }},
		{"claim", func(i int) error { return run(under(i, "a"), family.Command{Line: "true"}) }},
		{"once", func(i int) error { return run(under(i, "b"), family.Command{Line: "true", Once: true}) }},
		{"once-script", func(i int) error { return run(under(i, "c"), script(true)) }},
	}
	cpu, wall := make([][]time.Duration, len(ways)), make([][]time.Duration, len(ways))
	for range b.N {
		for w, way := range ways {
			began, used := time.Now(), ownCPU()
			var all sync.WaitGroup
			for i := range conns {
				all.Go(func() {
					for range each {
						if err := way.do(i); err != nil {
							b.Error(way.name, err)
						}
					}
				})
			}
			all.Wait()
			cpu[w], wall[w] = append(cpu[w], (ownCPU()-used)/(conns*each)), append(wall[w], time.Since(began)/(conns*each))
		}
	}
	median := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2].Nanoseconds()) / 1000
	}
	for i, w := range ways {
		b.ReportMetric(median(cpu[i]), w.name+"-cpu-us")
		b.ReportMetric(median(wall[i]), w.name+"-us")
	}
}

// BenchmarkClient tells what one command on a kept connection costs this process when it is busy: sixty-four connections to
// a server in another process that runs nothing.
func BenchmarkClient(b *testing.B) {
	target := remotetest.Quiet(b)
	const conns = 64
	busy := func(b *testing.B, one func(i int) error) {
		b.ReportAllocs()
		began := ownCPU()
		b.ResetTimer()
		var all sync.WaitGroup
		var left atomic.Int64
		left.Store(int64(b.N))
		for i := range conns {
			all.Go(func() {
				for left.Add(-1) >= 0 {
					if err := one(i); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		b.StopTimer()
		b.ReportMetric(float64((ownCPU()-began).Microseconds())/float64(b.N), "cpu-us/op")
	}
	var clients []*ssh.Client
	var shells []*remote.Conn
	for range conns {
		clients, shells = append(clients, bare(b, target)), append(shells, dial(b, target))
	}
	b.Run("bare", func(b *testing.B) {
		busy(b, func(i int) error {
			s, err := clients[i].NewSession()
			if err != nil {
				return err
			}
			defer s.Close()
			return s.Run("true")
		})
	})
	b.Run("run", func(b *testing.B) {
		busy(b, func(i int) error {
			_, err := shells[i].Run(context.Background(), family.Command{Line: "true"}, nil)
			return err
		})
	})
	b.Run("once", func(b *testing.B) {
		var epoch atomic.Int64
		script := strings.Repeat("echo a line of a script >/dev/null\n", 40)
		busy(b, func(i int) error {
			sh := remote.Under(shells[i], remote.Claim{Place: "n1", Epoch: epoch.Add(1), Operation: 1, Index: 1})
			_, err := sh.Run(context.Background(), family.Command{Line: "cat", Stdin: strings.NewReader(script), Once: true}, nil)
			return err
		})
	})
}
