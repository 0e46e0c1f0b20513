package shell_test

import (
	"reflect"
	"testing"

	"muster/automators/shell"
)

func TestInputsOfScripts(t *testing.T) {
	config := map[string]any{"version": "7", "web": map[string]any{"port": 80, "token": "x"}, "list": []any{"a", "b"}}
	for script, want := range map[string]map[string]any{
		"apt-get install -y nginx":                      {},
		"echo $CONFIG_VERSION":                          {"version": "7"},
		"#!/usr/bin/env bash\necho ${CONFIG_WEB_PORT-}": {"web": map[string]any{"port": 80}},
		"for x in $CONFIG_LIST; do echo $x; done":       {"list": []any{"a", "b"}},
		"cat $MUSTER_CONFIG":                            config,
		"env | grep CONFIG":                             config,
		"python3 -c 'import os; print(os.environ)'":     config,
		"eval echo \\$CONFIG_$name":                     config,
		"echo $CONFIG_VERSION >$MUSTER_STATE/version":   {"version": "7"},
		"[ $MUSTER_NODE != n2 ]":                        nil,
		"echo $MUSTER_HOSTNAME":                         nil,
		"hostname >/etc/app/name":                       nil,
		"cat /etc/machine-id":                           nil,
		"ip addr show":                                  nil,
		"echo version=7 >>$MUSTER_OUTPUTS":              nil,
	} {
		seen, why := shell.New().Inputs(map[string]string{"script": script}, config)
		if want == nil && why == "" || want != nil && (why != "" || !reflect.DeepEqual(seen, want)) {
			t.Errorf("%q sees %v, %q", script, seen, why)
		}
	}
}
