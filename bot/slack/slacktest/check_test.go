package slacktest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func many(n int) string { return strings.Repeat("é", n) }

func plain(text string) object { return object{"type": "plain_text", "text": text} }

func mrkdwn(text string) object { return object{"type": "mrkdwn", "text": text} }

func repeat(n int, f func(i int) any) (list []any) {
	for i := range n {
		list = append(list, f(i))
	}
	return list
}

func button(change object) object {
	b := object{"type": "button", "action_id": "a", "text": plain("Go")}
	for k, v := range change {
		b[k] = v
	}
	return b
}

func actions(elements ...any) object { return object{"type": "actions", "elements": elements} }

func opt(i int) any { return object{"text": plain(fmt.Sprint("o", i)), "value": fmt.Sprint("v", i)} }

func menu(change object) object {
	m := object{"type": "static_select", "action_id": "m", "options": []any{opt(0)}}
	for k, v := range change {
		m[k] = v
	}
	return m
}

func input(element object) object {
	return object{"type": "input", "label": plain("Name"), "element": element}
}

func typed(change object) object {
	e := object{"type": "plain_text_input", "action_id": "t"}
	for k, v := range change {
		e[k] = v
	}
	return e
}

func dialog(change object) object {
	d := object{"title": plain("Sure?"), "text": plain("All is lost."), "confirm": plain("Yes"), "deny": plain("No")}
	for k, v := range change {
		d[k] = v
	}
	return button(object{"confirm": d})
}

func pre(e object) object {
	return object{"type": "rich_text", "elements": []any{object{"type": "rich_text_preformatted", "elements": []any{e}}}}
}

func modal(change object) object {
	v := object{"type": "modal", "title": plain("New"), "submit": plain("Go"), "blocks": []any{input(typed(nil))}}
	for k, v2 := range change {
		v[k] = v2
	}
	return v
}

