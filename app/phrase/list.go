package phrase

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Length writes a duration as people say it, with its two greatest units: 3 d 4 h, 2 h, 15 min.
func Length(d time.Duration) string {
	day := 24 * time.Hour
	units := []struct {
		size time.Duration
		name string
	}{{day, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}}
	for i, u := range units {
		if d < u.size && i < len(units)-1 {
			continue
		}
		text := fmt.Sprintf("%d %s", d/u.size, u.name)
		if i+1 < len(units) {
			if n := d % u.size / units[i+1].size; n > 0 {
				text += fmt.Sprintf(" %d %s", n, units[i+1].name)
			}
		}
		return text
	}
	return ""
}

func AndList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// OrList joins alternatives as a sentence does: "a, b or c".
func OrList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// SomeOf lists up to n names, and how many more there are.
func SomeOf(names []string, n int) string {
	if len(names) > n {
		return fmt.Sprintf("%s and %d more", JoinNames(names[:n]), len(names)-n)
	}
	if len(names) < 2 {
		return JoinNames(names)
	}
	return JoinNames(names[:len(names)-1]) + " and " + names[len(names)-1]
}

func JoinNames(names []string) string {
	out := ""
	for i, n := range names {
		if i > 0 {
			out += ", "
		}
		out += n
	}
	return out
}

func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func Several(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func Spaced(s string) string { return strings.ReplaceAll(s, "_", " ") }
