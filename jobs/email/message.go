package email

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"net/url"
	"strings"
	"time"
	"unicode"

	"muster/app/humanize"
	"muster/app/notification"
)

// Links are where links in emails lead.
type Links struct {
	Base        string // of the portal
	Account     string // path of one's own account
	Preferences string // path of the page on which people turn emails off
	Confirm     string // path of the page on which people confirm an address; the token is in its query, since logs keep paths
	// Page is the path of a notification.
	Page func(n notification.Email) string
}

// clean makes one line of text without control characters, at most `most` characters long: nothing in it can begin another header.
func clean(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return humanize.CutText(strings.Join(strings.Fields(text), " "), most)
}

// message is what an email says. Each text is cleaned as it's written.
type message struct {
	id, name, to string // name is the reader's, "" if the address may be someone else's
	title, text  string
	action, page string // where to go, and what for
	why          string // Muster sent this email
	more, at     string // another page
	unsubscribe  bool   // at is the page on which one turns such emails off
}

// messageID is the same at every attempt, so that a second copy is recognised as such.
func messageID(what, base string) string {
	host := "muster.invalid"
	if u, err := url.Parse(base); err == nil && u.Hostname() != "" {
		host = strings.Trim(u.Hostname(), "[]")
	}
	return fmt.Sprintf("<%s@%s>", what, strings.ReplaceAll(host, ":", "."))
}

// noticeMessage is a notification by email.
func noticeMessage(e notification.Email, installation string, l Links) message {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", installation, e.Tenant, e.User))
	return message{id: messageID(fmt.Sprintf("notification-%d-%s", e.What.ID, hex.EncodeToString(sum[:8])), l.Base), name: e.Name, to: e.To,
		title: e.What.Title, text: e.What.Text, action: "View details", page: l.Base + l.Page(e),
		why: "to " + e.User + " of tenant " + e.Tenant + ".", more: "Notification preferences", at: l.Base + l.Preferences, unsubscribe: true}
}

// addressMessage is about the address of an account. Each attempt has a link of its own, so each is another message.
func addressMessage(e notification.Email, l Links, now time.Time) message {
	account := "account " + e.User + " of tenant " + e.Tenant
	m := message{id: messageID(fmt.Sprintf("address-%s-%d", strings.ToLower(e.Address.ID), e.Attempts), l.Base), to: e.To,
		more: "Your account", at: l.Base + l.Account}
	if e.Address.Kind == notification.AddressChanged {
		m.title, m.action, m.page = "Your email address in Muster was changed", "View your account", m.at
		m.text = "Emails for " + account + " now go to another address, which its reader has confirmed.\n" +
			"If it wasn't you, change your password, sign out everywhere else and tell an admin."
		m.why = "because " + account + " had this address."
		return m
	}
	m.title, m.action = "Confirm your email address", "Confirm address"
	m.page = l.Base + l.Confirm + "?" + url.Values{"token": {e.Address.Token}}.Encode()
	m.text = "This address was entered for " + account + ". Until you confirm it, emails aren't sent to it.\n" +
		"The link works once, for " + humanize.Duration(e.Address.ExpiresAt.Sub(now).Round(time.Minute)) + ", while you're signed in to that account.\n" +
		"If it isn't your account, ignore this email."
	m.why = "because someone entered this address at the portal."
	return m
}

// compose writes an email. Each header is one cleaned line or an encoded address.
func compose(m message, from mail.Address, now time.Time) []byte {
	boundary := "muster-" + rand.Text() // which no one can write into the text
	var b bytes.Buffer
	header := func(name, value string) { fmt.Fprintf(&b, "%s: %s\r\n", name, value) }
	header("From", from.String())
	header("To", (&mail.Address{Name: clean(m.name, 100), Address: m.to}).String())
	header("Subject", mime.QEncoding.Encode("utf-8", clean(m.title, 150)))
	header("Date", now.Format(time.RFC1123Z))
	header("Message-ID", m.id)
	if m.unsubscribe {
		header("List-Unsubscribe", "<"+m.at+">")
	}
	header("Auto-Submitted", "auto-generated")
	header("MIME-Version", "1.0")
	header("Content-Type", `multipart/alternative; boundary="`+boundary+`"`)
	b.WriteString("\r\n")
	part := func(kind, text string) {
		fmt.Fprintf(&b, "--%s\r\nContent-Type: %s; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n", boundary, kind)
		w := quotedprintable.NewWriter(&b)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		b.WriteString("\r\n")
	}
	part("text/plain", m.plain())
	part("text/html", m.rich())
	fmt.Fprintf(&b, "--%s--\r\n", boundary)
	return b.Bytes()
}

const longestText = 4000

func (m message) plain() string {
	text := clean(m.title, 300) + "\r\n\r\n"
	if m.text != "" {
		text += strings.ReplaceAll(m.body(), "\n", "\r\n") + "\r\n\r\n"
	}
	return text + m.action + ": " + m.page + "\r\n\r\n-- \r\nMuster sent this email " + m.why + "\r\n" + m.more + ": " + m.at + "\r\n"
}

func (m message) body() string {
	lines := strings.Split(m.text, "\n")
	for i := range lines {
		lines[i] = clean(lines[i], 1000)
	}
	return humanize.CutText(strings.Join(lines, "\n"), longestText)
}

func (m message) rich() string {
	esc := html.EscapeString
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html lang="en"><body style="margin:0;padding:24px;background:#f2f4ef;` +
		`font-family:system-ui,-apple-system,'Segoe UI',Arial,sans-serif;` +
		`color:#14201b"><div style="max-width:560px;margin:0 auto;padding:24px;background:#fdfefb;border:1px solid #dbe1d8;border-radius:12px">`)
	b.WriteString(`<p style="margin:0 0 12px;font-size:18px;font-weight:600">` + esc(clean(m.title, 300)) + `</p>`)
	if m.text != "" {
		b.WriteString(`<p style="margin:0 0 16px;line-height:1.5">` + strings.ReplaceAll(esc(m.body()), "\n", "<br>") + `</p>`)
	}
	b.WriteString(`<p style="margin:0"><a href="` + esc(m.page) + `" style="display:inline-block;padding:10px 16px;border-radius:8px;background:#0c5d4b;` +
		`color:#fff;text-decoration:none;font-weight:600">` + esc(m.action) + `</a></p></div>`)
	b.WriteString(`<p style="max-width:560px;margin:16px auto 0;font-size:13px;color:#55635c">Muster sent this email ` + esc(m.why) +
		` <a href="` + esc(m.at) + `" style="color:#0c5d4b">` + esc(m.more) + `</a></p></body></html>`)
	return b.String()
}
