package slacktest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Member is someone in a channel.
type Member struct {
	u *User
	c *Channel
}

// In returns someone's seat in a channel.
func (u *User) In(c *Channel) Member { return Member{u, c} }

// Reply is what came of something that someone did.
type Reply struct {
	s       *Slack
	u       *User
	channel *Channel
	d       *Delivery
	Outcome Outcome
	Errors  map[string]string // of a modal that was not taken, by the labels of its inputs
}

// Says types a slash command of the app.
func (p Member) Says(text string) *Reply {
	p.u.w.s.t.Helper()
	s, u := p.u.w.s, p.u
	command, rest, _ := strings.Cut(text, " ")
	s.mu.Lock()
	payload := object{"token": "unused", "team_id": u.w.ID, "team_domain": u.w.Domain, "channel_id": p.c.ID, "channel_name": p.c.Name, "user_id": u.ID, "user_name": u.Name,
		"command": command, "text": rest, "api_app_id": s.c.AppID, "is_enterprise_install": "false", "trigger_id": s.trigger(u)}
	cause := s.next("cause")
	payload["response_url"] = s.responseURL("commands", u, p.c, nil, cause)
	d := s.prepare("slash_commands", s.c.CommandPath, payload)
	d.ID = cause
	s.mu.Unlock()
	r := &Reply{s: s, u: u, channel: p.c, d: d}
	r.Outcome = d.again(0, "")
	s.mu.Lock()
	defer s.mu.Unlock()
	if body := strings.TrimSpace(string(r.Outcome.Body)); r.Outcome.ok() && body != "" {
		var m object
		if json.Unmarshal([]byte(body), &m) != nil {
			m = object{"text": body}
		}
		if len(m) > 0 {
			s.place(&response{user: u, channel: p.c, cause: cause}, m, "answer to "+command)
		}
	}
	return r
}

// Delivery is its delivery to the app.
func (r *Reply) Delivery() *Delivery { return r.d }

// told are the messages that answer it, oldest first.
func (r *Reply) notified() (list []*Message) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for _, m := range r.channel.messages {
		if !m.deleted && (m.cause == r.d.ID || slices.Contains(m.answers, r.d.ID)) {
			list = append(list, m)
		}
	}
	return list
}

// Answer waits for an answer that says all of these.
func (r *Reply) Answer(words ...string) (m *Message) {
	r.s.t.Helper()
	r.s.Wait(fmt.Sprintf("%s is not answered %q", r.d.what(), words), func() bool { m = newest(r.notified(), words); return m != nil })
	return m
}

// Says reports whether an answer says all of these by now.
func (r *Reply) Says(words ...string) bool { return newest(r.notified(), words) != nil }

// who is someone as interactions name them; the lock is held.
func (u *User) who() object {
	return object{"id": u.ID, "username": u.Name, "name": u.Name, "team_id": u.home}
}

// hit is a place at which something can be done.
type hit struct{ block, element, option object }

// seek finds what people know by a label: a button, an option of a menu, or else a menu or field by its label or placeholder.
func seek(blocks []any, label string) (h hit, found bool) {
	says := func(v any) bool { o, _ := v.(object); return str(o["text"]) == label }
	var second hit
	for _, b := range blocks {
		o, _ := b.(object)
		for _, e := range append([]any{o["accessory"], o["element"]}, list(o["elements"])...) {
			e, ok := e.(object)
			if !ok || !interactive(e) {
				continue
			}
			if says(e["text"]) {
				return hit{o, e, nil}, true
			}
			if str(e["type"]) == "overflow" {
				for _, v := range list(e["options"]) {
					if v, _ := v.(object); says(v["text"]) {
						return hit{o, e, v}, true
					}
				}
			}
			if says(o["label"]) || says(e["placeholder"]) {
				second = hit{o, e, nil}
			}
		}
	}
	return second, second.block != nil
}

// option finds an option of a menu by what it says.
func option(e object, label string) object {
	all := list(e["options"])
	for _, g := range list(e["option_groups"]) {
		o, _ := g.(object)
		all = append(all, list(o["options"])...)
	}
	for _, v := range all {
		o, _ := v.(object)
		if t, _ := o["text"].(object); str(t["text"]) == label {
			return o
		}
	}
	return nil
}

// labels are all that can be pressed.
func labels(blocks []any) (names []string) {
	for _, b := range blocks {
		o, _ := b.(object)
		for _, e := range append([]any{o["accessory"]}, list(o["elements"])...) {
			e, _ := e.(object)
			if t, _ := e["text"].(object); str(e["type"]) == "button" {
				names = append(names, str(t["text"]))
			}
			for _, v := range list(e["options"]) {
				v, _ := v.(object)
				t, _ := v["text"].(object)
				names = append(names, str(t["text"]))
			}
		}
	}
	return names
}

// Buttons are the labels that can be pressed.
func (m *Message) Buttons() []string {
	m.channel.w.s.mu.Lock()
	defer m.channel.w.s.mu.Unlock()
	return labels(m.blocks)
}

// Link is where the button of a label leads; "" where it leads nowhere.
func (m *Message) Link(label string) string {
	m.channel.w.s.mu.Lock()
	defer m.channel.w.s.mu.Unlock()
	h, _ := seek(m.blocks, label)
	return str(h.element["url"])
}

