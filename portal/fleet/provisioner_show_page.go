package fleet

import (
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/fleet"
	"muster/app/humanize"
)

// ProvisionerShow is the page of a provisioner.
type ProvisionerShow struct {
	Now time.Time
	fleet.ProvisionerDetail
}

// load is how many slots are in use: "3 of 8".
func (s ProvisionerShow) load() string {
	return strconv.Itoa(s.Used()) + " of " + strconv.Itoa(s.Slots)
}

// token is what it registered with.
func (s ProvisionerShow) token() string {
	if s.Token == "" {
		return "none: it's part of a server"
	}
	return s.Token
}

// limit are the tenants that it may work for.
func (s ProvisionerShow) limit() string {
	if len(s.Only) == 0 {
		return "all"
	}
	return strings.Join(s.Only, ", ")
}

func (s ProvisionerShow) tags() string {
	if len(s.Tags) == 0 {
		return "none"
	}
	return app.TagText(s.Tags)
}

// more counts the running steps that aren't listed.
func (s ProvisionerShow) more() int { return s.Used() - len(s.Steps) }

// stepAction is what a step does: "start web".
func stepAction(s fleet.ProvisionerStep) string {
	if s.Service == "" {
		return string(s.Action)
	}
	return string(s.Action) + " " + s.Service
}

func (s ProvisionerShow) running(step fleet.ProvisionerStep) string {
	return humanize.Duration(max(0, s.Now.Sub(step.StartedAt)))
}
