package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/app/secret"
)

func TestSecretsAreRedactedInEveryEncoding(t *testing.T) {
	const secret = `p@ss/w"ö rd'&<x>`
	r := New([]string{secret, "short"})
	j, _ := json.Marshal(map[string]string{"password": secret})
	for name, line := range map[string]string{
		"plain":               "password is " + secret + ".",
		"twice":               secret + secret,
		"base64":              base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64 for URLs":     base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"base64 of more":      "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+secret+":and more")),
		"base64 of more, one": base64.StdEncoding.EncodeToString([]byte("u" + secret)),
		"base64 of more, two": base64.StdEncoding.EncodeToString([]byte("us" + secret + "!")),
		"hex":                 hex.EncodeToString([]byte(secret)),
		"HEX":                 strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"query":               "https://x/?p=" + url.QueryEscape(secret) + "&q=1",
		"path":                "https://x/" + url.PathEscape(secret) + "/y",
		"JSON":                string(j),
		"shell":               "echo '" + strings.ReplaceAll(secret, "'", `'\''`) + "'",
	} {
		got := r.Hide(line, 0)
		if !strings.Contains(got, hidden) || leaks(got, secret) {
			t.Errorf("%s: %q becomes %q", name, line, got)
		}
	}
	for _, line := range []string{"", "p", "nothing to see here", "short", "p@ss/w is the beginning only"} {
		if got := r.Hide(line, 0); got != line {
			t.Errorf("%q becomes %q", line, got)
		}
	}
	if New([]string{"abcde", ""}) != nil {
		t.Error("short values are hidden")
	}
}

// leaks reports whether eight bytes of a secret in a row, or of its common forms, are still there.
func leaks(text, secret string) bool {
	for _, form := range []string{secret, hex.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte(secret))} {
		for i := 0; i+8 <= len(form); i++ {
			if strings.Contains(text, form[i:i+8]) {
				return true
			}
		}
	}
	return false
}

// A line that is longer than what comes at once is cut; the secret may stand on the cut.
func TestSecretsAreRedactedAcrossChunks(t *testing.T) {
	secret := "0123456789abcdefghijklmnopqrstuvwxyz"
	for cut := range len(secret) + 1 {
		var got []string
		out := New([]string{secret}).Over(func(_ app.Stream, line string) { got = append(got, line) })
		out(family.StreamOut, strings.Repeat("x", longPiece)+secret[:cut])
		out(family.StreamErr, "between")
		out(family.StreamOut, secret[cut:]+" and more")
		out(family.StreamOut, "next")
		if len(got) != 4 || got[1] != "between" || got[3] != "next" || cut < len(secret) && leaks(got[2], secret) || !strings.HasSuffix(got[2], " and more") {
			t.Fatalf("cut at %d: %q", cut, got[2:])
		}
	}
}

func TestMultilineKeysAreRedacted(t *testing.T) {
	pem := "-----BEGIN KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUA\r\nQyNTUxOQAAACDx9QYcDqA\n-----END KEY-----\n"
	r := New([]string{pem})
	for line := range strings.Lines(pem) {
		if got := r.Hide(strings.TrimRight(line, "\r\n"), 0); got != hidden {
			t.Errorf("%q becomes %q", line, got)
		}
	}
	long := strings.Repeat("The quick brown fox. ", 20)
	enc := base64.StdEncoding.EncodeToString([]byte(long))
	for _, width := range []int{64, 76} {
		for i := 0; i < len(enc); i += width {
			line := enc[i:min(i+width, len(enc))]
			if got := New([]string{long}).Hide(line, 0); len(line) > 8 && strings.Contains(got, line) {
				t.Errorf("wrapped at %d: %q stays", width, line)
			}
		}
	}
}

func TestSecretsAreRedactedInErrors(t *testing.T) {
	r := New([]string{"hunter22"})
	e := r.Error(&app.Error{Code: app.EScript, Message: "It said: hunter22", Hint: "not hunter22", Err: errors.New("exit of hunter22")})
	if text := e.Message + e.Hint + e.Err.Error(); strings.Contains(text, "hunter22") || e.Code != app.EScript {
		t.Errorf("%+v", e)
	}
	var none *Redactor
	if e := none.Error(nil); e != nil || none.Hide("abc", 1) != "bc" {
		t.Error("no redactor changes something")
	}
}

// Whatever surrounds it, no random secret stays.
func TestRandomSecretsAreRedacted(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "aab'\"/+=& é"[rnd.IntN(12)%11]
		}
		return string(b)
	}
	for range 3000 {
		var secrets []string
		for range 1 + rnd.IntN(3) {
			secrets = append(secrets, text(6+rnd.IntN(20)))
		}
		r := New(secrets)
		line := text(rnd.IntN(10)) + secrets[rnd.IntN(len(secrets))] + text(rnd.IntN(10))
		got := r.Hide(line, 0)
		for _, s := range secrets {
			if strings.Contains(got, s) {
				t.Fatalf("%q with %q becomes %q", line, secrets, got)
			}
		}
	}
}

func BenchmarkHide(b *testing.B) {
	line := "2026-01-02T03:04:05Z INFO  installing package nginx-1.24.0-2 from https://example.com/pool (42 of 97)"
	for name, n := range map[string]int{"none": 0, "3 secrets": 3, "20 secrets": 20} {
		var secrets []string
		for i := range n {
			secrets = append(secrets, strings.Repeat(string(rune('A'+i)), 3)+"-secret-value-of-some-length")
		}
		r := New(secrets)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				_ = r.Hide(line, 0)
			}
		})
	}
}

const hidden = secret.HiddenValue // replaces a secret
