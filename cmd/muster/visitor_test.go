package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"muster/app/apptest"
)

// visitorMain is a program of scripts: a browser, as far as HTTP goes, whose cookies are in a file.
//
//	visitor FILE PATH              gets a page of the server whose data are in MUSTER_DATA
//	visitor FILE PATH NAME=VALUE … posts a form
//
// Where FILE is USER:PASSWORD instead, those are sent as HTTP's basic authentication. It prints the status, where that leads to, and the page's text.
// A VALUE of code:SECRET:N is what an authenticator app shows N steps from now, and code:again is the last such code, although the app may show another by now.
func visitorMain() {
	if err := browse(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// sentCode is the file with the last code of an authenticator app.
const sentCode = "sent-code"

func browse(file, path string, fields []string) error {
	b, err := os.ReadFile(filepath.Join(os.Getenv("MUSTER_DATA"), "client.json"))
	if err != nil {
		return err
	}
	var at struct {
		Server string `json:"server"`
		URL    string `json:"url"`
	}
	if err := json.Unmarshal(b, &at); err != nil {
		return err
	}
	form := url.Values{}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		if value == "code:again" {
			sent, err := os.ReadFile(sentCode)
			if err != nil {
				return err
			}
			value = string(sent)
		} else if secret, ok := strings.CutPrefix(value, "code:"); ok {
			secret, steps, _ := strings.Cut(secret, ":")
			n, err := strconv.Atoi(steps)
			if err != nil {
				return err
			}
			value = apptest.Code(secret, time.Now().Add(time.Duration(n)*30*time.Second))
			if err := os.WriteFile(sentCode, []byte(value), 0o600); err != nil {
				return err
			}
		}
		form.Set(name, value)
	}
	method := http.MethodGet
	if len(fields) > 0 {
		method = http.MethodPost
	}
	r, err := http.NewRequest(method, at.Server+at.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if user, password, basic := strings.Cut(file, ":"); basic {
		r.SetBasicAuth(user, password)
	} else if cookie, err := os.ReadFile(file); err == nil {
		r.Header.Set("Cookie", string(cookie))
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	for _, c := range resp.Cookies() {
		if err := os.WriteFile(file, []byte(c.Name+"="+c.Value), 0o600); err != nil {
			return err
		}
	}
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	tree, err := html.Parse(strings.NewReader(string(page)))
	if err != nil {
		return err
	}
	fmt.Println(resp.StatusCode, resp.Header.Get("Location"))
	for d := range tree.Descendants() {
		if text := strings.Join(strings.Fields(d.Data), " "); d.Type == html.TextNode && text != "" {
			if d.Parent.Data == "pre" { // recovery codes, one a line
				text = strings.TrimSpace(d.Data)
			}
			fmt.Println(text)
		}
	}
	return nil
}