// broken are contents of which each breaks one rule.
var broken = []struct {
	rule    string
	content any // one block, a list of blocks, or a whole message or view
}{
	{"message.text", object{"text": many(maxMessageText + 1)}},
	{"message.text", object{"text": 5.0, "blocks": []any{object{"type": "divider"}}}},
	{"no_text", object{"text": " "}},
	{"message.fallback", object{"text": "", "blocks": []any{object{"type": "divider"}}}},
	{"message.blocks", repeat(51, func(int) any { return object{"type": "divider"} })},
	{"button.text", actions(button(object{"text": plain(strings.Repeat("😀", 38))}))},
	{"message.letters", repeat(5, func(int) any { return object{"type": "section", "text": plain(many(2900))} })},
	{"blocks", object{"text": "x", "blocks": "y"}},
	{"block", []any{"x"}},
	{"block.type", object{"type": "banner"}},
	{"block_id", object{"type": "divider", "block_id": many(256)}},
	{"block_id", []any{object{"type": "divider", "block_id": "b"}, object{"type": "divider", "block_id": "b"}}},
	{"ping", object{"text": "hello <!channel>"}},
	{"ping", object{"type": "section", "text": mrkdwn("<!subteam^S1|all>")}},
	{"nul", object{"type": "section", "text": plain("a\x00b")}},
	{"header.text", object{"type": "header", "text": plain(many(151))}},
	{"header.text", object{"type": "header", "text": mrkdwn("x")}},
	{"section.text", object{"type": "section", "text": plain(many(3001))}},
	{"section.text", object{"type": "section", "text": plain("")}},
	{"section.text", object{"type": "section"}},
	{"text.type", object{"type": "section", "text": object{"type": "html", "text": "x"}}},
	{"text.emoji", object{"type": "section", "text": object{"type": "mrkdwn", "text": "x", "emoji": true}}},
	{"text.verbatim", object{"type": "section", "text": object{"type": "plain_text", "text": "x", "verbatim": true}}},
	{"section.fields", object{"type": "section", "fields": repeat(11, func(int) any { return plain("x") })}},
	{"section.field", object{"type": "section", "fields": []any{plain(many(2001))}}},
	{"context.elements", object{"type": "context", "elements": repeat(11, func(int) any { return plain("x") })}},
	{"context.elements", object{"type": "context"}},
	{"context.text", object{"type": "context", "elements": []any{plain(many(3001))}}},
	{"actions.elements", actions(repeat(26, func(i int) any { return button(object{"action_id": fmt.Sprint(i)}) })...)},
	{"actions.elements", actions()},
	{"element", actions("x")},
	{"element.type", actions(object{"type": "lever"})},
	{"element.placement", actions(typed(nil))},
	{"element.placement", object{"type": "context", "elements": []any{button(nil)}}},
	{"action_id", actions(button(nil), button(nil))},
	{"action_id", actions(button(object{"action_id": many(256)}))},
	{"button.text", actions(button(object{"text": plain(many(76))}))},
	{"button.text", actions(button(object{"text": mrkdwn("x")}))},
	{"button.value", actions(button(object{"value": many(2001)}))},
	{"button.url", actions(button(object{"url": "https://m.test/" + many(3000)}))},
	{"button.url", actions(button(object{"url": "clusters"}))},
	{"button.accessibility_label", actions(button(object{"accessibility_label": many(76)}))},
	{"button.style", actions(button(object{"style": "green"}))},
	{"confirm", actions(button(object{"confirm": "sure"}))},
	{"confirm.title", actions(dialog(object{"title": plain(many(101))}))},
	{"confirm.text", actions(dialog(object{"text": plain(many(301))}))},
	{"confirm.confirm", actions(dialog(object{"confirm": plain(many(31))}))},
	{"confirm.deny", actions(dialog(object{"deny": plain(many(31))}))},
	{"options", actions(menu(object{"options": repeat(101, opt)}))},
	{"options", actions(menu(object{"options": []any{}}))},
	{"options", actions(object{"type": "overflow", "action_id": "o", "options": repeat(6, opt)})},
	{"options", actions(object{"type": "checkboxes", "action_id": "o", "options": repeat(11, opt)})},
	{"options", actions(object{"type": "radio_buttons", "action_id": "o", "options": []any{"x"}})},
	{"option_groups", actions(menu(object{"options": nil, "option_groups": repeat(101, func(int) any { return object{"label": plain("g"), "options": []any{opt(0)}} })}))},
	{"option_group.label", actions(menu(object{"options": nil, "option_groups": []any{object{"label": plain(many(76)), "options": []any{opt(0)}}}}))},
	{"option.text", actions(menu(object{"options": []any{object{"text": plain(many(76)), "value": "v"}}}))},
	{"option.text", actions(menu(object{"options": []any{object{"text": mrkdwn("x"), "value": "v"}}}))},
	{"option.description", actions(menu(object{"options": []any{object{"text": plain("x"), "value": "v", "description": plain(many(76))}}}))},
	{"option.value", actions(menu(object{"options": []any{object{"text": plain("x"), "value": many(151)}}}))},
	{"option.value", actions(menu(object{"options": []any{object{"text": plain("x"), "value": ""}}}))},
	{"option.value", actions(menu(object{"options": []any{opt(1), opt(1)}}))},
	{"option.url", actions(menu(object{"options": []any{object{"text": plain("x"), "value": "v", "url": "https://m.test"}}}))},
	{"initial_option", actions(menu(object{"initial_option": opt(7)}))},
	{"placeholder", actions(menu(object{"placeholder": plain(many(151))}))},
	{"focus", []any{input(typed(object{"focus_on_load": true})), input(typed(object{"focus_on_load": true}))}},
	{"image", object{"type": "image", "image_url": "https://m.test/x.png"}},
	{"image.url", object{"type": "image", "image_url": many(3001), "alt_text": "x"}},
	{"image.alt_text", object{"type": "image", "image_url": "https://m.test/x.png", "alt_text": many(2001)}},
	{"image.title", object{"type": "image", "image_url": "https://m.test/x.png", "alt_text": "x", "title": plain(many(2001))}},
	{"markdown.text", object{"type": "markdown", "text": many(12001)}},
	{"rich_text", object{"type": "rich_text"}},
	{"rich_text", object{"type": "rich_text", "elements": []any{object{"type": "section"}}}},
	{"rich_text", pre(object{"type": "text", "text": ""})},
	{"rich_text", pre(object{"type": "button"})},
	{"ping", pre(object{"type": "broadcast", "range": "channel"})},
	{"input.label", object{"type": "input", "label": plain(many(2001)), "element": typed(nil)}},
	{"input.hint", object{"type": "input", "label": plain("x"), "hint": plain(many(2001)), "element": typed(nil)}},
	{"input.element", object{"type": "input", "label": plain("x")}},
	{"input.initial_value", input(typed(object{"initial_value": many(3001)}))},
	{"input.initial_value", input(typed(object{"initial_value": "long", "max_length": 3.0}))},
	{"input.max_length", input(typed(object{"max_length": 3001.0}))},
	{"input.min_length", input(typed(object{"min_length": -1.0}))},
	{"number_input", input(object{"type": "number_input", "action_id": "n"})},
	{"view.type", modal(object{"type": "popup"})},
	{"view.size", modal(object{"blocks": repeat(100, func(int) any { return object{"type": "section", "text": plain(many(2900))} })})},
	{"view.blocks", modal(object{"blocks": repeat(101, func(int) any { return object{"type": "divider"} })})},
	{"view.blocks", modal(object{"blocks": []any{}})},
	{"view.title", modal(object{"title": plain(many(25))})},
	{"view.title", modal(object{"title": nil})},
	{"view.title", object{"type": "home", "title": plain("x"), "blocks": []any{object{"type": "divider"}}}},
	{"view.submit", modal(object{"submit": plain(many(25))})},
	{"view.submit", modal(object{"submit": nil})},
	{"view.close", modal(object{"close": plain(many(25))})},
	{"view.private_metadata", modal(object{"private_metadata": many(3001)})},
	{"view.callback_id", modal(object{"callback_id": many(256)})},
	{"view.external_id", modal(object{"external_id": many(256)})},
	{"block.placement", modal(object{"blocks": []any{object{"type": "markdown", "text": "x"}}})},
}

