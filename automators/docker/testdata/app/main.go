// Command app is all that the images of the tests hold.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "fail":
			fmt.Println("reading the configuration")
			fmt.Fprintln(os.Stderr, "no database at "+os.Getenv("DATABASE"))
			os.Exit(3)
		case "ill":
			fmt.Println("it coughs")
			os.Exit(1)
		case "well":
			os.Exit(0)
		}
	}
	if other := os.Getenv("NEEDS"); other != "" {
		if _, err := net.LookupHost(other); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(4)
		}
	}
	if dir := os.Getenv("OUT"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "started"), nil, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(5)
		}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP)
	fmt.Println("the app is here")
	go func() {
		err := http.ListenAndServe(":8080", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, os.Getenv("GREETING")) }))
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}()
	for s := range signals {
		if s == syscall.SIGTERM {
			return
		}
		fmt.Println("read again")
	}
}
