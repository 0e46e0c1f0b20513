package apitest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5/middleware"
)

// FaultsFile is the environment variable that names the file to which processes that a test starts write what they find. A test that starts
// the server as a process passes it on.
const FaultsFile = "MUSTER_API_FAULTS"

const (
	bodyLimit   = 16 << 20 // of what is checked of one answer
	faultsShown = 60
)

// Runner is a *testing.M, or what stands for one.
type Runner interface{ Run() int }

// Inspect is portal.InspectAPI. It is a parameter since the tests of package portal could not import this package otherwise.
type Inspect func(wrap func(doc *huma.OpenAPI, next http.Handler) http.Handler)

// Watch checks every answer of every portal that is created during a run, and fails the run if one was not as described.
func Watch(m Runner, inspect Inspect) Runner { return watcher{m, inspect} }

type watcher struct {
	m       Runner
	inspect Inspect
}

func (w watcher) Run() int {
	file, err := os.CreateTemp("", "api-faults")
	if err == nil {
		err = file.Close()
	}
	if err == nil {
		err = os.Setenv(FaultsFile, file.Name())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the API cannot be watched:", err)
		return 1
	}
	defer func() { _ = os.Remove(file.Name()) }()
	Here(w.inspect)
	defer w.inspect(nil)
	code := w.m.Run()
	found, err := os.ReadFile(file.Name())
	if err != nil {
		fmt.Fprintln(os.Stderr, "the faults of the API cannot be read:", err)
		return 1
	}
	if len(found) == 0 {
		return code
	}
	lines := strings.Split(strings.TrimSpace(string(found)), "\n")
	slices.Sort(lines)
	lines = slices.Compact(lines)
	fmt.Fprintf(os.Stderr, "FAIL: the API answered otherwise than its description says, in %d ways:\n", len(lines))
	for _, line := range lines[:min(len(lines), faultsShown)] {
		fmt.Fprintln(os.Stderr, "  "+line)
	}
	return max(code, 1)
}

// Here checks the answers of this process if FaultsFile is set.
func Here(inspect Inspect) {
	path := os.Getenv(FaultsFile)
	if path == "" {
		return
	}
	n := &notes{path: path, seen: map[string]bool{}}
	inspect(func(doc *huma.OpenAPI, next http.Handler) http.Handler { return handler(doc, n.add, next) })
}

// notes are the faults of a process, each once.
type notes struct {
	path string
	mu   sync.Mutex
	seen map[string]bool
}

func (n *notes) add(fault string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fault = strings.ReplaceAll(fault, "\n", " ")
	if n.seen[fault] {
		return
	}
	n.seen[fault] = true
	f, err := os.OpenFile(n.path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString(fault + "\n") // one write, so that processes do not mix their lines
		_ = f.Close()
	}
	if err != nil && !os.IsNotExist(err) { // a server may outlive the run
		fmt.Fprintln(os.Stderr, "a fault of the API is not written down:", err, fault)
	}
}

// handler checks what next answers at addresses of the API.
func handler(doc *huma.OpenAPI, fault func(string), next http.Handler) http.Handler {
	d := newDescription(doc)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, d.prefix+"/") {
			next.ServeHTTP(w, r)
			return
		}
		method, path := r.Method, r.URL.EscapedPath()
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		body := &bounded{}
		ww.Tee(body)
		next.ServeHTTP(ww, r) // a panic breaks the answer off, and there is nothing to check
		if r.Context().Err() != nil {
			return
		}
		status := ww.Status()
		if status == 0 {
			status = http.StatusOK
		}
		for _, what := range d.check(method, strings.TrimPrefix(path, d.prefix), status, ww.Header(), body) {
			fault(what)
		}
	})
}

// bounded keeps the start of an answer.
type bounded struct {
	bytes.Buffer
	cut bool
}

var _ io.Writer = (*bounded)(nil)

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > bodyLimit {
		b.cut = true
		return len(p), nil
	}
	return b.Buffer.Write(p)
}
