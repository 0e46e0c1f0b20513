package slacktest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Workspace is one team.
type Workspace struct {
	s      *Slack
	ID     string
	Domain string
	Bot    string // the id of the app's user there

	installed bool
	tokens    map[string]*token
	channels  map[string]*Channel
	users     map[string]*User
}

// Channel is a place for messages: a channel, or someone's messages with the app.
type Channel struct {
	w        *Workspace
	ID, Name string

	private, archived bool
	bot               bool  // the app is in it
	im                *User // whose direct messages with the app these are
	shared            string
	messages          []*Message
}

// Workspace returns the workspace of an id, which begins without the app.
func (s *Slack) Workspace(id string) *Workspace {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.teams[id]
	if w == nil {
		w = &Workspace{s: s, ID: id, Domain: strings.ToLower(id), Bot: "UB" + id, tokens: map[string]*token{}, channels: map[string]*Channel{}, users: map[string]*User{}}
		w.users[w.Bot] = &User{w: w, ID: w.Bot, Name: "muster", bot: true, home: id}
		s.teams[id] = w
	}
	return w
}

// Install puts the app into the workspace with a token that does not end.
func (w *Workspace) Install(bot string) *Workspace {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	w.installed = true
	w.tokens[bot] = &token{team: w, value: bot}
	return w
}

// Channel returns the public channel of a name, which is made with the app in it.
func (w *Workspace) Channel(name string) *Channel {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	for _, c := range w.channels {
		if c.Name == name {
			return c
		}
	}
	c := &Channel{w: w, ID: w.s.next("C"), Name: name, bot: true}
	w.channels[c.ID] = c
	return c
}

// Channels are all channels of the workspace, people's messages with the app among them.
func (w *Workspace) Channels() (list []*Channel) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	for _, c := range w.channels {
		list = append(list, c)
	}
	return list
}

// Private makes the channel one that only its members see.
func (c *Channel) Private() *Channel { c.set(func() { c.private = true }); return c }

// archive ends the channel.
func (c *Channel) archive() *Channel { c.set(func() { c.archived = true }); return c }

// kick takes the app out of the channel.
func (c *Channel) kick() *Channel { c.set(func() { c.bot = false }); return c }

// Share shares the channel with another workspace.
func (c *Channel) Share(with string) *Channel { c.set(func() { c.shared = with }); return c }

func (c *Channel) set(f func()) {
	c.w.s.mu.Lock()
	defer c.w.s.mu.Unlock()
	f()
}

// User is someone of a workspace, or seen from there.
type User struct {
	w        *Workspace
	ID, Name string

	home                 string // their workspace
	email                string
	bot, guest, stranger bool
	gone, unconfirmed    bool
	im                   *Channel
	modals               []*View
	homeView             *View
}

// User returns the member of a name.
func (w *Workspace) User(name string) *User {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	for _, u := range w.users {
		if u.Name == name {
			return u
		}
	}
	u := &User{w: w, ID: w.s.next("U"), Name: name, home: w.ID, email: name + "@example.org"}
	w.users[u.ID] = u
	return u
}

// Guest makes someone a guest of the workspace.
func (u *User) Guest() *User { u.w.set(func() { u.guest = true }); return u }

// Robot makes someone a bot.
func (u *User) Robot() *User { u.w.set(func() { u.bot = true }); return u }

// Unconfirmed takes away the proof of someone's address.
func (u *User) Unconfirmed() *User { u.w.set(func() { u.unconfirmed = true }); return u }

// Email returns someone an address.
func (u *User) Email(address string) *User { u.w.set(func() { u.email = address }); return u }

// Gone ends someone's account.
func (u *User) Gone() *User { u.w.set(func() { u.gone = true }); return u }

// Stranger makes someone one of another workspace, met in a channel that both share.
func (u *User) Stranger(home string) *User {
	u.w.set(func() { u.home, u.stranger = home, true })
	return u
}

func (w *Workspace) set(f func()) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	f()
}

// direct returns someone's messages with the app; the lock is held.
func (u *User) direct() *Channel {
	if u.im == nil {
		u.im = &Channel{w: u.w, ID: u.w.s.next("D"), Name: "directmessage", private: true, bot: true, im: u}
		u.w.channels[u.im.ID] = u.im
	}
	return u.im
}

// Direct returns someone's messages with the app.
func (u *User) Direct() *Channel {
	u.w.s.mu.Lock()
	defer u.w.s.mu.Unlock()
	return u.direct()
}

// Message is one message, or an answer that only one person sees.
type Message struct {
	channel *Channel
	TS      string
	thread  string
	to      *User // who alone sees it; nil: everyone there

	text    string
	blocks  []any
	by      *User
	cause   string   // the delivery that it answers
	answers []string // those that have replaced it
	states  []string
	edited  []time.Time
	deleted bool
	unfurls object
	meta    object // what only apps see
}

