package shell

import (
	"strings"
	"testing"
)

func TestInterpreter(t *testing.T) {
	for script, want := range map[string]string{
		"echo": "sh -eu", "#!/bin/sh\n": "sh -eu", "#!/bin/sh -x\n": "sh -eu", "#! /usr/bin/env sh\n": "sh -eu", "#!\n": "sh -eu",
		"#!/bin/bash\n": "/bin/bash", "#!/bin/bash -e\r\n": "/bin/bash|-e", "#!/usr/bin/env python3": "/usr/bin/env|python3",
		"#!/usr/bin/env -S awk -f\n": "/usr/bin/env|-S awk -f", " #!/bin/bash": "sh -eu",
	} {
		sep := "|"
		if strings.HasPrefix(want, "sh") {
			sep = " "
		}
		if got := strings.Join(interpreter(script), sep); got != want {
			t.Errorf("%q: %s, want %s", script, got, want)
		}
	}
}