// content returns what a case says as a message or a view.
func content(v any) (whole object, isView bool) {
	switch v := v.(type) {
	case []any:
		return object{"text": "x", "blocks": v}, false
	case object:
		kind := str(v["type"])
		if v["title"] != nil && v["image_url"] == nil || kind == "modal" || kind == "home" || kind == "popup" {
			return v, true
		}
		if kind != "" {
			return object{"text": "x", "blocks": []any{v}}, false
		}
		return v, false
	}
	panic("no content")
}

func check(t *testing.T, v any) []Violation {
	whole, isView := content(v)
	text, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	if isView {
		return CheckView("test", text)
	}
	return CheckMessage("test", text)
}

func TestEachLimitIsKept(t *testing.T) {
	for i, c := range broken {
		found := check(t, c.content)
		if len(found) != 1 && c.rule != "view.size" && c.rule != "message.text" && c.rule != "markdown.text" || len(found) == 0 || found[0].Rule != c.rule {
			t.Errorf("%d: %s is found as %v", i, c.rule, found)
		}
	}
	for _, text := range []string{"{", "null", "[]", "\"\xff\""} {
		if len(CheckMessage("test", []byte(text)))+len(CheckView("test", []byte(text))) == 0 {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestMessagesWithinTheLimits(t *testing.T) {
	for i, c := range []any{
		repeat(50, func(int) any { return object{"type": "divider"} }),
		object{"type": "header", "text": plain(many(150))},
		object{"type": "section", "text": mrkdwn(many(3000)), "fields": repeat(10, func(int) any { return plain("x") })},
		actions(repeat(25, func(i int) any {
			return button(object{"action_id": fmt.Sprint(i), "value": many(2000), "text": plain(many(75))})
		})...),
		actions(menu(object{"options": repeat(100, opt), "initial_option": opt(99), "placeholder": plain(many(150))}), dialog(nil)),
		modal(object{"title": plain(many(24)), "private_metadata": many(3000)}),
		object{"type": "home", "blocks": repeat(100, func(int) any { return object{"type": "divider"} })},
		pre(object{"type": "text", "text": "<!channel>"}),
		object{"text": "&lt;!channel&gt; <@U1>"},
	} {
		if found := check(t, c); len(found) > 0 {
			t.Errorf("%d: %v", i, found)
		}
	}
}
