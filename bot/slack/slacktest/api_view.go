package slacktest

import (
	"encoding/json"
	"maps"
	"slices"
)

// viewAPI plays views.*: modals and homes.
type viewAPI struct {
	*core
	triggers map[string]*trigger
	views    map[string]*View
}

// View is a modal that someone has open, or their home.
type View struct {
	s    *Slack
	ID   string
	user *User

	body   object // as the app gave it, with the ids that Slack adds
	hash   string
	below  *View
	state  map[string]map[string]object // by block and action
	errors map[string]string            // by block
	shown  int
	closed bool
}

// trigger is what lets the app open a modal for someone.
type trigger struct {
	user *User
	made int64 // in nanoseconds
	used bool
}

// trigger returns one for a click or a command; the lock is held.
func (s *viewAPI) trigger(u *User) string {
	id := s.next("trigger-" + u.ID + "-")
	s.triggers[id] = &trigger{user: u, made: s.now().UnixNano()}
	return id
}

// pull uses a trigger; it returns Slack's word for what is wrong with it.
func (s *viewAPI) pull(c *call) (*User, string) {
	id := c.str("trigger_id")
	t := s.triggers[id]
	switch {
	case t == nil || t.user.w != c.team:
		s.violate("trigger", c.method, "a trigger_id that is none: %q", id)
		return nil, "invalid_trigger_id"
	case t.used:
		s.violate("trigger.used", c.method, "a trigger_id that was used already")
		return nil, "exchanged_trigger_id"
	case s.now().UnixNano()-t.made > int64(triggerLife):
		s.violate("trigger.late", c.method, "a trigger_id that is older than %s", triggerLife)
		return nil, "expired_trigger_id"
	}
	t.used = true
	return t.user, ""
}

// wanted reads and checks the view of a call.
func (s *viewAPI) wanted(c *call, kind surface) (object, string) {
	v, ok := c.json(s.core, "view").(object)
	if !ok {
		s.violate("view", c.method, "no view")
		return nil, "invalid_arguments"
	}
	return v, s.judgeView(c.method, v, kind)
}

func (s *viewAPI) judgeView(where string, v object, kind surface) string {
	text, _ := json.Marshal(v)
	k := &checker{call: where}
	k.view(v, len(text))
	if str(v["type"]) != string(kind) {
		k.add("view.type", "type", "%q where a %s is meant", v["type"], kind)
	}
	if word := s.judge(k); word != "" {
		return word
	}
	if id := str(v["external_id"]); id != "" {
		for _, o := range s.views {
			if !o.closed && str(o.body["external_id"]) == id && where != "views.update" && where != "response_action update" {
				s.violate("view.external_id", where, "%q is that of another view", id)
				return "duplicate_external_id"
			}
		}
	}
	return ""
}

// put makes a view; the lock is held.
func (s *viewAPI) put(u *User, body object, below *View) *View {
	v := &View{s: u.w.s, ID: s.next("V"), user: u, below: below, state: map[string]map[string]object{}}
	v.fill(body)
	s.views[v.ID] = v
	return v
}

// fill replaces the view's content; typed values stay if block and action have the same ids.
func (v *View) fill(body object) {
	v.body, v.hash, v.errors = body, v.s.next("hash"), nil
	v.shown++
	blocks := list(body["blocks"])
	v.s.name(blocks)
	old := v.state
	v.state = map[string]map[string]object{}
	for _, b := range blocks {
		o, _ := b.(object)
		for _, e := range append([]any{o["element"], o["accessory"]}, list(o["elements"])...) {
			if e, ok := e.(object); ok && e["action_id"] != nil && str(e["type"]) != "button" {
				block, action := str(o["block_id"]), str(e["action_id"])
				if v.state[block] == nil {
					v.state[block] = map[string]object{}
				}
				if kept := old[block][action]; kept != nil {
					v.state[block][action] = kept
				} else {
					v.state[block][action] = initial(e)
				}
			}
		}
	}
}

// initial is what an element holds before anybody has touched it.
func initial(e object) object {
	kind := str(e["type"])
	o := object{"type": kind}
	for from, to := range map[string]string{"initial_value": "value", "initial_option": "selected_option", "initial_options": "selected_options", "initial_date": "selected_date",
		"initial_time": "selected_time", "initial_user": "selected_user", "initial_conversation": "selected_conversation", "initial_channel": "selected_channel"} {
		if v := e[from]; v != nil {
			o[to] = v
		}
	}
	if kind == "checkboxes" && o["selected_options"] == nil {
		o["selected_options"] = []any{}
	}
	return o
}

