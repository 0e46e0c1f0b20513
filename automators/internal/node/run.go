package node

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
)

// Do runs a command with root rights, or as the SSH user where there is no sudo. Errors are those of family.Shell.
func Do(ctx context.Context, sh family.Shell, c family.Command, out family.Output) (exit int, err error) {
	do := func(sudo bool) (int, error) {
		if s, ok := c.Stdin.(*strings.Reader); ok && !sudo {
			_, _ = s.Seek(0, 0)
		}
		c.Sudo = sudo
		return sh.Run(ctx, c, out)
	}
	if exit, err = do(true); app.CodeOf(err) == app.ECredentials {
		exit, err = do(false)
	}
	return exit, err
}

// Look runs a command that changes nothing and returns what it wrote to its standard output, at most 1 MiB of it. An exit code other than 0 is
// EScript, with the last line of the error output.
func Look(ctx context.Context, sh family.Shell, line, input string) (text string, err error) {
	const most = 1 << 20
	var last LastLine
	var mu sync.Mutex
	var b strings.Builder
	c := family.Command{Line: line}
	if input != "" {
		c.Stdin = strings.NewReader(input)
	}
	exit, err := Do(ctx, sh, c, last.Watch(func(s app.Stream, line string) {
		mu.Lock()
		defer mu.Unlock()
		if s == family.StreamOut && b.Len()+len(line) < most {
			b.WriteString(line + "\n")
		}
	}))
	if err == nil && exit != 0 {
		err = &app.Error{Code: app.EScript, Reason: "exit_code", Message: fmt.Sprintf("Checking the node failed with exit code %d%s", exit, last.Because())}
	}
	mu.Lock()
	defer mu.Unlock()
	return b.String(), err
}

// Failed is the error of a tool that ran for a service action and ended with a code other than 0.
func Failed(call family.ServiceCall, exit int, last *LastLine) *app.Error {
	return &app.Error{
		Code: app.EScript, Reason: "exit_code",
		Message: fmt.Sprintf("%s %s failed with exit code %d%s", call.Service, call.Action, exit, last.Because()),
	}
}

// Sweep takes away what a command that had to be killed could not take away itself. What keeps running without us stays. It is for when ctx has ended.
func Sweep(ctx context.Context, sh family.Shell) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, _ = Do(ctx, sh, family.Command{Line: Prologue}, nil)
}

// Say tells a line of Muster's own, where someone listens.
func Say(out family.Output, line string) {
	if out != nil {
		out(family.StreamSystem, line)
	}
}

// LastLine remembers the last line that a tool said on its error output: mostly the reason. The zero value remembers nothing yet.
type LastLine struct {
	mu   sync.Mutex
	text string
	Both bool // lines of the standard output count as well
}

// Watch passes lines on, to out where that is not nil, and remembers the last.
func (l *LastLine) Watch(out family.Output) family.Output {
	return func(s app.Stream, line string) {
		if text := strings.TrimSpace(line); (s == family.StreamErr || s == family.StreamOut && l.Both) && text != "" {
			l.Set(text)
		}
		if out != nil {
			out(s, line)
		}
	}
}

// Set makes a text the last line.
func (l *LastLine) Set(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = text
}

// Because ends a sentence with the reason, if one is known.
func (l *LastLine) Because() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text == "" {
		return "."
	}
	const most = 300
	if len(l.text) > most {
		return ": " + strings.ToValidUTF8(l.text[:most], "") + "…"
	}
	return ": " + l.text
}
