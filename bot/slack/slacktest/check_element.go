package slacktest

import (
	"fmt"
	"net/url"
	"strings"
)

// element checks one element of a block of a kind; seen are the action ids of that block.
func (c *checker) element(at, block string, e object, seen map[string]string) {
	kind := str(e["type"])
	places, known := where[kind]
	switch {
	case !known:
		c.add("element.type", at, "%q is no type of an element that is known here", e["type"])
		return
	case !places[block]:
		c.add("element.placement", at, "a %s in a %s block", kind, block)
	}
	c.id("action_id", at+".action_id", e["action_id"], seen)
	if e["focus_on_load"] == true {
		c.focus++
	}
	if e["confirm"] != nil {
		c.confirm(at+".confirm", e["confirm"])
	}
	if e["placeholder"] != nil {
		c.text("placeholder", at+".placeholder", e["placeholder"], maxPlaceholder, true)
	}
	switch {
	case kind == "mrkdwn", kind == "plain_text":
		c.text("context.text", at, e, maxText, false)
	case kind == "image":
		c.image(at, e)
	case kind == "button":
		c.button(at, e)
	case kind == "overflow":
		c.options(at, e, 1, maxOverflow, true)
	case kind == "checkboxes", kind == "radio_buttons":
		c.options(at, e, 1, maxBoxes, false)
	case strings.HasSuffix(kind, "static_select"):
		c.selects(at, e)
	case strings.HasSuffix(kind, "_select"):
		if i, ok := e["initial_option"].(object); ok {
			c.option(at+".initial_option", i, false, true)
		}
	case strings.HasSuffix(kind, "_input"):
		c.typed(at, kind, e)
	}
}

func (c *checker) button(at string, e object) {
	c.text("button.text", at+".text", e["text"], maxButton, true)
	c.most("button.value", at+".value", e["value"], maxButtonValue)
	c.most("button.url", at+".url", e["url"], maxURL)
	c.most("button.accessibility_label", at+".accessibility_label", e["accessibility_label"], maxButton)
	if address := str(e["url"]); address != "" {
		if u, err := url.Parse(address); err != nil || u.Scheme == "" || u.Host == "" {
			c.add("button.url", at+".url", "no address: %q", address)
		}
	}
	if s := str(e["style"]); e["style"] != nil && s != "primary" && s != "danger" {
		c.add("button.style", at+".style", "%q is neither primary nor danger", s)
	}
}

func (c *checker) confirm(at string, v any) {
	o, ok := v.(object)
	if !ok {
		c.add("confirm", at, "a %T instead of a dialog", v)
		return
	}
	c.text("confirm.title", at+".title", o["title"], maxConfirmTitle, true)
	c.text("confirm.text", at+".text", o["text"], maxConfirmText, false)
	c.text("confirm.confirm", at+".confirm", o["confirm"], maxConfirmWord, true)
	c.text("confirm.deny", at+".deny", o["deny"], maxConfirmWord, true)
}

// selects checks a menu whose options come with it, in groups or not, and that what is chosen at first is one of them.
func (c *checker) selects(at string, e object) {
	groups := list(e["option_groups"])
	if len(groups) == 0 {
		c.options(at, e, 1, maxOptions, false)
		return
	}
	if e["options"] != nil {
		c.add("options", at, "both options and groups of them")
	}
	if len(groups) > maxOptions {
		c.add("option_groups", at+".option_groups", "%d groups, at most %d", len(groups), maxOptions)
	}
	for i, g := range groups {
		place := fmt.Sprintf("%s.option_groups[%d]", at, i)
		o, _ := g.(object)
		c.text("option_group.label", place+".label", o["label"], maxGroupLabel, true)
		c.options(place, o, 1, maxOptions, false)
	}
}

func (c *checker) options(at string, e object, least, most int, links bool) {
	options := list(e["options"])
	if n := len(options); n < least || n > most {
		c.add("options", at+".options", "%d options, %d to %d", n, least, most)
	}
	seen, values := map[string]string{}, map[string]bool{}
	for i, v := range options {
		place := fmt.Sprintf("%s.options[%d]", at, i)
		o, ok := v.(object)
		if !ok {
			c.add("options", place, "a %T instead of an option", v)
			continue
		}
		c.option(place, o, links, str(e["type"]) != "checkboxes" && str(e["type"]) != "radio_buttons")
		value := str(o["value"])
		if other, twice := seen[value]; twice {
			c.add("option.value", place+".value", "%q is that of %s already", value, other)
		}
		seen[value], values[key(o)] = place, true
	}
	chosen := list(e["initial_options"])
	if o := e["initial_option"]; o != nil {
		chosen = append(chosen, o)
	}
	for _, v := range chosen {
		if o, _ := v.(object); !values[key(o)] {
			c.add("initial_option", at+".initial_option", "%q is none of the options", str(o["value"]))
		}
	}
}

// key is what makes two options the same to Slack.
func key(o object) string {
	text, _ := o["text"].(object)
	return str(o["value"]) + "\x00" + str(text["text"])
}

func (c *checker) option(at string, o object, links, plain bool) {
	c.text("option.text", at+".text", o["text"], maxOptionText, plain)
	if o["description"] != nil {
		c.text("option.description", at+".description", o["description"], maxOptionText, plain)
	}
	c.most("option.value", at+".value", o["value"], maxOptionValue)
	if str(o["value"]) == "" {
		c.add("option.value", at+".value", "no letters, at least 1")
	}
	if o["url"] != nil {
		if !links {
			c.add("option.url", at+".url", "only an overflow menu has links")
		}
		c.most("option.url", at+".url", o["url"], maxURL)
	}
}

// typed checks a field into which people type.
func (c *checker) typed(at, kind string, e object) {
	c.most("input.initial_value", at+".initial_value", e["initial_value"], maxInput)
	if kind == "number_input" {
		if _, ok := e["is_decimal_allowed"].(bool); !ok {
			c.add("number_input", at+".is_decimal_allowed", "it must be said whether decimals are allowed")
		}
		return
	}
	for _, k := range []string{"min_length", "max_length"} {
		if n, ok := e[k].(float64); ok && (n < 0 || n > maxInput || k == "max_length" && n < 1) {
			c.add("input."+k, at+"."+k, "%v, at most %d", n, maxInput)
		}
	}
	if m, ok := e["max_length"].(float64); ok && float64(letters(str(e["initial_value"]))) > m {
		c.add("input.initial_value", at+".initial_value", "longer than max_length %v", m)
	}
}
