package slacktest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
)

// Modal waits for a modal that says all of these on someone's screen, and returns it.
func (u *User) Modal(says ...string) (v *View) {
	s := u.w.s
	s.t.Helper()
	s.Wait(fmt.Sprintf("%s sees no modal that says %q", u.Name, says), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(u.modals) == 0 {
			return false
		}
		v = u.modals[len(u.modals)-1]
		text := v.text()
		for _, w := range says {
			if !strings.Contains(text, w) {
				return false
			}
		}
		return true
	})
	return v
}

// Modals tells how many are above each other on someone's screen.
func (u *User) Modals() int {
	u.w.s.mu.Lock()
	defer u.w.s.mu.Unlock()
	return len(u.modals)
}

func (v *View) text() string {
	title, _ := v.body["title"].(object)
	submit, _ := v.body["submit"].(object)
	return str(title["text"]) + "\n" + words(list(v.body["blocks"])) + "\n" + str(submit["text"])
}

// Text is all that the view shows.
func (v *View) Text() string {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	return v.text()
}

// Says reports whether the view shows all of these now.
func (v *View) Says(words ...string) bool {
	text := v.Text()
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// Until waits until the view says all of these.
func (v *View) Until(words ...string) *View {
	v.s.t.Helper()
	v.s.Wait(fmt.Sprintf("the view does not say %q", words), func() bool { return v.Says(words...) })
	return v
}

// Shown tells how often the app has filled the view.
func (v *View) Shown() int {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	return v.shown
}

// must finds what has a label; the lock is held, and given up where there is none.
func (v *View) must(label string) hit {
	h, found := seek(list(v.body["blocks"]), label)
	if !found {
		text := v.text()
		v.s.mu.Unlock()
		v.s.t.Fatalf("there is no %q in the view:\n%s", label, text)
	}
	return h
}

// container says where in a view something was done.
func (v *View) container() object { return object{"type": "view", "view_id": v.ID} }

// Press presses a button of the view.
func (v *View) Press(label string) *Reply {
	v.s.t.Helper()
	v.s.mu.Lock()
	return v.act(v.must(label))
}

// act tells the app that something was pressed or chosen; the lock is held, and given up.
func (v *View) act(h hit) *Reply {
	payload := v.user.action(h, v.container())
	payload["view"] = v.payload()
	d := v.s.prepare("interactive", v.s.c.ActionPath, payload)
	ch := v.user.direct()
	v.s.mu.Unlock()
	return &Reply{s: v.s, u: v.user, channel: ch, d: d, Outcome: d.again(0, "")}
}

// Fill types or chooses something in the field of a label. In menus whose options the app returns, it types first.
func (v *View) Fill(label, value string) *View {
	v.s.t.Helper()
	v.s.mu.Lock()
	h := v.must(label)
	kind := str(h.element["type"])
	held := object{"type": kind}
	choose := func(o object) object {
		if o == nil {
			text := v.text()
			v.s.mu.Unlock()
			v.s.t.Fatalf("%q cannot be chosen for %q:\n%s", value, label, text)
		}
		return o
	}
	switch kind {
	case "static_select", "radio_buttons":
		held["selected_option"] = choose(option(h.element, value))
	case "checkboxes", "multi_static_select":
		chosen := []any{}
		for name := range strings.SplitSeq(value, ",") {
			if name = strings.TrimSpace(name); name != "" {
				chosen = append(chosen, choose(option(h.element, name)))
			}
		}
		held["selected_options"] = chosen
	case "external_select":
		held["selected_option"] = choose(option(object{"options": v.suggest(h, value)}, value))
	case "datepicker":
		held["selected_date"] = value
	case "timepicker":
		held["selected_time"] = value
	case "users_select":
		held["selected_user"] = value
	case "channels_select":
		held["selected_channel"] = value
	case "conversations_select":
		held["selected_conversation"] = value
	default:
		held["value"] = value
		if value == "" {
			held["value"] = nil
		}
	}
	v.state[str(h.block["block_id"])][str(h.element["action_id"])] = held
	if h.block["dispatch_action"] != true && str(h.block["type"]) == "input" {
		v.s.mu.Unlock()
		return v
	}
	h.option, _ = held["selected_option"].(object)
	element := maps.Clone(h.element)
	maps.Copy(element, held)
	h.element = element
	v.act(h)
	return v
}

// suggest asks the app for options; the lock is held, and given up meanwhile.
func (v *View) suggest(h hit, typed string) []any {
	d := v.s.prepare("interactive", v.s.c.OptionsPath, object{"type": "block_suggestion", "user": v.user.who(), "team": object{"id": v.user.w.ID, "domain": v.user.w.Domain},
		"api_app_id": v.s.c.AppID, "token": "unused", "container": v.container(), "view": v.payload(), "action_id": h.element["action_id"], "block_id": h.block["block_id"], "value": typed})
	v.s.mu.Unlock()
	o := d.again(0, "")
	v.s.mu.Lock()
	var m object
	_ = json.Unmarshal(o.Body, &m)
	k := &checker{surface: inModal, call: "block_suggestion"}
	if m["option_groups"] == nil {
		k.options("", m, 0, maxOptions, false)
	} else {
		k.selects("", m)
	}
	v.s.judge(k)
	all := list(m["options"])
	for _, g := range list(m["option_groups"]) {
		g, _ := g.(object)
		all = append(all, list(g["options"])...)
	}
	return all
}

// missing returns the label of a field that must be filled and is not; the lock is held.
func (v *View) missing() (label, why string) {
	for _, b := range list(v.body["blocks"]) {
		o, _ := b.(object)
		e, _ := o["element"].(object)
		if str(o["type"]) != "input" {
			continue
		}
		text, _ := o["label"].(object)
		held := v.state[str(o["block_id"])][str(e["action_id"])]
		value := str(held["value"])
		empty := value == "" && held["selected_option"] == nil && len(list(held["selected_options"])) == 0 && held["selected_date"] == nil &&
			held["selected_time"] == nil && held["selected_user"] == nil && held["selected_channel"] == nil && held["selected_conversation"] == nil
		if empty && o["optional"] != true {
			return str(text["text"]), "must be filled"
		}
		if str(e["type"]) == "number_input" && !empty {
			n, err := strconv.ParseFloat(value, 64)
			least, e1 := strconv.ParseFloat(str(e["min_value"]), 64)
			most, e2 := strconv.ParseFloat(str(e["max_value"]), 64)
			if err != nil || e["is_decimal_allowed"] != true && n != math.Trunc(n) || e1 == nil && n < least || e2 == nil && n > most {
				return str(text["text"]), "is no such number"
			}
		}
		if n, ok := e["max_length"].(float64); ok && letters(value) > int(n) {
			return str(text["text"]), "is too long"
		}
		if n, ok := e["min_length"].(float64); ok && !empty && letters(value) < int(n) {
			return str(text["text"]), "is too short"
		}
	}
	return "", ""
}

// Submit sends the view off, as its button does. Where a field is missing, Slack itself says so and the app is not asked.
func (v *View) Submit() *Reply {
	s, u := v.s, v.user
	s.t.Helper()
	s.mu.Lock()
	if label, why := v.missing(); label != "" {
		s.mu.Unlock()
		return &Reply{s: s, u: u, Errors: map[string]string{label: why}}
	}
	d := s.prepare("interactive", s.c.ActionPath, object{"type": "view_submission", "team": object{"id": u.w.ID, "domain": u.w.Domain}, "user": u.who(), "api_app_id": s.c.AppID,
		"token": "unused", "trigger_id": s.trigger(u), "view": v.payload(), "response_urls": []any{}, "is_enterprise_install": false, "enterprise": nil})
	r := &Reply{s: s, u: u, channel: u.direct(), d: d, Errors: map[string]string{}}
	s.mu.Unlock()
	r.Outcome = d.again(0, "")
	s.mu.Lock()
	defer s.mu.Unlock()
	if !r.Outcome.ok() {
		return r
	}
	var m object
	if body := strings.TrimSpace(string(r.Outcome.Body)); body != "" && json.Unmarshal([]byte(body), &m) != nil {
		s.violate("response_action", "view_submission", "an answer that is not JSON: %.100s", body)
		return r
	}
	view, _ := m["view"].(object)
	switch action := str(m["response_action"]); action {
	case "":
		u.closeFrom(v)
	case "clear":
		u.closeFrom(u.modals[0])
	case "update":
		if s.judgeView("response_action update", view, inModal) == "" {
			v.fill(view)
		}
	case "push":
		if s.judgeView("response_action push", view, inModal) == "" {
			s.push("response_action push", u, view)
		}
	case "errors":
		v.refused(m, r)
	default:
		s.violate("response_action", "view_submission", "%q is none", action)
	}
	return r
}

// refused shows what the app says is wrong with fields; the lock is held.
func (v *View) refused(m object, r *Reply) {
	texts, _ := m["errors"].(object)
	if len(texts) == 0 {
		v.s.violate("response_action", "view_submission", "errors without one")
	}
	for block, text := range texts {
		label := ""
		for _, b := range list(v.body["blocks"]) {
			if o, _ := b.(object); str(o["block_id"]) == block && str(o["type"]) == "input" {
				l, _ := o["label"].(object)
				label = str(l["text"])
			}
		}
		if label == "" || str(text) == "" {
			v.s.violate("response_action", "view_submission", "an error of %q, which is no input, or without words", block)
		}
		r.Errors[label] = str(text)
	}
}

// Cancel closes the view, and notifies the app if it has asked for that.
func (v *View) Cancel() {
	s, u := v.s, v.user
	s.mu.Lock()
	u.closeFrom(v)
	if v.body["notify_on_close"] != true {
		s.mu.Unlock()
		return
	}
	d := s.prepare("interactive", s.c.ActionPath, object{"type": "view_closed", "team": object{"id": u.w.ID, "domain": u.w.Domain}, "user": u.who(), "api_app_id": s.c.AppID,
		"token": "unused", "view": v.payload(), "is_cleared": false})
	s.mu.Unlock()
	d.again(0, "")
}
