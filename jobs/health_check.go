package jobs

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/idle"
	"muster/app/scaling"
	"muster/app/template"
)

// healthSlack is what a node gets beyond the longest of its checks to begin and to answer.
const healthSlack = 10 * time.Second

// look carries out checks on a node, all in one command and at the same time, and returns what is wrong by service: "" where
// nothing is. The error is for when the node could not be asked. All of it ends within the longest time limit and some slack.
func look(ctx context.Context, sh family.Shell, n family.NodeContext, address string, checks []nodeCheck) (map[string]string, error) {
	return lookAlso(ctx, sh, n, address, checks, nil)
}

// useProbe is what a node is asked about its use beside its checks, and what it answers.
type useProbe struct {
	conditions *template.IdleConditions // nil: none
	services   []string
	reading    idle.Reading
	node       string
	numbers    []scaling.Number // scripts that print numbers
	said       []scaling.NodeNumber
	notice     *noticeProbe // nil: the node isn't asked
}

// lookAlso asks about the node's use in the same command; nil: it doesn't.
func lookAlso(ctx context.Context, sh family.Shell, n family.NodeContext, address string, checks []nodeCheck, use *useProbe) (map[string]string, error) {
	longest, before := time.Duration(0), ""
	if use != nil {
		if use.conditions != nil {
			before = idleScript(*use.conditions, use.services)
			if use.conditions.Script != "" {
				longest = template.IdleScriptTime
			}
		}
		if before += numberScript(use.numbers, use.services); len(use.numbers) > 0 {
			longest = max(longest, template.ScalingScriptTime)
		}
	}
	if use != nil {
		before += use.notice.script()
	}
	for _, c := range checks {
		longest = max(longest, c.check.TimeoutOr5s())
	}
	ctx, cancel := context.WithTimeout(ctx, longest+healthSlack)
	defer cancel()
	mark := "muster-" + rand.Text()
	found := map[string]string{}
	var mu sync.Mutex
	hear := func(s app.Stream, line string) {
		rest, mine := strings.CutPrefix(line, mark+" ")
		if about, is := strings.CutPrefix(rest, idleAnswer+" "); mine && is && use != nil && s == family.StreamOut {
			about, rest, _ := strings.Cut(about, " ")
			mu.Lock()
			use.reading.Line(about, rest)
			mu.Unlock()
			return
		}
		if about, is := strings.CutPrefix(rest, numberAnswer+" "); mine && is && use != nil && s == family.StreamOut {
			if n, ok := readNumber(use.node, use.numbers, about); ok {
				mu.Lock()
				use.said = append(use.said, n)
				mu.Unlock()
			}
			return
		}
		if about, is := strings.CutPrefix(rest, noticeAnswer+" "); mine && is && use != nil && use.notice != nil && s == family.StreamOut {
			mu.Lock()
			use.notice.hear(about, time.Now())
			mu.Unlock()
			return
		}
		number, rest, _ := strings.Cut(rest, " ")
		exit, said, _ := strings.Cut(rest, " ")
		i, err := strconv.Atoi(number)
		code, bad := strconv.Atoi(exit)
		if !mine || s != family.StreamOut || err != nil || bad != nil || i < 0 || i >= len(checks) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		found[checks[i].service] = humanize.CutText(judgeCheck(checks[i].check, code, said), template.MaxHealthReason)
	}
	script := healthScript(n, address, mark, before, checks)
	run := func(sudo bool) (int, error) {
		return sh.Run(ctx, family.Command{Line: `eval "$(cat)"`, Stdin: strings.NewReader(script), Sudo: sudo}, hear)
	}
	_, err := run(true)
	if app.CodeOf(err) == app.ECredentials {
		_, err = run(false)
	}
	mu.Lock()
	defer mu.Unlock()
	if err != nil && (len(found) == 0 || app.CodeOf(err) != app.ETimeout) {
		return nil, err
	}
	for _, c := range checks {
		if _, answered := found[c.service]; !answered {
			found[c.service] = c.check.Asks() + ": timed out"
		}
	}
	return found, nil
}
