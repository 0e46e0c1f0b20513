package portal

import (
	"testing"

	"go.uber.org/goleak"

	"muster/portal/apitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(apitest.Watch(m, InspectAPI)) }
