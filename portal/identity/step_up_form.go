package identity

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"time"

	"muster/app"
	"muster/portal/site"
)

// A form that needs re-authentication is kept meanwhile, so that people needn't fill it in twice. It is stored in the sender's session,
// encrypted with a key that only the browser has: neither the database nor the browser alone can read it.

const (
	keyForm    = "form"        // of the session
	FormCookie = "muster-form" // the key

	FormKept   = 10 * time.Minute
	MostKept   = 32 << 10 // bytes of all fields
	maxFields  = 200
	afterProof = "/step-up/continue"
)

// neverKept are names of secret fields. A form with one isn't kept at all.
var neverKept = regexp.MustCompile(`(?i)passw|secret|token|credential|private|api_?-?key`)

// keptForm is a submitted form.
type keptForm struct {
	To     string     `json:"to"`   // address it was submitted to
	Back   string     `json:"back"` // the page it was on
	Fields url.Values `json:"fields"`
	At     time.Time  `json:"at"`
	SignIn int64      `json:"sign_in"`
}

// keepForm keeps a submitted form, in place of an earlier one. A form that can't be kept must be filled in again.
func (p *stepUps) keepForm(w http.ResponseWriter, r *http.Request, back string) {
	p.Sessions.Remove(r.Context(), keyForm)
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.Method != http.MethodPost || err != nil || kind != "application/x-www-form-urlencoded" || r.Header.Get("HX-Request") != "" || site.Form(r) != nil {
		return
	}
	if len(r.PostForm) == 0 && r.ContentLength != 0 {
		return // something else has read the body, so the form is incomplete
	}
	if len(r.PostForm) > maxFields || len(r.PostForm.Encode()) > MostKept || slices.ContainsFunc(slices.Collect(maps.Keys(r.PostForm)), neverKept.MatchString) {
		return
	}
	text, err := json.Marshal(keptForm{To: r.URL.RequestURI(), Back: back, Fields: r.PostForm, At: p.Now(), SignIn: p.SignInOf(r)})
	if err != nil {
		return
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	seal, err := sealOf(key)
	if err != nil {
		return
	}
	p.Sessions.Put(r.Context(), keyForm, seal.Seal(nil, make([]byte, seal.NonceSize()), text, nil)) // each key is used once
	p.setFormCookie(w, base64.RawURLEncoding.EncodeToString(key), int(FormKept/time.Second))
}

func (p *stepUps) setFormCookie(w http.ResponseWriter, value string, age int) {
	http.SetCookie(w, &http.Cookie{Name: FormCookie, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: p.Secure, SameSite: http.SameSiteLaxMode})
}

func sealOf(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// formOf returns the form kept for this browser, or nil. With take, it is removed.
func (p *stepUps) formOf(w http.ResponseWriter, r *http.Request, take bool) *keptForm {
	sealed := p.Sessions.GetBytes(r.Context(), keyForm)
	cookie, err := r.Cookie(FormCookie)
	if take {
		p.Sessions.Remove(r.Context(), keyForm)
		if err == nil {
			p.setFormCookie(w, "", -1)
		}
	}
	if err != nil || len(sealed) == 0 {
		return nil
	}
	key, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return nil
	}
	seal, err := sealOf(key)
	if err != nil {
		return nil
	}
	text, err := seal.Open(nil, make([]byte, seal.NonceSize()), sealed, nil)
	if err != nil {
		return nil
	}
	var f keptForm
	if json.Unmarshal(text, &f) != nil || f.SignIn != p.SignInOf(r) || p.Now().Sub(f.At) > FormKept || f.To != site.Local(f.To) {
		return nil
	}
	return &f
}

// acceptPartial redirects after a step-up: to the kept form if it was sent from that page, otherwise to the page.
func (p *stepUps) acceptPartial(w http.ResponseWriter, r *http.Request, next string) {
	if f := p.formOf(w, r, false); f != nil && f.Back == next {
		next = afterProof
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// Continue shows the kept form, once, to confirm and submit it again.
func (p *stepUps) Continue(w http.ResponseWriter, r *http.Request, _ app.Actor) error {
	f := p.formOf(w, r, true)
	if f == nil {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return nil
	}
	shown := KeptForm{To: f.To, Back: f.Back}
	for _, name := range slices.Sorted(maps.Keys(f.Fields)) {
		for _, v := range f.Fields[name] {
			shown.Fields = append(shown.Fields, KeptField{Name: name, Value: v})
		}
	}
	p.Render(w, r, http.StatusOK, KeptFormPage(p.Frame(r, "Continue"), shown))
	return nil
}
