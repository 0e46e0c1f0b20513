package account

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"

	"muster/app"
)

// Settings are an account's, which providers.Check has found to be scalars that the descriptor knows.
type Settings map[string]any

// Text returns a setting without the spaces around it; "" where it is not there.
func (s Settings) Text(name string) string {
	if v, ok := s[name]; ok && v != nil {
		return strings.TrimSpace(fmt.Sprint(v))
	}
	return ""
}

// Or returns a setting, or a default.
func (s Settings) Or(name, otherwise string) string {
	if v := s.Text(name); v != "" {
		return v
	}
	return otherwise
}

// List returns a setting whose parts have commas or spaces between them; nil where it is not there.
func (s Settings) List(name string) []string {
	return strings.FieldsFunc(s.Text(name), func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
}

// Bool returns a setting that is true or false, yes or no; EInvalid where it is neither.
func (s Settings) Bool(name string, otherwise bool) (bool, error) {
	switch strings.ToLower(s.Text(name)) {
	case "":
		return otherwise, nil
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0":
		return false, nil
	}
	return otherwise, Invalid(name, "%q must be true or false", s.Text(name))
}

// Int returns a whole number between two others; EInvalid where it is not one.
func (s Settings) Int(name string, otherwise, least, most int) (int, error) {
	text := s.Text(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return otherwise, Invalid(name, "%q must be a whole number from %d to %d", text, least, most)
	}
	return n, nil
}

// With returns the settings as a flavor or an image overrides them: see Descriptor.FlavorFields.
func (s Settings) With(extras ...map[string]string) Settings {
	out := make(Settings, len(s))
	for k, v := range s {
		out[k] = v
	}
	for _, extra := range extras {
		for k, v := range extra {
			if strings.TrimSpace(v) != "" {
				out[k] = v
			}
		}
	}
	return out
}

// Invalid is the error of a setting.
func Invalid(field, format string, args ...any) *app.Error {
	e := app.Errorf(app.EInvalid, format, args...)
	e.Field = "settings." + field
	return e
}

// PublicLine returns the authorized_keys form of the public half of a private key; EInvalid where it cannot be read.
func PublicLine(private []byte) (string, error) {
	signer, err := ssh.ParsePrivateKey(private)
	if err != nil {
		return "", app.Errorf(app.EInvalid, "can't parse the host key: %w", err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))), nil
}

// Name returns the first part of a host name, which is what clouds take for names of machines: letters, digits and hyphens, at most 63.
func Name(hostname string) string {
	name, _, _ := strings.Cut(hostname, ".")
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name)
	if len(name) > 63 {
		name = name[:63]
	}
	if name = strings.Trim(name, "-"); name == "" {
		return "node"
	}
	return name
}
