package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// readersVariable makes this command hold pages open and say when what happened arrived: readers are on other hosts in life, so what
// they cost is not the server's.
const readersVariable = "MUSTER_BENCH_READERS"

// reading is what readers are to read: streams, each with the cookie of someone who has signed in.
type reading struct {
	URL     string
	Streams []streamOf
}

type streamOf struct{ Path, Cookie string }

// arrived is what they tell at the end.
type arrived struct {
	Events, Bytes    int64
	Median, P99, Max time.Duration
	Open, Ended      int
	Failure          string
}

// sentAt is in a line of the log, or in a cluster's name: when it was written.
var sentAt = regexp.MustCompile(`sent[ -]at[ -](\d{19})`)

// runReaders opens all streams, says so in one line, reads until its input ends, and tells what arrived.
func runReaders() error {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	text, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var r reading
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 1000}}
	var (
		mu      sync.Mutex
		late    []time.Duration
		sum     arrived
		open    sync.WaitGroup
		reading sync.WaitGroup
		ended   atomic.Int64
		size    atomic.Int64
	)
	for _, s := range r.Streams {
		open.Add(1)
		reading.Go(func() {
			opened := sync.OnceFunc(open.Done)
			defer opened()
			fail := func(err error) {
				mu.Lock()
				defer mu.Unlock()
				if sum.Failure == "" && ctx.Err() == nil {
					sum.Failure = err.Error()
				}
			}
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL+s.Path, nil)
			if err != nil {
				fail(err)
				return
			}
			req.Header.Set("Accept", "text/event-stream")
			req.Header.Set("Cookie", s.Cookie)
			resp, err := client.Do(req)
			if err != nil {
				fail(err)
				return
			}
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				fail(fmt.Errorf("%s returned %s", s.Path, resp.Status))
				return
			}
			lines := bufio.NewReaderSize(resp.Body, 64<<10)
			latest := int64(0) // what a list repeats is no news
			for {
				line, err := lines.ReadBytes('\n')
				opened() // it has begun
				size.Add(int64(len(line)))
				now := time.Now()
				for _, m := range sentAt.FindAllSubmatch(line, -1) {
					if n, err := strconv.ParseInt(string(m[1]), 10, 64); err == nil && n > latest {
						latest = n
						mu.Lock()
						late = append(late, now.Sub(time.Unix(0, n)))
						mu.Unlock()
					}
				}
				if bytes.Equal(bytes.TrimSpace(line), []byte("event: end")) || err == io.EOF {
					ended.Add(1)
					return
				}
				if err != nil {
					fail(err)
					return
				}
			}
		})
	}
	open.Wait()
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, in)
	cancel()
	reading.Wait()
	sum.Events, sum.Bytes, sum.Ended = int64(len(late)), size.Load(), int(ended.Load())
	sum.Open = len(r.Streams) - sum.Ended
	if slices.Sort(late); len(late) > 0 {
		sum.Median, sum.P99, sum.Max = late[len(late)/2], late[len(late)*99/100], late[len(late)-1]
	}
	return json.NewEncoder(os.Stdout).Encode(sum)
}

// readers are such a process.
type readers struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startReaders prints it once all streams are open.
func startReaders(ctx context.Context, r reading) (*readers, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), readersVariable+"=1")
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &readers{cmd, in, bufio.NewReader(out)}
	err = json.NewEncoder(in).Encode(r)
	if err == nil {
		_, err = p.out.ReadString('\n')
	}
	if err != nil {
		_, _ = p.stop()
		return nil, err
	}
	return p, nil
}

// stop ends it, and returns what arrived.
func (p *readers) stop() (a arrived, err error) {
	_ = p.in.Close()
	text, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	_ = p.cmd.Wait()
	return a, err
}
