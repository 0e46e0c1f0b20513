package app_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"muster/app/humanize"

	"go.yaml.in/yaml/v3"
)

// goish are words that only make sense to those who wrote the program.
var goish = []string{"strconv", "Go struct", "Go value", "unmarshal", "!!", "x509:", "json:", "yaml:", "time: ", "net/url", "context ", "dial tcp", "listen tcp", "map[", "invalid character", "parsing \""}

type goShape struct {
	Size  int             `json:"size" yaml:"size"`
	On    bool            `json:"on" yaml:"on"`
	Names []string        `json:"names" yaml:"names"`
	Deep  struct{ N int } `json:"deep" yaml:"deep"`
	At    time.Time       `json:"at" yaml:"at"`
	Wait  time.Duration   `json:"wait" yaml:"wait"`
	Map   map[string]int  `json:"map" yaml:"map"`
}

func strictJSON(text string) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(new(goShape))
}

func strictYAML(text string) error {
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	return d.Decode(new(goShape))
}

// The errors are made by the libraries themselves, so that a version of them with other words fails here.
func TestPlainError(t *testing.T) {
	errOf := func(_ any, err error) error { return err }
	op := func(op, network, addr string, err error) error {
		a, _ := net.ResolveTCPAddr("tcp", addr)
		return &net.OpError{Op: op, Net: network, Addr: a, Err: err}
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("The disk is full."), "The disk is full."},
		{errors.New("--json: a.yaml: b.json: --tls: no"), "--json: a.yaml: b.json: --tls: no"},
		{errors.New("json: x: yaml: y (tls: z)"), "x: y (TLS: z)"},
		{errOf(strconv.Atoi("ten")), `"ten" isn't a whole number`},
		{errOf(strconv.ParseInt("a\"b", 10, 64)), `"a\"b" isn't a whole number`},
		{errOf(strconv.ParseUint("-1", 10, 64)), `"-1" isn't a whole number`},
		{errOf(strconv.ParseFloat("1,5", 64)), `"1,5" isn't a number`},
		{errOf(strconv.ParseBool("yes")), `"yes" isn't true or false`},
		{errOf(strconv.ParseInt("99999999999999999999", 10, 64)), `"99999999999999999999" is out of range`},
		{fmt.Errorf("--size: %w", errOf(strconv.Atoi("x"))), `--size: "x" isn't a whole number`},
		{errOf(time.ParseDuration("soon")), `"soon" isn't a duration such as 30m, 8h or 2d`},
		{errOf(time.ParseDuration("5")), `"5" isn't a duration such as 30m, 8h or 2d`},
		{errOf(time.ParseDuration("5 days")), `"5 days" isn't a duration such as 30m, 8h or 2d`},
		{errOf(time.Parse(time.RFC3339, "tomorrow")), `"tomorrow" isn't a date and time such as 2026-01-31T15:04:05Z`},
		{errOf(time.Parse(time.RFC3339, "2026-13-01T00:00:00Z")), `"2026-13-01T00:00:00Z" isn't a date and time such as 2026-01-31T15:04:05Z`},
		{strictJSON(`{"size":"big"}`), "size must be a whole number, not text"},
		{strictJSON(`{"size":1.5}`), "size must be a whole number, not a number"},
		{strictJSON(`{"on":1}`), "on must be true or false, not a number"},
		{strictJSON(`{"names":{}}`), "names must be a list, not a map"},
		{strictJSON(`{"deep":{"N":[]}}`), "deep.N must be a whole number, not a list"},
		{strictJSON(`[]`), "must be a map of keys and values, not a list"},
		{strictJSON(`{"sise":1}`), `unknown field "sise"`},
		{strictJSON(`{size:1}`), "not valid JSON: unexpected 's'"},
		{strictJSON(`{"size":1]`), "not valid JSON: unexpected ']'"},
		{json.Unmarshal([]byte(`{"size":`), new(goShape)), "not valid JSON: ends too early"},
		{strictYAML("size: big\n"), `line 1: "big" must be a whole number`},
		{strictYAML("names: 5\n"), `line 1: "5" must be a list`},
		{strictYAML("size: [1]\n"), "line 1: must be a whole number, not a list"},
		{strictYAML("sise: 1\n"), `line 1: unknown field "sise"`},
		{strictYAML("size: 1\nsize: 2\n"), `line 2: "size" is set twice, first on line 1`},
		{strictYAML("a: b: c\n"), "mapping values are not allowed in this context"},
		{errOf(url.Parse(":x")), `":x" isn't a complete address: start with https:// or http://`},                      //nolint:staticcheck // invalid on purpose
		{errOf(url.Parse("127.0.0.1:80/x")), `"127.0.0.1:80/x" isn't a valid address: start with https:// or http://`}, //nolint:staticcheck // invalid on purpose
		{errOf(url.Parse("http://a:b/")), `"http://a:b/" isn't a valid address: invalid port ":b" after host`},         //nolint:staticcheck // invalid on purpose
		{errOf(net.Listen("tcp", "nonsense")), "nonsense has no port: use HOST:PORT, such as 127.0.0.1:8080"},
		{errOf(net.Listen("tcp", "127.0.0.1:nonsense")), "nonsense isn't a port: use a number from 0 to 65535"},
		{errOf(net.Listen("tcp", "127.0.0.1:99999")), "99999 isn't a port: use a number from 0 to 65535"},
		{errOf(net.Listen("tcp", "::1:80")), "::1:80 has too many colons: use HOST:PORT, with an IPv6 address in brackets, such as [::1]:8080"},
		{op("listen", "tcp", "127.0.0.1:80", errors.New("bind: address already in use")), "127.0.0.1:80 is already in use by another program"},
		{op("dial", "tcp", "127.0.0.1:80", errors.New("connect: connection refused")), "127.0.0.1:80: connection refused"},
		{&url.Error{Op: "Get", URL: "http://127.0.0.1:80/x", Err: op("dial", "tcp", "127.0.0.1:80", errors.New("connect: connection refused"))}, "http://127.0.0.1:80/x: 127.0.0.1:80: connection refused"},
		{&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "muster.invalid", Server: "127.0.0.53:53"}}, "host muster.invalid doesn't exist"},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, "the server's certificate is signed by an untrusted authority"},
		{x509.CertificateInvalidError{Reason: x509.Expired, Detail: "current time is after"}, "the server's certificate has expired or isn't valid yet"},
		{context.DeadlineExceeded, "timed out"},
		{context.Canceled, "cancelled"},
	} {
		if got := humanize.PlainError(c.err); got != c.want {
			t.Errorf("%v\n  is said as %q\n  and not as %q", c.err, got, c.want)
		}
	}
	if got := humanize.PlainError(errors.New(strings.Repeat("ä", 80_000))); len(got) > 70_000 || !utf8.ValidString(got) {
		t.Errorf("a long error has %d bytes", len(got))
	}
}

