package executable

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/program"
	"muster/automators/internal/node"
)

// nodeIO carries out on the node what a program asks for, for one action.
type nodeIO struct {
	sh     family.Shell
	call   family.ServiceCall
	out    family.Output
	dry    bool
	dir    string // for files that go away; "" until one is put
	last   node.LastLine
	broken error // what the shell last said, where that was no answer
}

func (h *nodeIO) do(ctx context.Context, m message) (any, error) {
	params := func(into any) error {
		if err := json.Unmarshal(m.Params, into); err != nil {
			return &app.Error{Code: app.EInvalid, Field: "params", Message: "Invalid params: " + program.Tidy(err.Error(), 200)}
		}
		return nil
	}
	switch m.Verb {
	case askRun:
		var a runAsk
		if err := params(&a); err != nil {
			return nil, err
		}
		return h.run(ctx, a)
	case askPut:
		var a putAsk
		if err := params(&a); err != nil {
			return nil, err
		}
		return h.put(ctx, a)
	case askSay:
		var a sayAsk
		if err := params(&a); err == nil {
			node.Say(h.out, program.Tidy(a.Line, program.LongestLog))
		}
		return nil, nil
	}
	return nil, &app.Error{Code: app.EInvalid, Message: fmt.Sprintf("Unknown verb %q.", program.Tidy(m.Verb, 50)), Hint: "Use run, put or say."}
}

// run runs a command. Its output is shown, and sent to the program; of one that runs once only the exit code is sent, since its output may be lost.
func (h *nodeIO) run(ctx context.Context, a runAsk) (any, error) {
	switch {
	case strings.TrimSpace(a.Line) == "" || strings.ContainsRune(a.Line, 0) || len(a.Line) > longestCommand:
		return nil, &app.Error{Code: app.EInvalid, Field: "line", Message: "The command line is empty, too long, or contains NUL characters."}
	case len(a.Stdin) > longestInput:
		return nil, &app.Error{Code: app.EInvalid, Field: "stdin", Message: fmt.Sprintf("The input exceeds %d MiB.", longestInput>>20)}
	}
	c := family.Command{Line: a.Line, Once: a.Once && !h.dry}
	if a.Stdin != "" || c.Once {
		c.Stdin = strings.NewReader(a.Stdin)
	}
	var mu sync.Mutex
	var outs [2]strings.Builder
	cut := false
	watch := h.last.Watch(func(s app.Stream, line string) {
		if h.out != nil && !a.Quiet {
			h.out(s, line)
		}
		mu.Lock()
		defer mu.Unlock()
		b := &outs[0]
		if s == family.StreamErr {
			b = &outs[1]
		} else if s != family.StreamOut {
			return
		}
		if c.Once || b.Len()+len(line) >= longestOutput {
			cut = true
			return
		}
		b.WriteString(line + "\n")
	})
	var exit int
	var err error
	if a.Sudo == nil || *a.Sudo {
		exit, err = node.Do(ctx, h.sh, c, watch)
	} else {
		exit, err = h.sh.Run(ctx, c, watch)
	}
	if err != nil {
		h.broken = err
		return nil, err
	}
	mu.Lock()
	defer mu.Unlock()
	return ranResult{Exit: exit, Stdout: outs[0].String(), Stderr: outs[1].String(), Cut: cut}, nil
}

// put writes a file, as the login user.
func (h *nodeIO) put(ctx context.Context, a putAsk) (any, error) {
	wrong := func(field, message string) (any, error) {
		return nil, &app.Error{Code: app.EInvalid, Field: field, Message: message}
	}
	mode := uint64(0o600)
	if a.Mode != "" {
		var err error
		if mode, err = strconv.ParseUint(a.Mode, 8, 16); err != nil || mode > 0o777 {
			return wrong("mode", "The mode must look like 0644.")
		}
	}
	content := a.Content
	if a.Base64 != nil {
		if content != "" {
			return wrong("content", "Set either content or content_base64.")
		}
		content = string(a.Base64)
	}
	if len(content) > longestInput {
		return wrong("content", fmt.Sprintf("The file exceeds %d MiB.", longestInput>>20))
	}
	place := a.Path
	switch {
	case (a.Path == "") == (a.Name == ""):
		return wrong("path", "Set either path or name.")
	case a.Name != "":
		if !typeForm.MatchString(a.Name) {
			return wrong("name", "A name can contain letters, digits, dots, dashes and underscores.")
		}
		if err := h.scratch(ctx); err != nil {
			return nil, err
		}
		place = h.dir + "/" + a.Name
	case h.dry:
		return wrong("path", "A dry run can only put files by name.")
	case !path.IsAbs(a.Path) || path.Clean(a.Path) != a.Path || strings.ContainsAny(a.Path, "\x00\n"):
		return wrong("path", "The path must be absolute and normalized.")
	case h.call.Resources != "" && strings.HasPrefix(a.Path+"/", h.call.Resources+"/"):
		return wrong("path", "Resources are read-only.")
	}
	if err := h.sh.Put(ctx, place, fs.FileMode(mode), strings.NewReader(content)); err != nil {
		h.broken = err
		return nil, err
	}
	return putResult{place}, nil
}

// scratch makes the directory for files that go away. It is the login user's, who puts files there, and the same for all attempts of a step, since
// commands that run
// once must be. What no one has removed goes away with the next directory, when it is a day old.
func (h *nodeIO) scratch(ctx context.Context) error {
	if h.dir != "" {
		return nil
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s %s %t", h.call.Operation, h.call.Step, h.call.Service, h.call.Action, h.dry))
	line := node.Prologue + `muster_dir=$muster_root/.programs
[ -d "$muster_dir" ] || mkdir -m 700 "$muster_dir" || [ -d "$muster_dir" ] || exit 1
find "$muster_dir" -mindepth 1 -maxdepth 1 -mmin +1440 -exec rm -rf {} + 2>/dev/null
muster_dir=$muster_dir/` + hex.EncodeToString(sum[:8]) + `
[ -d "$muster_dir" ] || mkdir -m 700 "$muster_dir" || [ -d "$muster_dir" ] || exit 1
echo "$muster_dir"
`
	var said string
	var last node.LastLine
	exit, err := h.sh.Run(ctx, family.Command{Line: line}, last.Watch(func(s app.Stream, line string) {
		if s == family.StreamOut {
			said = line
		}
	}))
	if err != nil {
		h.broken = err
		return err
	}
	if exit != 0 || !path.IsAbs(said) {
		return app.Errorf(app.EScript, "can't create the action's directory%s", last.Because())
	}
	h.dir = said
	return nil
}

// clear takes the files away, also when ctx has ended.
func (h *nodeIO) clear(ctx context.Context) {
	if h.dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, _ = node.Do(ctx, h.sh, family.Command{Line: "rm -rf " + humanize.ShellQuote(h.dir)}, nil)
}