// Press presses what has this label in a message, and agrees where the app asks whether that is meant.
func (u *User) Press(m *Message, label string) *Reply {
	u.w.s.t.Helper()
	return u.PressOften(m, label, 1)[0]
}

// PressOften presses what has this label n times before an answer can change the message.
func (u *User) PressOften(m *Message, label string, n int) (replies []*Reply) {
	s := u.w.s
	s.t.Helper()
	s.mu.Lock()
	h, found := seek(m.blocks, label)
	if !found || m.deleted || m.to != nil && m.to != u {
		text := m.shows()
		s.mu.Unlock()
		s.t.Fatalf("%s cannot press %q here:\n%s", u.Name, label, text)
		return nil
	}
	for range n {
		cause := s.next("cause")
		container := object{"type": "message", "message_ts": m.TS, "channel_id": m.channel.ID, "is_ephemeral": m.to != nil}
		payload := u.action(h, container)
		payload["channel"] = object{"id": m.channel.ID, "name": m.channel.Name}
		payload["response_url"] = s.responseURL("actions", u, m.channel, m, cause)
		if m.to == nil {
			payload["message"] = object{"type": "message", "user": u.w.Bot, "bot_id": "B" + u.w.ID, "ts": m.TS, "text": m.text, "blocks": m.blocks}
		}
		d := s.prepare("interactive", s.c.ActionPath, payload)
		d.ID = cause
		replies = append(replies, &Reply{s: s, u: u, channel: m.channel, d: d})
	}
	s.mu.Unlock()
	for _, r := range replies {
		r.Outcome = r.d.again(0, "")
	}
	return replies
}

// action is the payload of something that was pressed or chosen; the lock is held.
func (u *User) action(h hit, container object) object {
	s := u.w.s
	a := object{"type": h.element["type"], "action_id": h.element["action_id"], "block_id": h.block["block_id"], "action_ts": s.stamp()}
	for _, k := range []string{"text", "value", "style"} {
		if h.element[k] != nil {
			a[k] = h.element[k]
		}
	}
	if h.option != nil {
		a["selected_option"] = h.option
	}
	return object{"type": "block_actions", "user": u.who(), "api_app_id": s.c.AppID, "token": "unused", "container": container, "trigger_id": s.trigger(u),
		"team": object{"id": u.w.ID, "domain": u.w.Domain}, "enterprise": nil, "is_enterprise_install": false, "state": object{"values": object{}}, "actions": []any{a}}
}

// Home opens a person's home, and returns it once the app has published it.
func (u *User) Home() *View {
	s := u.w.s
	s.t.Helper()
	s.mu.Lock()
	before := 0
	event := object{"type": "app_home_opened", "user": u.ID, "channel": u.direct().ID, "tab": "home"}
	if u.homeView != nil {
		before, event["view"] = u.homeView.shown, u.homeView.payload()
	}
	s.mu.Unlock()
	u.w.Event(event)
	s.Wait("the home of "+u.Name+" is not filled", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return u.homeView != nil && (u.homeView.shown > before || before > 0)
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	return u.homeView
}

// Mentions posts a message that mentions the app, and delivers the event.
func (p Member) Mentions(text string) *Message {
	s := p.u.w.s
	s.mu.Lock()
	if !s.scope("app_mentions:read") {
		s.violate("scope", "app_mention", "the app has no scope app_mentions:read")
	}
	m := &Message{channel: p.c, TS: s.stamp(), by: p.u}
	text = "<@" + p.u.w.Bot + "> " + strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	m.set(text, nil)
	p.c.messages = append(p.c.messages, m)
	event := object{"type": "app_mention", "user": p.u.ID, "channel": p.c.ID, "ts": m.TS, "event_ts": m.TS, "text": text}
	s.mu.Unlock()
	p.u.w.Event(event)
	return m
}

// Shares posts a message with links in a channel, and delivers the event if the app has subscribed to it.
func (p Member) Shares(domain string, links ...string) *Message {
	s := p.u.w.s
	s.mu.Lock()
	m := &Message{channel: p.c, TS: s.stamp(), by: p.u, unfurls: object{"id": s.next("unfurl"), "links": links}}
	m.set(strings.Join(links, " "), nil)
	p.c.messages = append(p.c.messages, m)
	var notified []any
	for _, l := range links {
		notified = append(notified, object{"domain": domain, "url": l})
	}
	event := object{"type": "link_shared", "user": p.u.ID, "channel": p.c.ID, "message_ts": m.TS, "links": notified, "unfurl_id": m.unfurls["id"],
		"source": "conversations_history", "is_bot_user_member": p.c.bot}
	s.mu.Unlock()
	p.u.w.Event(event)
	return m
}

// Uninstall removes the app from the workspace: it revokes its tokens and delivers the events.
func (w *Workspace) Uninstall() {
	w.s.mu.Lock()
	w.remove()
	w.s.mu.Unlock()
	w.Event(object{"type": "tokens_revoked", "tokens": object{"oauth": []any{}, "bot": []any{w.Bot}}})
	w.Event(object{"type": "app_uninstalled"})
}
