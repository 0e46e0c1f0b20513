package template

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// What a health check may at most ask for, and what holds where it says nothing.
const (
	MaxHealthTimeout  = time.Minute
	maxHealthWait     = time.Hour
	maxHealthFailures = 100
	maxHealthCommand  = 16 << 10 // bytes
	maxHealthPath     = 1024     // bytes
	MaxHealthReason   = 300      // letters of what is wrong

	usualHealthTimeout  = 5 * time.Second
	usualHealthWait     = time.Minute
	usualHealthFailures = 3
)

// TimeoutOr5s is how long one check may take.
func (h *HealthCheck) TimeoutOr5s() time.Duration { return orElse(h.Timeout, usualHealthTimeout) }

// WaitOr60s is how long a service may take after its start.
func (h *HealthCheck) WaitOr60s() time.Duration { return orElse(h.Wait, usualHealthWait) }

// FailuresOr3 is how many failures in a row make a service unhealthy.
func (h *HealthCheck) FailuresOr3() int {
	if h.Failures > 0 {
		return h.Failures
	}
	return usualHealthFailures
}

func orElse(d, usual time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return usual
}

// Asks says in words what a check asks: "TCP port 80", "GET :80/up", "command pg_isready".
func (h *HealthCheck) Asks() string {
	switch {
	case h.HTTP != nil:
		path := h.HTTP.Path
		if path == "" {
			path = "/"
		}
		return "GET " + hostPort("", h.HTTP.Port) + path
	case h.TCP != "":
		return "TCP " + h.TCP
	}
	line, _, more := strings.Cut(strings.TrimSpace(h.Command), "\n")
	if line = humanize.CutText(line, 80); more {
		line += " …"
	}
	return "command " + line
}

func hostPort(host, port string) string {
	if strings.Contains(port, ":") {
		return port
	}
	return host + ":" + port
}

// configReference is a value of the cluster's configuration in a health check: %config.lb.port%.
var configReference = regexp.MustCompile(`%config\.([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)%`)

// aside takes references to the configuration out of a text, so that the other macros can be read.
func aside(text string) string { return configReference.ReplaceAllString(text, "\x00$1\x00") }

var asideMark = regexp.MustCompile("\x00([^\x00]*)\x00")

// text is a part of a check that may hold macros.
func (h *HealthCheck) text(field string) string {
	switch {
	case field == "command":
		return h.Command
	case field == "tcp":
		return h.TCP
	case h.HTTP == nil:
	case field == "http.port":
		return h.HTTP.Port
	case field == "http.path":
		return h.HTTP.Path
	}
	return ""
}

// Check tells what is wrong with a check as it is written: EInvalid, with Field such as "http.port"; nil where nothing is.
func (h *HealthCheck) Check() error {
	wrong := func(field, hint, format string, args ...any) error {
		return &app.Error{Code: app.EInvalid, Field: field, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	set := 0
	for _, is := range []bool{h.Command != "", h.TCP != "", h.HTTP != nil} {
		if is {
			set++
		}
	}
	switch {
	case set == 0:
		return wrong("", "add one of them", "a health check needs command, tcp or http")
	case set > 1:
		return wrong("", "keep one; a command can check several things", "a health check takes only one of command, tcp and http")
	case len(h.Command) > maxHealthCommand || strings.ContainsRune(h.Command, 0):
		return wrong("command", "install a script and run it", "the command must be at most %d bytes, with no NUL bytes", maxHealthCommand)
	case h.Timeout > MaxHealthTimeout:
		return wrong("timeout", "", "the timeout must be at most %s", humanize.DurationField(MaxHealthTimeout))
	case h.Wait > maxHealthWait:
		return wrong("wait", "", "the wait must be at most %s", humanize.DurationField(maxHealthWait))
	case h.Failures > maxHealthFailures:
		return wrong("failures", "", "failures must be at most %d", maxHealthFailures)
	}
	for _, field := range []string{"command", "tcp", "http.port", "http.path"} {
		text := h.text(field)
		macros, err := ParseMacros(map[string]any{field: aside(text)})
		if err != nil {
			e := app.AsError(err)
			return wrong(field, e.Hint, "%s", strings.TrimPrefix(e.Message, "In config."+field+", "))
		}
		if named := macros.References(); len(named) > 0 {
			return wrong(field, "use %ip.self%, the node's own address", "a health check can't name the address of %s", strings.Join(named, ", "))
		}
	}
	if strings.Contains(h.text("tcp")+h.text("http.port")+h.text("http.path"), "%") {
		return nil // what they become shows when they are expanded
	}
	return h.CheckExpanded()
}

var healthHost = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,255}$`)

// CheckExpanded tells what is wrong with a check whose macros are expanded.
func (h *HealthCheck) CheckExpanded() error {
	port := func(field, text string) error {
		if p, err := strconv.Atoi(text); err != nil || p < 1 || p > 65535 {
			return &app.Error{Code: app.EInvalid, Field: field, Message: fmt.Sprintf("invalid port %q", text), Hint: "use a number from 1 to 65535"}
		}
		return nil
	}
	switch {
	case h.HTTP != nil:
		if err := port("http.port", h.HTTP.Port); err != nil {
			return err
		}
		p := h.HTTP.Path
		if p != "" && p[0] != '/' || len(p) > maxHealthPath || strings.ContainsFunc(p, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			return &app.Error{Code: app.EInvalid, Field: "http.path", Message: fmt.Sprintf("invalid path %q", humanize.CutText(p, 40)), Hint: "start it with / and leave out spaces"}
		}
		if s := h.HTTP.Status; s != 0 && (s < 100 || s > 599) {
			return &app.Error{Code: app.EInvalid, Field: "http.status", Message: fmt.Sprintf("invalid HTTP status %d", s), Hint: "leave out status to accept 200 to 399"}
		}
	case h.TCP != "":
		host, p := splitHealthHost(h.TCP)
		if host != "" && !healthHost.MatchString(host) {
			return &app.Error{Code: app.EInvalid, Field: "tcp", Message: fmt.Sprintf("invalid host %q", humanize.CutText(host, 40)), Hint: "use a port, or host:port"}
		}
		return port("tcp", p)
	}
	return nil
}

// splitHealthHost parts host:port; without a host the host is "".
func splitHealthHost(s string) (host, port string) {
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		return strings.Trim(s[:i], "[]"), s[i+1:]
	}
	return "", s
}

// NamesConfig reports whether values of the configuration stand in the check.
func (h *HealthCheck) NamesConfig() bool {
	return configReference.MatchString(h.Command + h.TCP + h.text("http.port") + " " + h.text("http.path"))
}
