package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	appwebhook "muster/app/webhook"
	"muster/jobs/webhook"
)

// buildSystem is a small program for scripts: it speaks to a build hook as a build system and its builds do.
//
//	buildsystem send SAVED ID BODY     signs the file BODY with the secret that `muster build hook save` printed into the file SAVED, sends it
//	                                   under the number ID, and prints the answer
//	buildsystem get ANSWER [PATH]      asks for what is below the address in an answer, with its token
//	buildsystem post ANSWER PATH
//
// It fails where the status is 400 or more; it prints that and what was said to stderr.
func buildSystem() {
	if err := speakToHook(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var (
	savedAddress = regexp.MustCompile(`Send deliveries to (\S+)`)
	savedSecret  = regexp.MustCompile(`Secret: (\S+)`)
	givenURL     = regexp.MustCompile(`"url":"([^"]+)"`)
	givenToken   = regexp.MustCompile(`"token":"([^"]+)"`)
)

func speakToHook(args []string, out io.Writer) error {
	if len(args) < 2 || args[0] == "send" && len(args) != 4 {
		return errors.New("buildsystem send SAVED ID BODY, or get or post ANSWER PATH")
	}
	text, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	find := func(what *regexp.Regexp) string {
		if m := what.FindSubmatch(text); m != nil {
			return string(m[1])
		}
		return ""
	}
	var r *http.Request
	if args[0] == "send" {
		body, err := os.ReadFile(args[3])
		if err != nil {
			return err
		}
		if r, err = http.NewRequest(http.MethodPost, find(savedAddress), bytes.NewReader(body)); err != nil {
			return err
		}
		now := time.Now()
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(webhook.HeaderID, args[2])
		r.Header.Set(webhook.HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
		key, err := appwebhook.HookSecret(find(savedSecret))
		if err != nil {
			return err
		}
		r.Header.Set(webhook.HeaderSignature, webhook.Sign(args[2], now, body, key))
	} else {
		path := ""
		if len(args) > 2 {
			path = args[2]
		}
		if r, err = http.NewRequest(strings.ToUpper(args[0]), find(givenURL)+path, nil); err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+find(givenToken))
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 400 {
		return fmt.Errorf("%d %s", resp.StatusCode, said)
	}
	_, err = fmt.Fprintf(out, "%s\n", bytes.TrimSpace(said))
	return err
}
