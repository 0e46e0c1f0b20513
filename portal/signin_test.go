package portal

import (
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/portal/identity"
	"muster/portal/site"
)

func TestSignIn(t *testing.T) {
	s := visit(t)
	a := s.get("/clusters/new?template=web")
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/signin?next=%2Fclusters%2Fnew%3Ftemplate%3Dweb" {
		t.Fatalf("a stranger is answered %d and sent to %s", a.status, a.header.Get("Location"))
	}
	a = s.get(a.header.Get("Location"))
	a.reads(http.StatusOK, "Sign in", "User", "Password")
	next := a.fields().Get("next")

	a = s.post("/signin", url.Values{"user": {"ada"}, "password": {"wrong"}, "next": {next}, "tenant": {"default"}})
	a.reads(http.StatusUnauthorized)
	if got := a.at("err-password"); got != "User and password do not fit together." {
		t.Errorf("error of the password: %q", got)
	}
	if f := a.fields(); f.Get("user") != "ada" || f.Get("next") != next || f.Get("password") != "" {
		t.Errorf("after a refusal the form holds %v", f)
	}

	a = s.post("/signin", url.Values{"user": {"ada"}, "password": {"correct horse"}, "next": {next}})
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/clusters/new?template=web" {
		t.Fatalf("after the sign-in: %d, %s", a.status, a.header.Get("Location"))
	}
	cookie := a.header.Get("Set-Cookie")
	for _, want := range []string{"muster=", "HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie %q lacks %s", cookie, want)
		}
	}
	s.get("/clusters").reads(http.StatusOK, "ada", "Sign out")
	if a = s.get("/signin?next=/clusters/new"); a.header.Get("Location") != "/clusters/new" {
		t.Errorf("a signed-in user is redirected from sign-in to %q", a.header.Get("Location"))
	}

	if a = s.post("/signout", nil); a.header.Get("Location") != "/signin" {
		t.Errorf("the sign-out leads to %q", a.header.Get("Location"))
	}
	if a = s.get("/clusters"); a.status != http.StatusSeeOther {
		t.Errorf("after the sign-out the clusters answer %d", a.status)
	}
}

func TestSignInAsksForBoth(t *testing.T) {
	s := visit(t)
	if got := s.post("/signin", url.Values{"password": {"x"}}).at("err-user"); got != "Enter your username." {
		t.Errorf("without a user: %q", got)
	}
	if got := s.post("/signin", url.Values{"user": {"ada"}}).at("err-password"); got != "Enter your password." {
		t.Errorf("without a password: %q", got)
	}
	if got := s.post("/signin", url.Values{"user": {"ada"}, "password": {strings.Repeat("x", 2000)}}).at("err-password"); got != "Password must be at most 1024 characters." {
		t.Errorf("with a huge password: %q", got)
	}
}

func TestSecureCookies(t *testing.T) {
	s := visit(t, func(c *Config) { c.Secure = true })
	a := s.post("/signin", url.Values{"user": {"ada"}, "password": {"correct horse"}})
	cookie := a.header.Get("Set-Cookie")
	if !strings.HasPrefix(cookie, "__Host-muster=") || !strings.Contains(cookie, "Secure") {
		t.Errorf("over TLS the cookie is %q", cookie)
	}
	if a.header.Get("Strict-Transport-Security") == "" {
		t.Error("HSTS is missing")
	}
}

func TestSessionTokenChangesAtSignIn(t *testing.T) {
	s := signedIn(t, "ada")
	here, _ := url.Parse(s.srv.URL)
	before := s.http.Jar.Cookies(here)[0].Value
	s.signIn("root")
	if after := s.http.Jar.Cookies(here)[0].Value; after == before {
		t.Error("the token of the session is the same after another sign-in")
	}
}

func TestTooManySignIns(t *testing.T) {
	s := visit(t)
	wrong := url.Values{"user": {"ada"}, "password": {"wrong"}}
	right := url.Values{"user": {"ada"}, "password": {"correct horse"}}
	for range identity.AttemptsPerUser {
		s.post("/signin", wrong).reads(http.StatusUnauthorized)
	}
	a := s.post("/signin", right)
	a.reads(http.StatusTooManyRequests, "Too many attempts.", "Try again in 5 min.")
	if a.header.Get("Retry-After") != "300" {
		t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
	}
	if a = s.post("/signin", url.Values{"user": {"root"}, "password": {"correct horse"}}); a.status != http.StatusSeeOther {
		t.Errorf("another user at the same address is answered %d", a.status)
	}
	s.clock.pass(identity.AttemptsWindow)
	if a = s.post("/signin", right); a.status != http.StatusSeeOther {
		t.Errorf("after the wait the sign-in answers %d", a.status)
	}
}

