package slack

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/slack-go/slack"
	"pgregory.net/rapid"

	"muster/bot"
	"muster/bot/slack/slacktest"
)

// sent is something as Slack is sent it.
type sent struct {
	view bool
	body any
}

func said(blocks ...slack.Block) sent {
	return sent{body: map[string]any{"text": "x", "blocks": blocks}}
}

// asked is blocks of a modal.
func asked(blocks ...slack.Block) sent {
	return sent{true, slack.ModalViewRequest{Type: slack.VTModal, Title: plain("x", maxTitle), Submit: plain("x", maxTitle), Blocks: slack.Blocks{BlockSet: blocks}}}
}

// builders are all functions of this package that make something for Slack, each with a way to try it. Everything that they are
// given is drawn by d, which fills any type of bot's. A function that is not here fails TestEveryBuilderIsTried.
var builders = map[string]func(d drawer) []sent{
	"plain": func(d drawer) []sent {
		return []sent{said(slack.NewSectionBlock(plain(d.text(), maxSection), nil, nil))}
	},
	"sections": func(d drawer) []sent { return each(sections(d.lines())) },
	"asides":   func(d drawer) []sent { return each(asides(d.lines())) },
	"logged":   func(d drawer) []sent { return each(logged(d.lines())) },
	"button": func(d drawer) []sent {
		b := button(get[bot.Button](d), "0")
		if len(b.Value) > maxValue {
			return nil // actions leaves it out
		}
		return []sent{said(slack.NewActionBlock("", b))}
	},
	"actions": func(d drawer) []sent {
		return each(actions(get[[]bot.Link](d), get[[]bot.Button](d), ""))
	},
	"message": func(d drawer) []sent {
		return []sent{said(message(d.text(), sections(d.lines()), actions(get[[]bot.Link](d), get[[]bot.Button](d), ""))...)}
	},
	"more": func(drawer) []sent { return []sent{said(more())} },
	"answerBlocks": func(d drawer) []sent {
		text, blocks := answerBlocks(get[bot.Answer](d))
		return []sent{{body: map[string]any{"text": text, "blocks": blocks}}}
	},
	"cardBlocks": func(d drawer) []sent {
		text, blocks := cardBlocks(get[bot.Card](d))
		return []sent{{body: map[string]any{"text": text, "blocks": blocks}}}
	},
	"answerMessage": func(d drawer) []sent { return []sent{posted(answerMessage(get[bot.Answer](d)))} },
	"cardMessage":   func(d drawer) []sent { return []sent{posted(cardMessage(get[bot.Card](d)))} },
	"ephemeral":     func(d drawer) []sent { return []sent{{body: ephemeral(get[bot.Answer](d))}} },
	"view":          func(d drawer) []sent { return []sent{{true, view(get[bot.Modal](d))}} },
	"parts": func(d drawer) []sent {
		if blocks := parts(get[[]bot.Part](d), true); len(blocks) > 0 {
			return []sent{asked(blocks...)}
		}
		return nil
	},
	"modalView": func(d drawer) []sent { return []sent{{true, modalView(get[bot.Modal](d))}} },
	"homeView":  func(d drawer) []sent { return []sent{{true, homeView(get[bot.Home](d))}} },
	"input":     func(d drawer) []sent { return []sent{asked(input(get[bot.Field](d)))} },
	"element": func(d drawer) []sent {
		return []sent{asked(slack.NewInputBlock("b", plain("x", maxLabel), nil, element(get[bot.Field](d), "a", nil)))}
	},
	"options": func(d drawer) []sent {
		list := options(get[bot.Field](d).Choices)
		if len(list) == 0 {
			return nil
		}
		return []sent{asked(slack.NewInputBlock("b", plain("x", maxLabel), nil, slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, nil, "a", list...)))}
	},
	"unfurls": func(d drawer) (all []sent) {
		for _, a := range unfurls(get[[]bot.Unfurl](d)) {
			all = append(all, sent{body: map[string]any{"text": a.Fallback, "blocks": a.Blocks}})
		}
		return all
	},
}

