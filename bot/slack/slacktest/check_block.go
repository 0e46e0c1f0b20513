package slacktest

import "fmt"

// where says in which blocks an element may stand.
var where = map[string]map[string]bool{
	"button":                     {"section": true, "actions": true},
	"overflow":                   {"section": true, "actions": true},
	"static_select":              {"section": true, "actions": true, "input": true},
	"external_select":            {"section": true, "actions": true, "input": true},
	"users_select":               {"section": true, "actions": true, "input": true},
	"conversations_select":       {"section": true, "actions": true, "input": true},
	"channels_select":            {"section": true, "actions": true, "input": true},
	"multi_static_select":        {"section": true, "actions": true, "input": true},
	"multi_external_select":      {"section": true, "actions": true, "input": true},
	"multi_users_select":         {"section": true, "actions": true, "input": true},
	"datepicker":                 {"section": true, "actions": true, "input": true},
	"timepicker":                 {"section": true, "actions": true, "input": true},
	"datetimepicker":             {"actions": true, "input": true},
	"checkboxes":                 {"section": true, "actions": true, "input": true},
	"radio_buttons":              {"section": true, "actions": true, "input": true},
	"plain_text_input":           {"input": true},
	"number_input":               {"input": true},
	"email_text_input":           {"input": true},
	"url_text_input":             {"input": true},
	"image":                      {"section": true, "context": true},
	"mrkdwn":                     {"context": true},
	"plain_text":                 {"context": true},
	"multi_conversations_select": {"section": true, "actions": true, "input": true},
}

// block checks one block. Unknown types are reported too, since nothing would check them.
func (c *checker) block(at string, v any) {
	b, ok := v.(object)
	if !ok {
		c.add("block", at, "a %T instead of a block", v)
		return
	}
	c.id("block_id", at+".block_id", b["block_id"], c.blocks)
	switch kind := str(b["type"]); kind {
	case "divider":
	case "header":
		c.text("header.text", at+".text", b["text"], maxHeader, true)
	case "section":
		c.section(at, b)
	case "context":
		c.row(at, kind, b, maxContext)
	case "actions":
		c.row(at, kind, b, maxActions)
	case "image":
		c.image(at, b)
		if b["title"] != nil {
			c.text("image.title", at+".title", b["title"], maxAlt, true)
		}
	case "input":
		c.input(at, b)
	case "rich_text":
		c.rich(at, b)
	case "markdown":
		c.most("markdown.text", at+".text", b["text"], maxMarkdown)
		c.letters += letters(str(b["text"]))
		if c.surface != inMessage {
			c.add("block.placement", at, "a markdown block in a %s", c.surface)
		}
	default:
		c.add("block.type", at, "%q is no type of a block that is known here", b["type"])
	}
}

func (c *checker) section(at string, b object) {
	fields := list(b["fields"])
	if b["text"] != nil || len(fields) == 0 {
		c.text("section.text", at+".text", b["text"], maxText, false)
	}
	if len(fields) > maxFields {
		c.add("section.fields", at+".fields", "%d fields, at most %d", len(fields), maxFields)
	}
	for i, f := range fields {
		c.text("section.field", fmt.Sprintf("%s.fields[%d]", at, i), f, maxField, false)
	}
	if a, ok := b["accessory"].(object); ok {
		c.element(at+".accessory", "section", a, map[string]string{})
	}
}

// row checks the elements of a context or a row of actions.
func (c *checker) row(at, kind string, b object, most int) {
	elements := list(b["elements"])
	if n := len(elements); n == 0 || n > most {
		c.add(kind+".elements", at+".elements", "%d elements, 1 to %d", n, most)
	}
	seen := map[string]string{}
	for i, e := range elements {
		place := fmt.Sprintf("%s.elements[%d]", at, i)
		if o, ok := e.(object); ok {
			c.element(place, kind, o, seen)
		} else {
			c.add("element", place, "a %T instead of an element", e)
		}
	}
}

func (c *checker) image(at string, o object) {
	c.most("image.url", at+".image_url", o["image_url"], maxURL)
	c.most("image.alt_text", at+".alt_text", o["alt_text"], maxAlt)
	if str(o["alt_text"]) == "" || str(o["image_url"]) == "" && o["slack_file"] == nil {
		c.add("image", at, "an image needs a URL and an alternative text")
	}
}

func (c *checker) input(at string, b object) {
	c.inputs++
	c.text("input.label", at+".label", b["label"], maxLabel, true)
	if b["hint"] != nil {
		c.text("input.hint", at+".hint", b["hint"], maxLabel, true)
	}
	e, ok := b["element"].(object)
	if !ok {
		c.add("input.element", at+".element", "an input without an element")
		return
	}
	c.element(at+".element", "input", e, map[string]string{})
}

// richBlocks are the parts of a rich text, with their elements.
var richBlocks = map[string]bool{"rich_text_section": true, "rich_text_preformatted": true, "rich_text_quote": true, "rich_text_list": true}

var richLeaves = map[string]bool{"text": true, "link": true, "emoji": true, "date": true, "color": true, "user": true, "channel": true}

// rich checks a rich text, in which nothing is read as markup.
func (c *checker) rich(at string, b object) {
	parts := list(b["elements"])
	if len(parts) == 0 {
		c.add("rich_text", at+".elements", "no elements, at least 1")
	}
	for i, v := range parts {
		place := fmt.Sprintf("%s.elements[%d]", at, i)
		p, _ := v.(object)
		if !richBlocks[str(p["type"])] {
			c.add("rich_text", place, "%q is no part of a rich text", p["type"])
			continue
		}
		if str(p["type"]) == "rich_text_list" {
			c.rich(place, p)
			continue
		}
		for j, v := range list(p["elements"]) {
			place := fmt.Sprintf("%s.elements[%d]", place, j)
			e, _ := v.(object)
			switch kind := str(e["type"]); {
			case kind == "broadcast" || kind == "usergroup":
				c.add("ping", place, "it mentions everyone: %v", e)
			case !richLeaves[kind]:
				c.add("rich_text", place, "%q is no element of a rich text that is known here", e["type"])
			case kind == "text" && str(e["text"]) == "":
				c.add("rich_text", place, "no letters, at least 1")
			}
			c.letters += letters(str(e["text"]))
		}
	}
}