func TestAttempts(t *testing.T) {
	c := newClock()
	a := identity.NewAttempts(c.now)
	mine := identity.AttemptKey{Address: "10.0.0.1", User: "t/eve"}
	t.Run("one address can't try many users forever", func(t *testing.T) {
		tried := 0
		for i := range 200 {
			if a.Begin(identity.AttemptKey{Address: mine.Address, User: string(rune('a'+i%26)) + strings.Repeat("x", i/26)}, false) == 0 {
				tried++
			}
			if i%10 == 9 { // a success of one's own in between does not help
				if a.Begin(mine, false) == 0 {
					a.Forget(mine)
				}
			}
		}
		if tried != identity.AttemptsPerAddress {
			t.Errorf("%d attempts were let through", tried)
		}
	})
	t.Run("the memory is bounded", func(t *testing.T) {
		for i := range identity.AttemptsKept + 10 {
			a.Begin(identity.AttemptKey{Address: time.Duration(i).String(), User: "t/u"}, false)
		}
		if len(a.M) > identity.AttemptsKept {
			t.Errorf("%d entries are kept", len(a.M))
		}
	})
}

// TestAttemptsAreNotForgotten fills the table, first from one address and then from many: reached limits stay.
func TestAttemptsAreNotForgotten(t *testing.T) {
	c := newClock()
	a := identity.NewAttempts(c.now)
	victim, eve := identity.AttemptKey{Address: "192.0.2.7", User: "t/ada"}, "198.51.100.1"
	for range identity.AttemptsPerUser {
		a.Begin(victim, true)
	}
	tried := 0
	for i := range identity.AttemptsKept {
		if a.Begin(identity.AttemptKey{Address: eve, User: "t/" + strconv.Itoa(i)}, false) == 0 {
			tried++
		}
	}
	if tried != identity.AttemptsPerAddress {
		t.Errorf("one address tried %d passwords by trying many names", tried)
	}
	if len(a.M) > 3*identity.AttemptsPerAddress {
		t.Errorf("one address takes %d entries", len(a.M))
	}
	for i := range identity.AttemptsKept {
		a.Begin(identity.AttemptKey{Address: "2001:db8:" + strconv.FormatInt(int64(i), 16) + "::1", User: "u/" + strconv.Itoa(i)}, false)
		a.Leave("2001:db8:" + strconv.FormatInt(int64(i), 16) + "::1")
	}
	if len(a.M) > identity.AttemptsKept {
		t.Errorf("%d entries are kept", len(a.M))
	}
	if a.Begin(victim, true) == 0 || a.Begin(identity.AttemptKey{Address: eve, User: "t/another"}, false) == 0 {
		t.Error("a crowd of addresses resets reached limits")
	}
	c.pass(identity.AttemptsWindow)
	if a.Begin(victim, true) != 0 {
		t.Error("a limit lasts longer than its window")
	}
}

// TestCrowd checks that a flood of wrong passwords from many addresses is limited and doesn't lock the owner out.
func TestCrowd(t *testing.T) {
	c := newClock()
	a := identity.NewAttempts(c.now)
	tried := 0
	for i := range 5000 {
		from := "10.1." + strconv.Itoa(i/250) + "." + strconv.Itoa(i%250)
		for range 3 {
			if a.Begin(identity.AttemptKey{Address: from, User: "t/ada"}, false) == 0 {
				tried++
			}
		}
	}
	if tried != identity.AttemptsInCrowd {
		t.Errorf("a crowd of 5000 addresses had %d attempts", tried)
	}
	if !a.Crowded("t/ada") || a.Crowded("t/eve") {
		t.Error("the crowd is missed, or seen without one")
	}
	home := identity.AttemptKey{Address: "192.0.2.7", User: "t/ada"}
	for i := range identity.AttemptsPerUser {
		if wait := a.Begin(home, true); wait != 0 {
			t.Errorf("attempt %d from where the owner was before must wait %s", i, wait)
		}
	}
	if a.Begin(home, true) == 0 {
		t.Error("attempts from a known address are unlimited")
	}
	if wait := a.Begin(identity.AttemptKey{Address: "192.0.2.8", User: "t/ada"}, false); wait <= 0 || wait > identity.AttemptsWindow {
		t.Errorf("a stranger waits %s", wait)
	}
	if wait := a.Begin(identity.AttemptKey{Address: "192.0.2.8", User: "t/eve"}, false); wait != 0 {
		t.Errorf("another user waits %s", wait)
	}
	c.pass(identity.AttemptsWindow)
	if a.Crowded("t/ada") || a.Begin(identity.AttemptKey{Address: "192.0.2.8", User: "t/ada"}, false) != 0 {
		t.Error("failures count after their window")
	}
}

func TestOneNeighbourhoodIsOneAddress(t *testing.T) {
	a := identity.NewAttempts(newClock().now)
	for i := range identity.AttemptsPerUser {
		if a.Begin(identity.AttemptKey{Address: "2001:db8:1:2::" + strconv.Itoa(i), User: "t/ada"}, false) != 0 {
			t.Fatalf("attempt %d must wait", i)
		}
	}
	if a.Begin(identity.AttemptKey{Address: "2001:db8:1:2:ffff::1", User: "t/ada"}, false) == 0 {
		t.Error("attempts from a whole network are unlimited")
	}
	if a.Begin(identity.AttemptKey{Address: "2001:db8:1:3::1", User: "t/ada"}, false) != 0 {
		t.Error("the network beside it must wait")
	}
}

