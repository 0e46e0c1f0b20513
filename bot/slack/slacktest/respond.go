package slacktest

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// response is an address by which the app answers a command or a click, later.
type response struct {
	made    time.Time
	uses    int
	user    *User
	channel *Channel
	message *Message // on which was clicked
	cause   string
}

// responseURL returns one; the lock is held.
func (s *chatAPI) responseURL(kind string, u *User, ch *Channel, m *Message, cause string) string {
	path := kind + "/" + u.w.ID + "/" + s.next("r") + "/secret"
	s.responses[path] = &response{made: s.now(), user: u, channel: ch, message: m, cause: cause}
	return "https://hooks.slack.com/" + path
}

// respond takes an answer that comes through such an address.
func (s *chatAPI) respond(w http.ResponseWriter, r *http.Request, path string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const call = "response_url"
	a := s.responses[path]
	switch {
	case a == nil:
		s.violate("response", call, "an address that is none")
		http.Error(w, "no_service", http.StatusNotFound)
		return
	case s.now().Sub(a.made) > responseLife:
		s.violate("response.late", call, "used after %s, at most %s", s.now().Sub(a.made), responseLife)
		http.Error(w, "expired_url", http.StatusNotFound)
		return
	case a.uses >= responseUses:
		s.violate("response.uses", call, "used more than %d times", responseUses)
		http.Error(w, "used_url", http.StatusNotFound)
		return
	}
	a.uses++
	var m object
	if err := json.Unmarshal(body, &m); err != nil || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		s.violate("json", call, "not JSON of type application/json: %v", err)
		http.Error(w, "invalid_payload", http.StatusBadRequest)
		return
	}
	if f := s.rates.faults[call]; len(f) > 0 {
		s.rates.faults[call] = f[1:]
		if f[0].Lose {
			s.place(a, m, call)
			w.WriteHeader(lost)
			return
		}
		w.WriteHeader(f[0].Status)
		return
	}
	s.calls = append(s.calls, Call{At: s.now(), Method: call, Team: a.user.w.ID, Channel: a.channel.ID, User: a.user.ID, Status: http.StatusOK, Text: str(m["text"])})
	if word := s.place(a, m, call); word != "" {
		http.Error(w, word, http.StatusBadRequest)
		return
	}
	_, _ = w.Write([]byte("ok"))
}

// place shows an answer where it belongs; the lock is held.
func (s *chatAPI) place(a *response, m object, where string) string {
	if m["delete_original"] == true && a.message != nil {
		a.message.deleted = true
		return ""
	}
	if word := s.say(where, m, false); word != "" {
		return word
	}
	if m["replace_original"] == true && a.message != nil && !a.message.deleted {
		if a.message.cause == "" {
			a.message.cause = a.cause
		}
		a.message.answers = append(a.message.answers, a.cause)
		s.show(a.message, m)
		return ""
	}
	n := &Message{channel: a.channel, TS: s.stamp(), cause: a.cause, by: a.user.w.users[a.user.w.Bot]}
	if str(m["response_type"]) != "in_channel" {
		n.to = a.user
	}
	s.show(n, m)
	a.channel.messages = append(a.channel.messages, n)
	return ""
}

// show puts a message's JSON into it; the lock is held.
func (s *chatAPI) show(m *Message, content object) {
	blocks := list(content["blocks"])
	s.views.name(blocks)
	m.set(str(content["text"]), blocks)
}