// name adds missing ids to blocks and elements; the lock is held.
func (s *viewAPI) name(blocks []any) {
	for _, b := range blocks {
		o, ok := b.(object)
		if !ok {
			continue
		}
		if str(o["block_id"]) == "" {
			o["block_id"] = s.next("blk")
		}
		for _, e := range append([]any{o["element"], o["accessory"]}, list(o["elements"])...) {
			if e, ok := e.(object); ok && interactive(e) && str(e["action_id"]) == "" {
				e["action_id"] = s.next("act")
			}
		}
	}
}

func interactive(e object) bool {
	kind := str(e["type"])
	return kind != "image" && kind != "mrkdwn" && kind != "plain_text"
}

// payload is the view as the app is notified of it; the lock is held.
func (v *View) payload() object {
	values := object{}
	for block, actions := range v.state {
		o := object{}
		for action, held := range actions {
			o[action] = maps.Clone(held)
		}
		values[block] = o
	}
	p := maps.Clone(v.body)
	root := v
	for root.below != nil {
		root = root.below
	}
	maps.Copy(p, object{"id": v.ID, "team_id": v.user.w.ID, "hash": v.hash, "state": object{"values": values}, "app_id": v.s.c.AppID, "bot_id": "B" + v.user.w.ID,
		"app_installed_team_id": v.user.w.ID, "root_view_id": root.ID, "previous_view_id": nil})
	if v.below != nil {
		p["previous_view_id"] = v.below.ID
	}
	for _, k := range []string{"private_metadata", "callback_id", "external_id"} {
		if p[k] == nil {
			p[k] = ""
		}
	}
	return p
}

func (s *viewAPI) viewOpen(c *call) object {
	u, word := s.pull(c)
	if word != "" {
		return internalError(word)
	}
	body, word := s.wanted(c, inModal)
	if word != "" {
		return internalError(word)
	}
	v := s.put(u, body, nil)
	u.modals = []*View{v}
	c.note.ViewID, c.note.User = v.ID, u.ID
	return object{"view": v.payload()}
}

func (s *viewAPI) viewPush(c *call) object {
	u, word := s.pull(c)
	if word != "" {
		return internalError(word)
	}
	body, word := s.wanted(c, inModal)
	if word != "" {
		return internalError(word)
	}
	return s.push(c.method, u, body)
}

func (s *viewAPI) push(where string, u *User, body object) object {
	switch n := len(u.modals); {
	case n == 0:
		return internalError("not_found")
	case n >= maxViewStack:
		s.violate("view.stack", where, "more than %d views above each other", maxViewStack)
		return internalError("push_limit_reached")
	}
	v := s.put(u, body, u.modals[len(u.modals)-1])
	u.modals = append(u.modals, v)
	return object{"view": v.payload()}
}

func (s *viewAPI) viewUpdate(c *call) object {
	v := s.views[c.str("view_id")]
	if id := c.str("external_id"); v == nil && id != "" {
		for _, o := range s.views {
			if str(o.body["external_id"]) == id && !o.closed {
				v = o
			}
		}
	}
	if v == nil || v.user.w != c.team || v.closed {
		return internalError("not_found")
	}
	if h := c.str("hash"); h != "" && h != v.hash {
		return internalError("hash_conflict")
	}
	body, word := s.wanted(c, surface(str(v.body["type"])))
	if word != "" {
		return internalError(word)
	}
	v.fill(body)
	c.note.ViewID, c.note.User = v.ID, v.user.ID
	return object{"view": v.payload()}
}

func (s *viewAPI) viewPublish(c *call) object {
	u := c.team.users[c.str("user_id")]
	if u == nil || u.bot {
		return internalError("user_not_found")
	}
	c.note.User = u.ID
	body, word := s.wanted(c, inHome)
	if word != "" {
		return internalError(word)
	}
	if h := c.str("hash"); h != "" && (u.homeView == nil || h != u.homeView.hash) {
		return internalError("hash_conflict")
	}
	if u.homeView == nil {
		u.homeView = s.put(u, body, nil)
	} else {
		u.homeView.fill(body)
	}
	return object{"view": u.homeView.payload()}
}

// close takes a modal and all above it away; the lock is held.
func (u *User) closeFrom(v *View) {
	i := slices.Index(u.modals, v)
	if i < 0 {
		return
	}
	for _, o := range u.modals[i:] {
		o.closed = true
	}
	u.modals = u.modals[:i]
}