// FuzzPlainError has the libraries refuse a text in every way, and looks for their own words in what is said.
func FuzzPlainError(f *testing.F) {
	for _, s := range []string{"", "x", `{"size":"x"}`, "size: x", "[", "1e999", "http://[", "a: b: c", `{"at":5}`, `{"wait":"5"}`, "at: 5", "*a", "&a [*a]", "\x00", `{"map":{"a":[]}}`, "127.0.0.1:x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, word := range append(goish, "`", "\"") {
			if strings.Contains(s, word) {
				return
			}
		}
		var errs []error
		add := func(_ any, err error) { errs = append(errs, err) }
		add(strconv.Atoi(s))
		add(strconv.ParseBool(s))
		add(strconv.ParseFloat(s, 64))
		add(time.ParseDuration(s))
		add(time.Parse(time.RFC3339, s))
		add(url.Parse(s))
		add(net.ResolveTCPAddr("tcp", "127.0.0.1:"+strings.ReplaceAll(s, ":", "")))
		errs = append(errs, strictJSON(s), strictJSON(`{"size":`+s+`}`), strictJSON(`{"at":`+s+`}`), strictYAML(s), strictYAML("size: "+s))
		for _, err := range errs {
			said := humanize.PlainError(err)
			if err != nil && (said == "" || !utf8.ValidString(said) && utf8.ValidString(err.Error())) {
				t.Errorf("%v is said as %q", err, said)
			}
			for _, word := range goish {
				if strings.Contains(said, word) && word != "parsing \"" && word != "map[" {
					t.Errorf("%v is said as %q", err, said)
				}
			}
			if again := humanize.PlainText(said); len(again) > 2*len(said)+100 {
				t.Errorf("%q grows to %q", said, again)
			}
		}
	})
}