// Messages are what everyone in the channel sees now, threads among them, oldest first.
func (c *Channel) Messages() (list []*Message) {
	c.w.s.mu.Lock()
	defer c.w.s.mu.Unlock()
	for _, m := range c.messages {
		if m.to == nil && !m.deleted {
			list = append(list, m)
		}
	}
	return list
}

// Ephemeral returns a person's ephemeral messages in the channel, oldest first.
func (c *Channel) Ephemeral(u *User) (list []*Message) {
	c.w.s.mu.Lock()
	defer c.w.s.mu.Unlock()
	for _, m := range c.messages {
		if m.to == u && !m.deleted {
			list = append(list, m)
		}
	}
	return list
}

// Find returns the newest message of the channel that now says all of these; nil where none does.
func (c *Channel) Find(words ...string) *Message { return newest(c.Messages(), words) }

func newest(messages []*Message, words []string) *Message {
	for _, m := range slices.Backward(messages) {
		if m.Says(words...) {
			return m
		}
	}
	return nil
}

// Card waits for a message that says all of these, and returns the newest.
func (c *Channel) Card(words ...string) (m *Message) {
	c.w.s.t.Helper()
	c.w.s.Wait(fmt.Sprintf("no message in #%s says %q", c.Name, words), func() bool { m = c.Find(words...); return m != nil })
	return m
}

// Text is what the message shows now: all its texts, and its buttons in brackets.
func (m *Message) Text() string {
	m.channel.w.s.mu.Lock()
	defer m.channel.w.s.mu.Unlock()
	return m.shows()
}

func (m *Message) shows() string {
	if len(m.blocks) == 0 {
		return m.text
	}
	return words(m.blocks)
}

// Summary is what the message says where no blocks are shown, such as in notifications.
func (m *Message) Summary() string {
	m.channel.w.s.mu.Lock()
	defer m.channel.w.s.mu.Unlock()
	return m.text
}

// Says reports whether the message shows all of these now.
func (m *Message) Says(words ...string) bool {
	text := m.Text()
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// Until waits until the message says all of these.
func (m *Message) Until(words ...string) *Message {
	m.channel.w.s.t.Helper()
	m.channel.w.s.Wait(fmt.Sprintf("the message does not say %q but\n%s", words, m.Text()), func() bool { return m.Says(words...) })
	return m
}

// States are what the message has shown, one after the other.
func (m *Message) States() []string {
	m.channel.w.s.mu.Lock()
	defer m.channel.w.s.mu.Unlock()
	return slices.Clone(m.states)
}

// Edits is how often the message was changed.
func (m *Message) Edits() int { return len(m.States()) - 1 }

// Beneath is the message in whose thread this one is; "" for none.
func (m *Message) Beneath() string { return m.thread }

// Shown are the times at which the message was first shown and then changed.
func (m *Message) Shown() []time.Time {
	m.channel.w.s.mu.Lock()
	defer m.channel.w.s.mu.Unlock()
	return slices.Clone(m.edited)
}

// In tells in whose channel the message is.
func (m *Message) In() *Channel { return m.channel }

// Thread are the messages below this one.
func (m *Message) Thread() (list []*Message) {
	for _, o := range m.channel.Messages() {
		if o.thread == m.TS {
			list = append(list, o)
		}
	}
	return list
}

// set puts a state into the message; the lock is held.
func (m *Message) set(text string, blocks []any) {
	m.text, m.blocks = text, blocks
	m.states = append(m.states, m.shows())
	m.edited = append(m.edited, m.channel.w.s.now())
}

// words are all that blocks say, in their order.
func words(v any) string {
	var lines []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case object:
			switch t := v["text"].(type) {
			case string:
				lines = append(lines, t)
			case object:
				if str(v["type"]) == "button" {
					lines = append(lines, "["+str(t["text"])+"]")
				} else {
					lines = append(lines, str(t["text"]))
				}
			}
			for _, k := range []string{"label", "placeholder", "hint", "fields", "elements", "element", "accessory", "options", "blocks"} {
				walk(v[k])
			}
			if i := v["initial_value"]; i != nil {
				lines = append(lines, str(i))
			}
		}
	}
	walk(v)
	return strings.Join(lines, "\n")
}

// Tell is all that is to be seen, for the log of a test that fails.
func (s *core) Tell() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, w := range s.teams {
		for _, c := range w.channels {
			for _, m := range c.messages {
				to := ""
				if m.to != nil {
					to = " (only for " + m.to.Name + ")"
				}
				fmt.Fprintf(&b, "%s #%s%s: %s\n", w.ID, c.Name, to, strings.ReplaceAll(m.shows(), "\n", " | "))
			}
		}
		for _, u := range w.users {
			for _, v := range u.modals {
				fmt.Fprintf(&b, "%s modal of %s: %s\n", w.ID, u.Name, strings.ReplaceAll(words(v.body), "\n", " | "))
			}
		}
	}
	for _, v := range s.violations {
		fmt.Fprintf(&b, "violation: %s\n", v)
	}
	return b.String()
}
