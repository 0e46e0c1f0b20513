package portal

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"muster/portal/site"
)

// TestAPIRefusesRepeatedKeys sends repeated keys, and expects their location; keys that only look repeated are accepted.
func TestAPIRefusesRepeatedKeys(t *testing.T) {
	s := visit(t)
	for text, at := range map[string]string{
		`{"template":"web","size":3,"size":5}`:                                 "size",
		`{"template":"web","size":3,"config":{"a":{"b":1,"c":2,"b":3}}}`:       "config.a.b",
		`{"template":"web","size":3,"config":{"a":[1,{"b":[{"x":1,"x":1}]}]}}`: "config.a[1].b[0].x",
		`{"template":"web","size":3,"s\u0069ze":5}`:                            "size",
	} {
		a := s.call("POST", "/preview", text)
		b := as[site.Problem](a, http.StatusBadRequest)
		if b.Field != at || !strings.HasPrefix(b.Detail, at+": the key is repeated") || len(b.Places) != 1 || b.Places[0].Location != "body."+at {
			t.Errorf("%s is answered with %+v", text, b)
		}
	}
	for _, text := range []string{
		`{"template":"web","size":3,"config":{"a":{"b":1},"b":{"b":1},"A":{}}}`,
		`{"template":"web","size":3,"config":{"a":[{"b":1},{"b":1},"b","b"],"b":"a"}}`,
	} {
		s.call("POST", "/preview", text).reads(http.StatusOK)
	}
	// Another case would be the same field for the standard library.
	if b := as[site.Problem](s.call("POST", "/preview", `{"template":"web","size":3,"Size":5}`), http.StatusUnprocessableEntity); b.Field != "Size" {
		t.Errorf("a field in another case is answered with %+v", b)
	}
	deep := strings.Repeat(`{"a":`, maxNesting) + `1` + strings.Repeat(`}`, maxNesting)
	if b := as[site.Problem](s.call("POST", "/preview", `{"template":"web","size":3,"config":`+deep+`}`), http.StatusBadRequest); !strings.Contains(b.Detail, "levels deep") {
		t.Errorf("a deep body is answered with %+v", b)
	}
}

// Ten times as much text takes about ten times as long: the fastest of several tries, so that a busy host does not matter.
func TestRepeatedKeysAreFoundInLinearTime(t *testing.T) {
	fastest := func(keys int) time.Duration {
		text := []byte(`{"k":"v"`)
		for i := range keys {
			text = append(text, `,"`...)
			for n := i + 1; n > 0; n /= 26 {
				text = append(text, byte('A'+n%26))
			}
			text = append(text, `":[[1],{"a":1}]`...)
		}
		text = append(text, '}')
		best := time.Hour
		for range 8 {
			begun := time.Now()
			if err := repeatedKey(text); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(begun))
		}
		return best
	}
	few, many := fastest(2000), fastest(20_000)
	for range 30 { // a busy host interrupts the longer ones; the fastest of many does not lie
		if many <= 60*few {
			return
		}
		many = min(many, fastest(20_000))
	}
	t.Errorf("2,000 keys take %v and 20,000 take %v", few, many)
}
