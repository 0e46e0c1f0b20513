package email

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"net/url"
	"strings"
	"time"

	"muster/app"
)

// Server is a mail server that accepts our emails.
type Server struct {
	Host, Port string
	// TLS: from the beginning. Otherwise STARTTLS, without which nothing is sent, except to this host itself.
	TLS      bool
	User     string // "": no authentication
	Password string
	From     mail.Address
	// Trust is the configuration of TLS; nil for the system's certificates.
	Trust *tls.Config
	// Dial connects; nil for the system's.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Limits of one conversation with a mail server.
const (
	dialTime = 15 * time.Second
	sendTime = time.Minute // all of it
)

func invalid(message, hint string) error {
	return &app.Error{Code: app.EInvalid, Field: "smtp-url", Message: message, Hint: hint}
}

// ParseURL reads smtps://USER@HOST:PORT or smtp://USER@HOST:PORT. A password in it is refused: others could read it.
func ParseURL(text string) (s Server, err error) {
	const like = "For example: smtp://muster@mail.example.com:587, or smtps:// for TLS from the beginning (port 465)."
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps":
		return s, invalid("The SMTP URL must start with smtp:// or smtps://, and name a host.", like)
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "":
		return s, invalid("The SMTP URL must end with the host or port.", like)
	}
	if _, has := u.User.Password(); has {
		return s, invalid("The SMTP URL must not contain the password.", "Put it in a file for --smtp-password-file, or in MUSTER_SMTP_PASSWORD.")
	}
	s = Server{Host: u.Hostname(), Port: u.Port(), TLS: u.Scheme == "smtps", User: u.User.Username()}
	if s.Port == "" {
		s.Port = map[bool]string{true: "465", false: "587"}[s.TLS]
	}
	return s, nil
}

// here reports whether the server is on this host, to which a connection needs no encryption.
func (s Server) here() bool {
	ip := net.ParseIP(s.Host)
	return s.Host == "localhost" || ip != nil && ip.IsLoopback()
}

func (s Server) trust() *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.Trust != nil {
		c = s.Trust.Clone()
	}
	c.ServerName = s.Host
	return c
}

// open connects, encrypts and authenticates.
func (s Server) open(ctx context.Context) (*smtp.Client, error) {
	c, err := s.connect(ctx)
	return c, notYet(err)
}

// notYet is an error from before an email was offered: whatever it is, the emails wait.
func notYet(err error) error {
	if err == nil {
		return nil
	}
	e := *failure(err)
	if e.Code == app.EForbidden {
		e.Code, e.Hint = app.ETransient, "Check --smtp-url and --smtp-from."
	}
	return &e
}

// watched is a connection that ends soon after the server begins to stop.
type watched struct {
	net.Conn
	stop func() bool
}

// Close implements net.Conn.
func (w watched) Close() error {
	w.stop()
	return w.Conn.Close()
}

// stopTime is how long an email that is being sent may take when the server stops.
const stopTime = 5 * time.Second

func (s Server) connect(stops context.Context) (*smtp.Client, error) {
	ctx, cancel := context.WithTimeout(stops, dialTime)
	defer cancel()
	dial := s.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	conn, err := dial(ctx, "tcp", net.JoinHostPort(s.Host, s.Port))
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(sendTime))
	raw := conn
	conn = watched{raw, context.AfterFunc(stops, func() { _ = raw.SetDeadline(time.Now().Add(stopTime)) })}
	if s.TLS {
		conn = tls.Client(conn, s.trust())
	}
	c, err := smtp.NewClient(conn, s.Host)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	if err := s.greet(c); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

func (s Server) greet(c *smtp.Client) error {
	if _, domain, ok := strings.Cut(s.From.Address, "@"); ok { // relays refuse the default, localhost
		if err := c.Hello(domain); err != nil {
			return err
		}
	}
	if !s.TLS {
		offers, _ := c.Extension("STARTTLS")
		switch {
		case offers && !s.here():
			if err := c.StartTLS(s.trust()); err != nil {
				return err
			}
		case !s.here():
			return &app.Error{Code: app.ETransient, Message: "The mail server doesn't offer STARTTLS, so nothing is sent to it unencrypted.",
				Hint: "Use smtps://, or another port."}
		}
	}
	if s.User == "" {
		return nil
	}
	return c.Auth(smtp.PlainAuth("", s.User, s.Password, s.Host))
}

// send sends one message over an open connection.
func (s Server) send(c *smtp.Client, to string, message []byte) error {
	if err := c.Mail(s.From.Address); err != nil {
		return notYet(err)
	}
	if err := c.Rcpt(to); err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(message); err != nil {
		return err
	}
	return w.Close()
}

// failure is an error in terms of the retry policy: what a mail server refuses for good isn't tried again.
func failure(err error) *app.Error {
	var known *app.Error
	var answer *textproto.Error
	var certificate *tls.CertificateVerificationError
	var slow net.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &answer) && answer.Code >= 500 && (answer.Code == 530 || answer.Code == 534 || answer.Code == 535 || answer.Code == 538):
		// Wrong credentials are the operator's to correct, and emails wait for it.
		return &app.Error{Code: app.ETransient, Message: "The mail server refused the user name or password.", Hint: "Check --smtp-url and the password."}
	case errors.As(err, &answer) && answer.Code >= 500:
		return &app.Error{Code: app.EForbidden, Message: "The mail server refused the email: " + clean(answer.Error(), 200)}
	case errors.As(err, &certificate):
		return &app.Error{Code: app.ETransient, Message: "The mail server's certificate isn't trusted.",
			Hint: "Use the host name in its certificate; add a private CA to the system's certificates."}
	case errors.As(err, &slow) && slow.Timeout():
		return &app.Error{Code: app.ETimeout, Message: "The mail server didn't answer in time."}
	}
	return &app.Error{Code: app.ETransient, Message: "The mail server couldn't be used: " + clean(err.Error(), 200)}
}