func TestOwnersGetInDespiteACrowd(t *testing.T) {
	w := newUserSite(t).enter("ada")
	for i := range 2 * identity.AttemptsInCrowd {
		w.p.identity.Attempts.Begin(identity.AttemptKey{Address: "10.1." + strconv.Itoa(i/250) + "." + strconv.Itoa(i%250), User: "default/ada"}, false)
	}
	w.another().enter("ada")
	for i := range 2 * identity.AttemptsInCrowd {
		w.p.identity.Attempts.Begin(identity.AttemptKey{Address: "10.2." + strconv.Itoa(i/250) + "." + strconv.Itoa(i%250), User: "default/vera"}, false)
	}
	w.post("/signin", url.Values{"user": {"vera"}, "password": {horse}}).reads(http.StatusTooManyRequests, "Too many attempts.")
}

func TestProxies(t *testing.T) {
	var believed proxies
	for _, p := range []string{"10.0.0.0/8", "::1/128"} {
		believed = append(believed, netip.MustParsePrefix(p))
	}
	for _, c := range []struct {
		who   proxies
		from  string
		heads []string
		want  string
	}{
		{nil, "10.0.0.1:99", []string{"1.2.3.4"}, "10.0.0.1"},
		{believed, "192.0.2.1:99", []string{"1.2.3.4"}, "192.0.2.1"},
		{believed, "10.0.0.1:99", nil, "10.0.0.1"},
		{believed, "10.0.0.1:99", []string{"1.2.3.4"}, "1.2.3.4"},
		{believed, "10.0.0.1:99", []string{"6.6.6.6, 1.2.3.4"}, "1.2.3.4"},
		{believed, "10.0.0.1:99", []string{"6.6.6.6, 1.2.3.4, 10.0.0.2"}, "1.2.3.4"},
		{believed, "10.0.0.1:99", []string{"6.6.6.6", "1.2.3.4"}, "1.2.3.4"},
		{believed, "10.0.0.1:99", []string{"1.2.3.4:5678"}, "1.2.3.4"},
		{believed, "10.0.0.1:99", []string{"[2001:db8::1]:5678"}, "2001:db8::1"},
		{believed, "10.0.0.1:99", []string{"2001:db8::1"}, "2001:db8::1"},
		{believed, "10.0.0.1:99", []string{"1.2.3.4, unknown"}, "10.0.0.1"},
		{believed, "10.0.0.1:99", []string{"1.2.3.4, unknown, 10.0.0.3"}, "10.0.0.3"},
		{believed, "10.0.0.1:99", []string{"10.0.0.9"}, "10.0.0.9"},
		{believed, "10.0.0.1:99", []string{strings.Repeat("10.0.0.2, ", 100) + "10.0.0.2"}, "10.0.0.2"},
		{believed, "[::ffff:10.0.0.1]:99", []string{"1.2.3.4"}, "1.2.3.4"},
		{believed, "[::1]:99", []string{"::ffff:1.2.3.4"}, "1.2.3.4"},
		{believed, "@", []string{"1.2.3.4"}, "@"},
	} {
		r := &http.Request{RemoteAddr: c.from, Header: http.Header{"X-Forwarded-For": c.heads}}
		if got := c.who.visitor(r); got != c.want {
			t.Errorf("%s with %q is %s, not %s", c.from, c.heads, got, c.want)
		}
	}
}

func TestVisitorsBehindAProxyAreWarned(t *testing.T) {
	w := newUserSite(t, func(c *Config) { c.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	w.http.Transport = forwarded{"203.0.113.9", w.http.Transport}
	w.enter("ada")
	w.get("/account").reads(http.StatusOK, "from 203.0.113.9")
	other := w.another()
	for range identity.AttemptsPerUser {
		other.post("/signin", url.Values{"user": {"ada"}, "password": {"wrong"}})
	}
	other.post("/signin", url.Values{"user": {"ada"}, "password": {horse}}).reads(http.StatusTooManyRequests)
	other.http.Transport = forwarded{"203.0.113.10", other.http.Transport.(forwarded).RoundTripper}
	other.enter("ada")

	plain := newUserSite(t)
	plain.http.Transport = forwarded{"203.0.113.9", plain.http.Transport}
	plain.enter("ada").get("/account").lacks("203.0.113.9")
}

type forwarded struct {
	address string
	http.RoundTripper
}

func (f forwarded) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("X-Forwarded-For", f.address)
	return f.RoundTripper.RoundTrip(r)
}

func TestLocal(t *testing.T) {
	for next, want := range map[string]string{
		"/clusters": "/clusters", "/clusters/new?template=web&size=3": "/clusters/new?template=web&size=3", "": "/",
		"//evil.example": "/", "/\\evil.example": "/", "https://evil.example/": "/", "javascript:alert(1)": "/", "clusters": "/",
		"/\t/evil.example": "/", "/%2f/evil.example": "/", "/%5cevil.example": "/", "/x\r\nSet-Cookie: a=b": "/", "/signin?next=/": "/", "/signout": "/",
	} {
		if got := site.Local(next); got != want {
			t.Errorf("local(%q) is %q, not %q", next, got, want)
		}
	}
}
