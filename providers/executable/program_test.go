package executable

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"muster/app/program"
)

// beProgram is this test as a program that does what the test wants.
func beProgram(mode string) {
	say := func(id uint64, result string) { fmt.Printf("{\"id\":%d,\"result\":%s}\n", id, result) }
	note := func(word string) {
		f, err := os.OpenFile(os.Getenv("MUSTER_TEST_NOTES"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		_, _ = f.WriteString(word + "\n")
		_ = f.Close()
	}
	if mode == "stubborn" {
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command("sleep", "1000")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			panic(err)
		}
		note(strconv.Itoa(child.Process.Pid))
	}
	var kept []string
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var r struct {
			ID     uint64
			Verb   string
			Params struct {
				Intent, ID string
				Tags       map[string]string
				Settings   map[string]string
				Request    uint64
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			panic(err)
		}
		note(r.Verb)
		switch {
		case mode == "mute" && r.Verb == "describe":
		case mode == "newer" && r.Verb == "describe":
			say(r.ID, `{"protocol":2,"name":"odd","description":"newer"}`)
		case mode == "babbles" && r.Verb == "describe":
			fmt.Println("Hello, this is odd 1.0!")
		case r.Verb == "describe":
			say(r.ID, `{"protocol":1,"name":"odd","description":"does what tests want","fields":[{"name":"token","label":"Token","secret":true}],"powers":[],"at_once":1000}`)
		case mode == "dies" && r.Verb == "open":
			os.Exit(5)
		case r.Verb == "open":
			kept = append(kept, r.Params.Settings["token"])
			if mode == "deaf" {
				say(r.ID, "{}")
				time.Sleep(time.Hour)
			}
			say(r.ID, "{}")
		case mode == "tells" && r.Verb == "delete":
			fmt.Fprintln(os.Stderr, "the token is", kept[0], strings.Repeat("x", 2*program.LongestLog))
			fmt.Fprintln(os.Stderr, "environment", len(os.Environ()), "arguments", len(os.Args))
			fmt.Printf("{\"id\":%d,\"error\":{\"code\":\"credentials\",\"message\":\"%s is\\u001b[31m refused\",\"retry_after_seconds\":1e300}}\n", r.ID, kept[0])
		case r.Verb == "create":
			os.Exit(3)
		case r.Verb == "delete" && mode == "endless":
			for {
				if _, err := os.Stdout.WriteString(strings.Repeat("endless ", 1<<13)); err != nil {
					return
				}
			}
		case r.Verb == "delete" && mode == "garbage":
			fmt.Println("Traceback (most recent call last):")
		case r.Verb == "delete" && mode == "strange":
			say(r.ID+5000, "{}")
			say(r.ID, "{}")
		case r.Verb == "delete" && mode == "closes":
			_ = os.Stdout.Close()
			time.Sleep(time.Hour)
		case r.Verb == "delete" && mode == "silent":
		case r.Verb == "machine" && mode == "shuffles": // a thousand are answered when they have all come, the last one first
			if kept = append(kept, fmt.Sprintf("{\"id\":%d,\"result\":{\"id\":%q,\"state\":\"running\"}}", r.ID, r.Params.ID)); len(kept) == 1001 {
				for i := len(kept) - 1; i > 0; i-- {
					fmt.Println(kept[i])
				}
			}
		case r.Verb == "machine":
			say(r.ID, `{"id":"another","state":"running"}`)
		case r.Verb == "list":
			say(r.ID, `{"machines":[{"id":"m","state":"confused"}]}`)
		}
	}
	if mode == "stubborn" {
		time.Sleep(time.Hour)
	}
}