// posted is a message as the client sends it.
func posted(list []slack.MsgOption) sent {
	var form url.Values
	client := &http.Client{Transport: trip(func(r *http.Request) *http.Response {
		b, _ := io.ReadAll(r.Body)
		form, _ = url.ParseQuery(string(b))
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"ok":true}`)), Request: r}
	})}
	if _, _, err := slack.New("t", slack.OptionHTTPClient(client)).PostMessage("C1", list...); err != nil {
		panic(err)
	}
	return sent{body: map[string]any{"text": form.Get("text"), "blocks": json.RawMessage(form.Get("blocks"))}}
}

type trip func(r *http.Request) *http.Response

func (t trip) RoundTrip(r *http.Request) (*http.Response, error) { return t(r), nil }

// each shows blocks in a message of their own.
func each(blocks []slack.Block) (all []sent) {
	for _, b := range blocks {
		all = append(all, said(b))
	}
	return all
}

// drawer draws what builders are given.
type drawer struct {
	t    *rapid.T
	text func() string
}

func (d drawer) lines() []string { return get[[]string](d) }

func get[T any](d drawer) (v T) {
	fill(d.t, reflect.ValueOf(&v).Elem(), func(string) string { return d.text() })
	return v
}

// encode is what goes out.
func encode(t interface{ Fatal(...any) }, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// texts returns all texts of a JSON value, by kind.
func texts(v any, see func(kind, text string)) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			texts(e, see)
		}
	case map[string]any:
		for k, e := range v {
			if s, ok := e.(string); ok && (k == "text" || k == "initial_value") {
				kind, _ := v["type"].(string)
				see(kind, s)
			}
			texts(e, see)
		}
	}
}

// escaped is a markup in which nothing but letters is left.
var escaped = regexp.MustCompile(`^([^<>&]|&amp;|&lt;|&gt;)*$`)

func TestHostileTextInBlocks(t *testing.T) {
	for name, build := range builders {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			g := hostile(4000)
			for _, s := range build(drawer{t, func() string { return g.Draw(t, "text") }}) {
				body := encode(t, s.body)
				check := slacktest.CheckMessage
				if s.view {
					check = slacktest.CheckView
				}
				if found := check(name, body); len(found) > 0 {
					t.Fatalf("%v\n%.600s", found, body)
				}
				if !utf8.Valid(body) {
					t.Fatalf("no text: %q", body)
				}
				var v any
				if err := json.Unmarshal(body, &v); err != nil {
					t.Fatal(err)
				}
				texts(v, func(kind, text string) {
					switch {
					case kind == "plain_text" || kind == "text" || strings.HasSuffix(kind, "_input"): // nothing is read in these
					case !escaped.MatchString(text):
						t.Fatalf("markup in a %q: %q", kind, text)
					}
					if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
						t.Fatalf("control characters in %q", text)
					}
				})
			}
		}))
	}
}

// TestTruncationKeepsRunes returns builders nothing but one letter many times: each text then has only whole ones.
func TestTruncationKeepsRunes(t *testing.T) {
	for name, build := range builders {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			whole := rapid.SampledFrom(wholes).Draw(t, "letter")
			one := rapid.Custom(func(t *rapid.T) string { return strings.Repeat(whole, rapid.IntRange(1, 4000/len(whole)).Draw(t, "n")) })
			for _, s := range build(drawer{t, func() string { return one.Draw(t, "text") }}) {
				var v any
				if err := json.Unmarshal(encode(t, s.body), &v); err != nil {
					t.Fatal(err)
				}
				texts(v, func(_, text string) {
					if rest := strings.ReplaceAll(text, whole, ""); strings.ContainsFunc(rest, func(r rune) bool { return strings.ContainsRune(whole, r) && r != 'e' }) {
						t.Fatalf("a letter %q was cut: what is left is %q", whole, rest)
					}
				})
			}
		}))
	}
}

// ofSlack are the types of Slack's library that hold something for people to see.
var ofSlack = regexp.MustCompile(`^(.*Block|.*BlockObject|.*BlockElement|BlockElement|Blocks|.*ViewRequest|Attachment|Msg|MsgOption|WebhookMessage|ViewSubmissionResponse)$`)

// madeBySlack are what its library makes such things with.
var madeBySlack = regexp.MustCompile(`^(New.*Block.*|New.*TextElement|New.*ViewSubmissionResponse|RichText[A-Z].*|Attachment|.*ViewRequest|WebhookMessage|Options(Group)?Response)$`)

// passers only pass on what builders make, which is said for each.
var passers = map[string]string{
	"post":       "an answer of answerBlocks",
	"roomy":      "it only counts",
	"submission": "a modal of view, or errors, which Slack shows as they are",
	"submitted":  "a modal of view",
	"moment":     "a modal of view",
}

// TestEveryBuilderIsTried walks all functions of this package.
func TestEveryBuilderIsTried(t *testing.T) {
	found := map[string]bool{}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			see := func(names *regexp.Regexp) func(ast.Node) bool {
				return func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok {
						if x, ok := s.X.(*ast.Ident); ok && x.Name == "slack" && names.MatchString(s.Sel.Name) && passers[fn.Name.Name] == "" {
							found[fn.Name.Name] = true
						}
					}
					return true
				}
			}
			if fn.Type.Results != nil {
				ast.Inspect(fn.Type.Results, see(ofSlack))
			}
			ast.Inspect(fn.Body, see(madeBySlack))
		}
	}
	for name := range found {
		if builders[name] == nil {
			t.Errorf("%s builds something for Slack without a test: add it to builders", name)
		}
	}
	for name := range builders {
		if !found[name] {
			t.Errorf("there is no builder %s", name)
		}
	}
	if len(found) < 15 {
		t.Errorf("only %d builders were found", len(found))
	}
}
