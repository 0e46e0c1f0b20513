package site

import "strings"

// BrowserOf names the browser of a User-Agent header. Browsers claim to be each other, so the order counts; an unknown one is "a browser"
// or the program's own name.
func BrowserOf(agent string) string {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(agent, w) {
				return true
			}
		}
		return false
	}
	name, system := "", ""
	switch {
	case has("Edg/", "EdgA/", "EdgiOS/"):
		name = "Edge"
	case has("OPR/", "Opera"):
		name = "Opera"
	case has("Firefox/", "FxiOS/"):
		name = "Firefox"
	case has("Chrome/", "CriOS/", "Chromium/"):
		name = "Chrome"
	case has("Safari/") && has("Version/"):
		name = "Safari"
	}
	switch {
	case has("iPhone"):
		system = "iPhone"
	case has("iPad"):
		system = "iPad"
	case has("Android"):
		system = "Android"
	case has("CrOS"):
		system = "ChromeOS"
	case has("Windows"):
		system = "Windows"
	case has("Mac OS X", "Macintosh"):
		system = "a Mac"
	case has("Linux", "X11"):
		system = "Linux"
	}
	switch {
	case name != "" && system != "":
		return name + " on " + system
	case name != "":
		return name
	case system != "":
		return "A browser on " + system
	}
	// A program such as curl/8.5.0: its first word, if it is a plain one.
	first, _, _ := strings.Cut(agent, " ")
	if len(first) > 0 && len(first) <= 40 && strings.Trim(first, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./-_") == "" {
		return first
	}
	return "A browser"
}
