package main

import (
	"fmt"
	"os"
	"testing"

	"muster/portal"
	"muster/portal/apitest"
)

// TestMain holds the API's answers to its description. Scenarios start this program again as other ends, as they do with the command.
func TestMain(m *testing.M) {
	if began, err := runChild(); began {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(apitest.Watch(m, portal.InspectAPI).Run())
}
