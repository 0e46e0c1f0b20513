package demodata

import (
	"os"
	"testing"

	"muster/portal"
	"muster/portal/apitest"
)

// TestMain holds the API's answers to its description.
func TestMain(m *testing.M) { os.Exit(apitest.Watch(m, portal.InspectAPI).Run()) }
