package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
)

// prometheusMain is a server with Prometheus' query API, for stories: every query has the number in a file as its answer, and "pair" has two. Its
// arguments are that file, and where to write its address.
func prometheusMain() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = os.WriteFile(os.Args[2]+".new", []byte("http://"+l.Addr().String()), 0o600)
	}
	if err == nil {
		err = os.Rename(os.Args[2]+".new", os.Args[2])
	}
	if err == nil {
		err = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, _ := os.ReadFile(os.Args[1])
			one := fmt.Sprintf(`{"metric":{},"value":[1700000000.1,%q]}`, strings.TrimSpace(string(b)))
			if r.FormValue("query") == "pair" {
				one += "," + one
			}
			if r.URL.Path != "/api/v1/query" {
				w.WriteHeader(http.StatusNotFound)
			}
			_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[%s]}}`, one)
		}))
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
