package bot

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// SlackRefuses says what is wrong with an answer, card, modal or home in Slack's eyes. TestMain sets it: this package can't import
// the one that turns them into Slack's JSON.
var SlackRefuses func(v any) []string

var sent struct {
	sync.Mutex
	kinds   map[string]int
	refused []string
}

// Refused are the things that tests have sent and Slack would refuse.
func Refused() []string {
	sent.Lock()
	defer sent.Unlock()
	return sent.refused
}

// send is what every chat of a test is sent through.
func send(v any) {
	list := SlackRefuses(v)
	sent.Lock()
	defer sent.Unlock()
	if sent.kinds == nil {
		sent.kinds = map[string]int{}
	}
	sent.kinds[fmt.Sprintf("%T", v)]++
	for _, what := range list {
		sent.refused = append(sent.refused, fmt.Sprintf("%s in %+v", what, v))
	}
}

func sendAnswer(a Answer) Answer {
	send(a)
	if a.Modal != nil {
		send(*a.Modal)
	}
	return a
}

// checkedBot is a Bot in a chat that takes nothing that Slack refuses.
type checkedBot struct{ *Bot }

func (b checkedBot) Say(ctx context.Context, p Person, text string) Answer {
	return sendAnswer(b.Bot.Say(ctx, p, text))
}

func (b checkedBot) Press(ctx context.Context, p Person, value string) Answer {
	return sendAnswer(b.Bot.Press(ctx, p, value))
}

func (b checkedBot) Fill(ctx context.Context, p Person, f Form) Modal {
	m := b.Bot.Fill(ctx, p, f)
	send(m)
	return m
}

func (b checkedBot) Submit(ctx context.Context, p Person, f Form) Submitted {
	s := b.Bot.Submit(ctx, p, f)
	for _, m := range []*Modal{s.Modal, s.Late} {
		if m != nil {
			send(*m)
		}
	}
	if s.Answer != nil {
		sendAnswer(*s.Answer)
	}
	return s
}

func (b checkedBot) Home(ctx context.Context, p Person) Home {
	h := b.Bot.Home(ctx, p)
	send(h)
	return h
}

// TestEveryViewIsChecked proves that what tests send goes through the checker, and that the checker refuses what Slack does.
func TestEveryViewIsChecked(t *testing.T) {
	if SlackRefuses == nil {
		t.Fatal("TestMain has not installed the checker")
	}
	ask := []Part{{Field: &Field{Name: "x", Kind: FieldText, Label: "X"}}}
	for _, c := range []struct {
		name string
		v    any
		rule string
	}{
		{"a form that can't be sent off", Modal{ID: "x", Title: "X", Parts: ask}, "view.submit"},
		{"one that can", Modal{ID: "x", Title: "X", Submit: "Continue", Parts: ask}, ""},
		{"two fields of one name", Modal{ID: "x", Title: "X", Submit: "Continue", Parts: append(ask, ask...)}, "block_id"},
		{"a home", Home{Parts: []Part{{Title: "X", Buttons: []Button{{Name: "Y", Value: "z"}}}}}, ""},
		{"a link that leads nowhere", Answer{Title: "X", Links: []Link{{"Open", "/clusters"}}}, "button.url"},
		{"an answer", Answer{Title: "X", Lines: []string{"y"}}, ""},
		{"a card", Card{Title: "X", Link: Link{"Open", "https://m.test/"}}, ""},
		{"what is never sent", 7, "never sent"},
	} {
		got := strings.Join(SlackRefuses(c.v), "\n")
		if c.rule == "" && got != "" || !strings.Contains(got, c.rule) {
			t.Errorf("%s: %q, want %q", c.name, got, c.rule)
		}
	}
	count := func() map[string]int {
		sent.Lock()
		defer sent.Unlock()
		all := map[string]int{}
		for k, n := range sent.kinds {
			all[k] = n
		}
		return all
	}
	before := count()
	b, _ := talk(t)
	a := b.Say(t.Context(), ada, "create")
	m := b.Fill(t.Context(), ada, a.Modal.asForm(map[string]string{"template": "=web"}))
	b.Submit(t.Context(), ada, m.asForm(nil))
	b.Home(t.Context(), ada)
	h := newFakeChat(1)
	_, _, _ = h.Post(t.Context(), "C1", "U1", Card{Title: "X", Link: Link{"Open", "https://m.test/"}})
	after := count()
	for kind, least := range map[string]int{"bot.Answer": 2, "bot.Modal": 2, "bot.Home": 1, "bot.Card": 1} {
		if after[kind]-before[kind] < least {
			t.Errorf("%d of %s were checked, want %d", after[kind]-before[kind], kind, least)
		}
	}
}
