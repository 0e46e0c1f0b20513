package slack

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"

	"pgregory.net/rapid"

	"muster/bot"
)

// wholes are what people see as one letter each, and what a cut in the wrong place would break.
var wholes = []string{"👩‍👩‍👧‍👦", "🏳️‍🌈", "e\u0301\u0323", "🇩🇪", "👍🏽", "நி", "한", "😀"}

// nasty are names that someone may have given to something.
var nasty = []string{"", " ", "<!channel>", "<!here|all>", "<@U1>", "<#C1>", "<!subteam^S1>", "&lt;!channel&gt;", "&amp;", "<https://evil.example|your bank>", "https://evil.example",
	"*bold* _leaning_ ~gone~ `code` ```block```", "> said", ":rotating_light:", "a\nb", "a\r\nb\tc", "\x00", "\x1b[31mred", "\u202eevil", "\u2067\u2066", "\ufeff", "\u2028", "\xff\xfe", "\xc3", "\xed\xa0\x80",
	`"quoted" \ back`, "</script>", "%s%n", "{}", "@channel", "@here", "@everyone"}

// hostile draws a text of up to some bytes or a few more.
func hostile(most int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, 3).Draw(t, "pieces") {
			piece := rapid.OneOf(rapid.SampledFrom(nasty), rapid.SampledFrom(wholes), rapid.String()).Draw(t, "piece")
			times := 1
			if rapid.IntRange(0, 3).Draw(t, "long") == 0 && piece != "" {
				times = rapid.IntRange(1, most/len(piece)+1).Draw(t, "times")
			}
			b.WriteString(strings.Repeat(piece, times))
		}
		return b.String()
	})
}

// fill draws a value of any type of bot's: every text in it is one that text draws. What the types promise of themselves is kept.
func fill(t *rapid.T, v reflect.Value, text func(name string) string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text(v.Type().Name()))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64Range(-3, 4000).Draw(t, "int"))
	case reflect.Float64:
		v.SetFloat(rapid.Float64Range(0, 1e6).Draw(t, "float"))
	case reflect.Slice:
		n := rapid.SampledFrom([]int{0, 1, 2, 3, 60}).Draw(t, "many")
		if v.Type().Elem().Kind() == reflect.Struct {
			n = min(n, 3)
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(t, v.Index(i), text)
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "set") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Type != reflect.TypeFor[*bot.Modal]() {
				fill(t, v.Field(i), text)
			}
		}
	case reflect.Map:
	default:
		t.Fatalf("nothing draws a %s", v.Type())
	}
	promise(t, v)
}

// named counts fields, whose names are unique.
var named atomic.Int64

// promise makes true what the types of bot say of themselves.
func promise(t *rapid.T, v reflect.Value) {
	switch p := v.Addr().Interface().(type) {
	case *bot.FieldKind:
		*p = rapid.SampledFrom([]bot.FieldKind{bot.FieldText, bot.FieldLong, bot.FieldNumber, bot.FieldChoice, bot.FieldMany}).Draw(t, "kind")
	case *bot.Link:
		p.URL = "https://m.test/" + strings.Repeat("x", rapid.SampledFrom([]int{0, 40, 2985, 3000}).Draw(t, "address"))
	case *bot.Unfurl:
		p.URL = fmt.Sprint("https://m.test/clusters/", rapid.IntRange(0, 1000).Draw(t, "cluster"))
	case *bot.Field:
		p.Name = fmt.Sprint("field", named.Add(1))
		if p.Max != nil && p.Min != nil && *p.Max < *p.Min {
			p.Max = nil
		}
		for i := range p.Choices {
			p.Choices[i].Value = strings.Repeat("é", rapid.IntRange(0, 160).Draw(t, "value")) + fmt.Sprint(i)
		}
	case *bot.Button: // its value is always JSON
		b, err := json.Marshal(p.Value)
		if err != nil {
			t.Fatal(err)
		}
		p.Value = string(b)
	case *bot.Modal:
		p.Note = strings.Repeat("n", rapid.IntRange(0, 3001).Draw(t, "note"))
		if p.Submit == "" { // it only shows something
			for i := range p.Parts {
				p.Parts[i].Field = nil
			}
		}
	}
}
