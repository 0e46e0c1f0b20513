package humanize

import (
	"fmt"
	"regexp"
	"strings"
)

// maxErrorText is how much of an error is put into words; the rest is cut off.
const maxErrorText = 64 << 10

// PlainError says an error in the words of people. The standard library and the libraries that read YAML and JSON name their own functions and
// types ("strconv.ParseInt", "Go struct field", "!!str"), which mean nothing to the person who typed the value. Everything else stays as it is.
func PlainError(err error) string {
	if err == nil {
		return ""
	}
	return PlainText(err.Error())
}

// PlainText is PlainError for an error that has become text, such as one that another server reported.
func PlainText(text string) string {
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + "…"
	}
	for i := range replacements {
		if w := &replacements[i]; strings.Contains(text, w.has) { // cheaper than the expression, and seldom true
			text = w.re.ReplaceAllStringFunc(text, func(found string) string { return w.say(w.re.FindStringSubmatch(found)) })
		}
	}
	return text
}

type replacement struct {
	has string
	re  *regexp.Regexp
	say func(m []string) string
}

// goQuoted is a Go string in double quotes.
const goQuoted = `"(?:[^"\\]|\\.)*"`

func word(has, re, format string) replacement {
	return replacement{has, regexp.MustCompile(re), func(m []string) string {
		args := make([]any, len(m)-1)
		for i := range args {
			args[i] = m[i+1]
		}
		return fmt.Sprintf(format, args...)
	}}
}

