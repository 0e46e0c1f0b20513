package google

import (
	"muster/app/family"
	"muster/providers/internal/userdata"
)

// guestPath is the guest attribute by which a machine says that its startup script has come to its end.
const guestPath = "muster/started"

// startup returns the script of the first start, and the public half of the host key in it. The guest agent of every image on Compute Engine runs
// it as root; cloud-init is not in all of them.
func startup(spec family.MachineSpec, user, custom string, disks bool) (script, hostKey string, err error) {
	return userdata.StartScript(spec, userdata.StartOptions{User: user, DataDisks: disks, Started: sayStarted, Custom: custom})
}

// sayStarted sets the guest attribute; not every image has curl.
const sayStarted = `	local at=http://metadata.google.internal/computeMetadata/v1/instance/guest-attributes/muster/started
	for try in 1 2 3 4 5; do
		if command -v curl >/dev/null; then
			curl -sf -m 10 -X PUT --data yes -H 'Metadata-Flavor: Google' "$at" >/dev/null && return 0
		else
			exec 3<>/dev/tcp/metadata.google.internal/80 &&
				printf 'PUT %s HTTP/1.0\r\nHost: metadata.google.internal\r\nMetadata-Flavor: Google\r\nContent-Length: 3\r\n\r\nyes' "${at#http://metadata.google.internal}" >&3 &&
				head -n 1 <&3 | grep -q ' 200 ' && return 0
		fi
		sleep "$try"
	done
	return 1`
