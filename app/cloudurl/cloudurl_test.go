package cloudurl_test

import (
	"maps"
	"net/url"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cloudurl"
)

func TestParams(t *testing.T) {
	u, err := url.Parse("x://y?text=a+b&flag=TRUE&word=One&number=0o17&p_a=1&p_b=2&empty=")
	if err != nil {
		t.Fatal(err)
	}
	p := cloudurl.Of(u)
	if p.Text("text") != "a b" || !p.Flag("flag") || p.OneOf("word", "one", "two") != "one" || p.Number("number") != 15 || !p.Given("empty") || p.Text("empty") != "" {
		t.Error("what was given is not what is taken")
	}
	if got := p.Prefixed("p_"); !maps.Equal(got, map[string]string{"a": "1", "b": "2"}) {
		t.Errorf("prefixed: %v", got)
	}
	if p.Text("absent") != "" || p.Flag("absent") || p.OneOf("absent", "one") != "" || p.Number("absent") != 0 {
		t.Error("something is taken that was not given")
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
}

func TestWrongParams(t *testing.T) {
	for query, want := range map[string]string{"color=blue": `"color"`, "flag=perhaps": "flag", "flag=true&flag=true": "flag", "word=three": "one, two", "number=-1": "number", "a;b": "invalid parameters"} {
		u := &url.URL{RawQuery: query}
		p := cloudurl.Of(u)
		p.Flag("flag")
		p.OneOf("word", "one", "two")
		p.Number("number")
		if err := p.Err(); app.CodeOf(err) != app.EInvalid || !strings.Contains(app.AsError(err).Message, want) {
			t.Errorf("%s: %v, want something about %s", query, err, want)
		}
	}
}