// replacements are applied in this order: what is more exact comes first.
var replacements = []replacement{
	// Numbers and booleans
	word("strconv.", `strconv\.(?:ParseInt|ParseUint|Atoi): parsing (`+goQuoted+`): invalid syntax`, "%s isn't a whole number"),
	word("strconv.", `strconv\.ParseFloat: parsing (`+goQuoted+`): invalid syntax`, "%s isn't a number"),
	word("strconv.", `strconv\.ParseBool: parsing (`+goQuoted+`): invalid syntax`, "%s isn't true or false"),
	word("strconv.", `strconv\.\w+: parsing (`+goQuoted+`): value out of range`, "%s is out of range"),
	word("strconv.", `strconv\.\w+: (?:parsing )?`, ""),
	word("isn't true or", `parsing (`+goQuoted+`): (`+goQuoted+`)`, "%s: %s"),

	// Times
	word("time: ", `time: (?:invalid duration|missing unit in duration|unknown unit `+goQuoted+` in duration) (`+goQuoted+`)`, "%s isn't a duration such as 30m, 8h or 2d"),
	word("parsing time ", `parsing time (`+goQuoted+`)(?: as `+goQuoted+`)?: (?:cannot parse `+goQuoted+` as `+goQuoted+`|[a-z ]+out of range|extra text: `+goQuoted+`)`, "%s isn't a date and time such as 2026-01-31T15:04:05Z"),
	word("Time.UnmarshalJSON", `Time\.UnmarshalJSON: input is not a JSON string`, "a date and time must be text, such as \"2026-01-31T15:04:05Z\""),

	// JSON
	{"json: cannot unmarshal", regexp.MustCompile(`json: cannot unmarshal (\w+)(?: \S+)? into Go (?:struct field |value)(?:\w*\.)?([\w.\[\]-]*) of type ([\w.\[\]*{}]+)`), func(m []string) string {
		if m[2] == "" {
			return mustBe(m[3]) + ", not " + kindOfJSON(m[1])
		}
		return m[2] + " " + mustBe(m[3]) + ", not " + kindOfJSON(m[1])
	}},
	word("json: unknown field", `json: unknown field (`+goQuoted+`)`, "unknown field %s"),
	word("invalid character", `invalid character ('(?:[^'\\]|\\.)+'|`+goQuoted+`) (?:after object key:value pair|(?:looking for|after|in|before) [^:;\n]*)`, "not valid JSON: unexpected %s"),
	word("unexpected end of JSON", `unexpected end of JSON input`, "not valid JSON: ends too early"),
	word("unexpected EOF", `(^|: )unexpected EOF$`, "%sends too early"),
	word("exceeded max depth", `exceeded max depth`, "not valid JSON: nested too deeply"),

	// YAML
	word("yaml: unmarshal errors", `yaml: unmarshal errors:\n\s*`, ""),
	{"cannot unmarshal !!", regexp.MustCompile("cannot unmarshal !!(\\w+)(?: `([^`]*)`)? into ([\\w.\\[\\]*{}]+)"), func(m []string) string {
		if m[2] == "" {
			return mustBe(m[3]) + ", not " + kindOfYAML(m[1])
		}
		return fmt.Sprintf("%q %s", m[2], mustBe(m[3]))
	}},
	word("not found in type", `field (\S+) not found in type \S+`, "unknown field %q"),
	word("already set in type", `field (\S+) already set in type \S+`, "%s is set twice"),
	word("already defined at line", `mapping key (`+goQuoted+`) already defined at line (\d+)`, "%s is set twice, first on line %s"),
	word("yaml: ", `(^|[^\w.-])yaml: `, "%s"), // and not the end of a file's name

	// Addresses
	word("missing protocol scheme", `parse (`+goQuoted+`): missing protocol scheme`, "%s isn't a complete address: start with https:// or http://"),
	word("parse ", `\bparse (`+goQuoted+`): (?:net/url: )?(first path segment in URL cannot contain colon|invalid [^;\n]*|empty url)`, "%s isn't a valid address: %s"),
	word("first path segment", `first path segment in URL cannot contain colon`, "start with https:// or http://"),
	word("missing port in address", `(?:(?:listen|dial) (?:tcp|udp)[46]?: )?address (\S+): missing port in address`, "%s has no port: use HOST:PORT, such as 127.0.0.1:8080"),
	word("too many colons in address", `(?:(?:listen|dial) (?:tcp|udp)[46]?: )?address (\S+): too many colons in address`, "%s has too many colons: use HOST:PORT, with an IPv6 address in brackets, such as [::1]:8080"),
	word("unknown port", `(?:(?:listen|dial) (?:tcp|udp)[46]?: )?(?:lookup )?(?:tcp|udp)/(\S+): unknown port`, "%s isn't a port: use a number from 0 to 65535"),
	word("invalid port", `(?:(?:listen|dial) (?:tcp|udp)[46]?: )?address (\S+): invalid port`, "%s isn't a port: use a number from 0 to 65535"),

	// The network
	word("no such host", `(?:(?:listen|dial) (?:tcp|udp)[46]?: )?lookup ([^\s:]+)(?: on \S+)?: no such host`, "host %s doesn't exist"),
	word("server misbehaving", `(?:(?:listen|dial) (?:tcp|udp)[46]?: )?lookup ([^\s:]+)(?: on \S+)?: server misbehaving`, "can't look up %s: the name server isn't responding"),
	word("connection refused", `dial (?:tcp|udp|unix)[46]? (\S+): connect: connection refused`, "%s: connection refused"),
	word("i/o timeout", `dial (?:tcp|udp|unix)[46]? (\S+): i/o timeout`, "%s isn't responding"),
	word("dial ", `dial (?:tcp|udp|unix)[46]? (\S+): connect: `, "%s: "),
	word("address already in use", `listen (?:tcp|udp|unix)[46]? (\S+): bind: address already in use`, "%s is already in use by another program"),
	word("listen ", `listen (?:tcp|udp|unix)[46]? (\S+): bind: `, "can't listen on %s: "),
	word("connection reset by peer", `(?:read|write) (?:tcp|udp|unix)[46]? \S+->(\S+): (?:read|write): connection reset by peer`, "%s closed the connection"),
	word("context deadline exceeded", `context deadline exceeded(?: \([^()]*\))?`, "timed out"),
	word("context canceled", `context canceled`, "cancelled"),
	{`: `, regexp.MustCompile(`\b(?:Get|Post|Put|Patch|Delete|Head) "(https?://[^"\s]+)": `), func(m []string) string { return m[1] + ": " }},

	// Certificates
	word("tls: failed to verify", `tls: failed to verify certificate: `, ""),
	word("x509: ", `x509: certificate signed by unknown authority(?: \([^()]*\))?`, "the server's certificate is signed by an untrusted authority"),
	word("x509: ", `x509: certificate has expired or is not yet valid(?:: [^;\n]*)?`, "the server's certificate has expired or isn't valid yet"),
	word("x509: ", `x509: certificate is valid for ([^;\n]*), not (\S+)`, "the server's certificate is for %s, not %s"),
	word("x509: ", `x509: `, "certificate: "),
	word("tls: first record", `tls: first record does not look like a TLS handshake`, "the server doesn't use TLS at this address: try http://"),
	word("gave HTTP response", `http: server gave HTTP response to HTTPS client`, "the server doesn't use TLS at this address: try http://"),
	word("tls: ", `(^|[^\w.-])tls: `, "%sTLS: "),
	word("json: ", `(^|[^\w.-])json: `, "%s"), // and not of a flag or a file
}

// mustBe says what a value of a Go type looks like to the one who writes it.
func mustBe(goType string) string {
	switch t := strings.TrimLeft(goType, "*"); {
	case strings.HasPrefix(t, "[]"):
		return "must be a list"
	case strings.HasPrefix(t, "map["):
		return "must be a map of keys and values"
	case strings.HasPrefix(t, "int"), strings.HasPrefix(t, "uint"), t == "time.Duration":
		return "must be a whole number"
	case strings.HasPrefix(t, "float"):
		return "must be a number"
	case t == "bool":
		return "must be true or false"
	case t == "string":
		return "must be text"
	case t == "time.Time":
		return "must be a date and time"
	}
	return "must be a map of keys and values"
}

func kindOfJSON(kind string) string {
	switch kind {
	case "string":
		return "text"
	case "number":
		return "a number"
	case "bool":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "a map"
	}
	return kind
}

func kindOfYAML(tag string) string {
	switch tag {
	case "str", "timestamp", "binary":
		return "text"
	case "int", "float":
		return "a number"
	case "bool":
		return "true or false"
	case "seq":
		return "a list"
	case "map":
		return "a map"
	}
	return "empty"
}
