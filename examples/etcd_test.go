package examples_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEtcdJoinsAnEnsembleThatLags covers joining a busy ensemble: the member it asks doesn't know about the node yet, and etcd exits before
// it has a log of its own. It must never start an ensemble of its own then, neither in the same attempt nor in a later one.
func TestEtcdJoinsAnEnsembleThatLags(t *testing.T) {
	const etcdctl = `#!/bin/sh
# The ensemble of 10.0.0.1, which has taken 10.0.0.2 in once it was asked to. A member that has not started has no name and no client address.
case "$*" in
*"member list"*)
  echo "a1, started, 10.0.0.1, http://10.0.0.1:2380, http://10.0.0.1:2379, false"
  [ ! -e "$HERE/taken" ] || echo "b2, unstarted, , http://10.0.0.2:2380, , false" ;;
*"member remove b2"*) rm "$HERE/taken" ;;
*"member add"*)
  [ ! -e "$HERE/taken" ] || { echo "it is a member already" >&2; exit 1; }
  touch "$HERE/taken"
  echo 'ETCD_INITIAL_CLUSTER="10.0.0.1=http://10.0.0.1:2380,10.0.0.2=http://10.0.0.2:2380"' ;;
*) echo "not expected: $*" >&2; exit 1 ;;
esac
`
	const etcd = `#!/bin/sh
# It ends at once as often as the file "fails" has letters, with the text of the file "says".
echo "$*" >>"$HERE/starts"
dir=$4
mkdir -p "$dir/member/snap"
if [ -s "$HERE/fails" ]; then
  left=$(cat "$HERE/fails"); printf '%s' "${left#?}" >"$HERE/fails"
  cat "$HERE/says" >&2
  exit 1
fi
mkdir "$dir/member/wal"
sleep 60 &
trap "kill $!; exit" TERM
wait
`
	for _, tt := range []struct {
		name, says, fails string
		attempts, starts  int // what the last attempt makes good
	}{
		{"at once", "", "", 1, 1},
		{"the member asked does not know of it", "C | etcdmain: error validating peerURLs {ClusterID:aa}: member count is unequal", "xxx", 1, 4},
		{"it ends, and is tried again", "C | etcdmain: listen tcp 10.0.0.2:2380: bind: cannot assign requested address", "x", 2, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			here := t.TempDir()
			n := &node{t: t, c: load(t), name: "n2", address: "10.0.0.2", state: filepath.Join(here, "state")}
			n.env = []string{"PATH=" + here + ":" + os.Getenv("PATH"), "HERE=" + here, "MUSTER_CLUSTER=one", "MUSTER_NODE=n2", "CONFIG_SELF_ADDRESS=10.0.0.2"}
			dir := filepath.Join(n.state, "etcd", "one-n2")
			for name, text := range map[string]string{"etcd": etcd, "etcdctl": etcdctl, "says": tt.says + "\n", "fails": tt.fails, "state/etcd/one-n2/nodes": "10.0.0.1\n10.0.0.2\n"} {
				file := filepath.Join(here, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			defer n.run("etcd", "stop")
			for i := range tt.attempts {
				out, err := n.try("etcd", "start")
				if last := i == tt.attempts-1; last != (err == nil) {
					t.Fatalf("attempt %d: %v\n%s", i+1, err, out)
				}
				if err != nil && !strings.Contains(out, tt.says) {
					t.Errorf("it failed without a reason:\n%s", out)
				}
			}
			starts, err := os.ReadFile(filepath.Join(here, "starts"))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(string(starts), "--initial-cluster-state existing"); got != tt.starts || strings.Count(string(starts), "\n") != tt.starts {
				t.Errorf("started as\n%s\nwant %d times as one that joins", starts, tt.starts)
			}
			if _, err := os.Stat(filepath.Join(dir, "data", "member", "wal")); err != nil {
				t.Error(err)
			}
		})
	}
}
