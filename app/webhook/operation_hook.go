package webhook

import (
	"fmt"

	"muster/app"
	apptemplate "muster/app/template"
)

// HooksOf merges the scripts of a tenant with those of a template, for a plan. Names stay unlike: a template's hook that is called
// as one of the tenant's is called otherwise.
func HooksOf(k app.OperationKind, tenant []Endpoint, template []apptemplate.OperationHook) []apptemplate.OperationHook {
	var all []apptemplate.OperationHook
	taken := map[string]bool{}
	for _, h := range tenant {
		if h.State == HookActive && h.Script != "" {
			all = append(all, h.operationHook())
		}
	}
	all = apptemplate.Scripts(all, k)
	for _, h := range all {
		taken[h.Name] = true
	}
	for _, h := range apptemplate.Scripts(template, k) {
		if taken[h.Name] {
			h.Name += ".template"
		}
		all = append(all, h)
	}
	return all
}

// operationHook is a tenant's hook as plans know it.
func (h Endpoint) operationHook() apptemplate.OperationHook {
	o := apptemplate.OperationHook{Name: h.Name, When: h.When, Operations: h.Operations, Timeout: h.Timeout, OnTimeout: h.OnTimeout, Script: h.Script, Services: h.Services}
	if h.Script == "" {
		o.SendTo = h.Name
	}
	return o
}

// AsOperationHook is a tenant's operation hook as operations know it.
func (h Endpoint) AsOperationHook() apptemplate.OperationHook { return h.operationHook() }

// CheckSavedHook says what is wrong with a hook as a whole, after a change of some of its parts.
func CheckSavedHook(h Endpoint) error {
	wrong := func(field, message, hint string) error {
		return &app.Error{Code: app.EInvalid, Field: field, Message: message, Hint: hint}
	}
	o := h.operationHook()
	switch {
	case h.When == "" && (len(h.Operations) > 0 || h.Timeout != 0 || h.OnTimeout != "" || h.Script != "" || len(h.Services) > 0):
		return wrong("when", "Operations, timeouts, scripts and services apply only to operation hooks.", "Set when to before, after, failure or template.")
	case h.When == "" && h.Format == HookCoopr:
		return wrong("format", "The coopr format is for operations, not notifications.", "Set when to before, after or failure.")
	case h.When == "":
		return nil
	case len(h.Kinds) > 0:
		return wrong("kinds", "Operation hooks don't receive notifications.", "Create another hook for notifications.")
	case h.Format != HookMuster && h.Format != HookCoopr:
		return wrong("format", fmt.Sprintf("Operation hooks can't use format %q.", string(h.Format)), "Use muster or coopr.")
	case h.Script != "" && h.URL != "":
		return wrong("script", "A hook has a URL or a script, not both.", "Create two hooks.")
	case h.When == apptemplate.HookTemplate && (h.Script != "" || len(h.Operations) > 0 || h.Timeout != 0 || h.OnTimeout != ""):
		return wrong("when", "The template sets its hook's operations, timeout and script.", "Leave them out here.")
	case h.When == apptemplate.HookTemplate:
		return nil
	case h.When == apptemplate.HookRequest:
		return checkRequestHook(h)
	}
	if e := o.Check(); e != nil {
		if e.Field == "run" {
			e.Field = "script"
		}
		return e
	}
	return nil
}
