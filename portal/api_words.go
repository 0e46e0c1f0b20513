package portal

import (
	"regexp"
	"strconv"

	"muster/app/humanize"
)

// refusals replace huma's error messages with ours.
var refusals = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`^expected required property (.+) to be present$`), "$1 is required"},
	{regexp.MustCompile(`^unexpected property$`), "unknown field"},
	{regexp.MustCompile(`^(?:expected|invalid) integer$`), "must be a whole number"},
	{regexp.MustCompile(`^expected number$`), "must be a number"},
	{regexp.MustCompile(`^expected string$`), "must be text"},
	{regexp.MustCompile(`^(?:expected|invalid) boolean$`), "must be true or false"},
	{regexp.MustCompile(`^expected array$`), "must be a list"},
	{regexp.MustCompile(`^expected object$`), "must be an object"},
	{regexp.MustCompile(`^expected number >= (\S+)$`), "must be at least $1"},
	{regexp.MustCompile(`^expected number <= (\S+)$`), "must be at most $1"},
	{regexp.MustCompile(`^expected length >= (\d+)$`), "must have at least $1 characters"},
	{regexp.MustCompile(`^expected length <= (\d+)$`), "must have at most $1 characters"},
	{regexp.MustCompile(`^expected array length >= (\d+)$`), "must have at least $1 items"},
	{regexp.MustCompile(`^expected array length <= (\d+)$`), "must have at most $1 items"},
	{regexp.MustCompile(`^expected value to be one of "(.*)"$`), "must be one of: $1"},
	{regexp.MustCompile(`^expected string to be RFC 3339 date-time$`), "must be a date and time such as 2026-01-31T15:04:05Z"},
	{regexp.MustCompile(`^expected string to match pattern (.+)$`), "must match $1"},
	{regexp.MustCompile(`^request body is required$`), "The request needs a body."},
	{regexp.MustCompile(`^unknown content type.*$`), "The body's media type isn't supported: send application/json."},
}

var bodyTooLarge = regexp.MustCompile(`^request body is too large limit=(\d+) bytes$`)

// plainRefusal rewrites an error of huma or the standard library in plain English.
func plainRefusal(message string) string {
	if m := bodyTooLarge.FindStringSubmatch(message); m != nil {
		if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			return "The request is larger than " + humanize.Bytes(n) + "."
		}
	}
	for _, r := range refusals {
		if r.re.MatchString(message) {
			return r.re.ReplaceAllString(message, r.to)
		}
	}
	return humanize.PlainText(message)
}
