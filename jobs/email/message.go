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
	Preferences string // path of the page on which people turn emails off
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

// messageID is the same at every attempt, so that a second copy is recognised as such.
func messageID(installation string, e notification.Email, base string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", installation, e.Tenant, e.User))
	host := "muster.invalid"
	if u, err := url.Parse(base); err == nil && u.Hostname() != "" {
		host = strings.Trim(u.Hostname(), "[]")
	}
	return fmt.Sprintf("<notification-%d-%s@%s>", e.What.ID, hex.EncodeToString(sum[:8]), strings.ReplaceAll(host, ":", "."))
}

// compose writes an email. Each header is one cleaned line or an encoded address.
func compose(e notification.Email, from mail.Address, installation string, l Links, now time.Time) []byte {
	base := strings.TrimRight(l.Base, "/")
	id := messageID(installation, e, base)
	boundary := "muster-" + rand.Text() // which no one can write into the text
	var b bytes.Buffer
	header := func(name, value string) { fmt.Fprintf(&b, "%s: %s\r\n", name, value) }
	header("From", from.String())
	header("To", (&mail.Address{Name: clean(e.Name, 100), Address: e.To}).String())
	header("Subject", mime.QEncoding.Encode("utf-8", clean(e.What.Title, 150)))
	header("Date", now.Format(time.RFC1123Z))
	header("Message-ID", id)
	header("List-Unsubscribe", "<"+base+l.Preferences+">")
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
	part("text/plain", plain(e, base+l.Page(e), base+l.Preferences))
	part("text/html", rich(e, base+l.Page(e), base+l.Preferences))
	fmt.Fprintf(&b, "--%s--\r\n", boundary)
	return b.Bytes()
}

const longestText = 4000

func plain(e notification.Email, page, preferences string) string {
	text := clean(e.What.Title, 300) + "\r\n\r\n"
	if e.What.Text != "" {
		text += strings.ReplaceAll(bodyText(e), "\n", "\r\n") + "\r\n\r\n"
	}
	return text + "View details: " + page + "\r\n\r\n-- \r\nMuster sent this email to " + e.User + " of tenant " + e.Tenant +
		".\r\nNotification preferences: " + preferences + "\r\n"
}

func bodyText(e notification.Email) string {
	lines := strings.Split(e.What.Text, "\n")
	for i := range lines {
		lines[i] = clean(lines[i], 1000)
	}
	return humanize.CutText(strings.Join(lines, "\n"), longestText)
}

func rich(e notification.Email, page, preferences string) string {
	esc := html.EscapeString
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html lang="en"><body style="margin:0;padding:24px;background:#f2f4ef;` +
		`font-family:system-ui,-apple-system,'Segoe UI',Arial,sans-serif;` +
		`color:#14201b"><div style="max-width:560px;margin:0 auto;padding:24px;background:#fdfefb;border:1px solid #dbe1d8;border-radius:12px">`)
	b.WriteString(`<p style="margin:0 0 12px;font-size:18px;font-weight:600">` + esc(clean(e.What.Title, 300)) + `</p>`)
	if e.What.Text != "" {
		b.WriteString(`<p style="margin:0 0 16px;line-height:1.5">` + strings.ReplaceAll(esc(bodyText(e)), "\n", "<br>") + `</p>`)
	}
	b.WriteString(`<p style="margin:0"><a href="` + esc(page) + `" style="display:inline-block;padding:10px 16px;border-radius:8px;background:#0c5d4b;` +
		`color:#fff;text-decoration:none;font-weight:600">View details</a></p></div>`)
	b.WriteString(`<p style="max-width:560px;margin:16px auto 0;font-size:13px;color:#55635c">Muster sent this email to ` + esc(e.User) + ` of tenant ` +
		esc(e.Tenant) + `. <a href="` + esc(preferences) + `" style="color:#0c5d4b">Notification preferences</a></p></body></html>`)
	return b.String()
}
