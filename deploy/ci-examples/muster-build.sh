#!/bin/sh
# A cluster for a build. Needs sh, curl and openssl; docs/build-systems.md says what it sends.
#
#   muster-build.sh run COMMAND...   a cluster, the command with its addresses, and the cluster's end, however the command ended
#   muster-build.sh begin            asks for a cluster and waits until it is ready; its addresses are then in $MUSTER_DIR/env
#   muster-build.sh end              deletes it; safe to repeat
#   muster-build.sh extend 1h        moves the end of its lease
#
# Has to be set:   MUSTER_HOOK_URL     the hook's address, https://muster.example.com/hooks/…
#                  MUSTER_HOOK_SECRET  its secret, whsec_…
# May be set:      MUSTER_BUILD        the build; made up from what GitHub, GitLab, Buildkite, CircleCI and Jenkins set
#                  MUSTER_JOB          a part of it with a cluster of its own; in a matrix it has to tell the jobs apart
#                  MUSTER_LABELS       words for the hook's rules, with spaces between
#                  MUSTER_FORK         true or false: whether the code comes from a fork
#                  MUSTER_TIMEOUT      how long to wait until it is ready, in seconds; 3600
#                  MUSTER_KEY          yes: the cluster's private key is put into $MUSTER_DIR/key.pem
#                  MUSTER_FORMAT       jenkins: what is sent has the form of Jenkins' Notification plugin, for hooks of that kind
#                  MUSTER_DIR          where to remember things between begin and end; .muster. Beside env there are inventory.json, .ansible, .ssh and .known_hosts:
#                                      ssh -F .muster/inventory.ssh NODE, ansible -i .muster/inventory.ansible all -m ping
#                  MUSTER_PAUSE        seconds to wait before the server is asked again after it could not answer; 2, and longer each time
#                  MUSTER_CA           a file with the certificate that signs for the server, where that is one of your own
#
# Neither secret nor token is ever on a command line, where other users of the machine could read it.
set -eu
umask 077

say() { printf 'muster: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

dir=${MUSTER_DIR:-.muster}
case $dir in /*) ;; *) dir=$PWD/$dir ;; esac
url=${MUSTER_HOOK_URL:-}
url=${url%/}

check() {
	[ -n "$url" ] || die "MUSTER_HOOK_URL is not set: it is the address of the hook."
	[ -n "${MUSTER_HOOK_SECRET:-}" ] || die "MUSTER_HOOK_SECRET is not set. In builds of forks it never is, and that is as it should be."
	case $url in https://*|http://127.0.0.1:*|http://localhost:*) ;; *) die "MUSTER_HOOK_URL has to begin with https://." ;; esac
	for tool in curl openssl od; do command -v $tool >/dev/null 2>&1 || die "$tool is missing."; done
	which=$(build) || exit 1
	mkdir -p "$dir"
}

# build says which build this is, in the words that the systems' own webhooks have for it.
build() {
	if [ -n "${MUSTER_BUILD:-}" ]; then printf %s "$MUSTER_BUILD"
	elif [ -n "${GITHUB_RUN_ID:-}" ]; then printf %s "$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID/attempts/${GITHUB_RUN_ATTEMPT:-1}"
	elif [ -n "${CI_PIPELINE_ID:-}" ]; then printf %s "$CI_PROJECT_PATH/-/pipelines/$CI_PIPELINE_ID"
	elif [ -n "${BUILDKITE_BUILD_NUMBER:-}" ]; then printf %s "$BUILDKITE_ORGANIZATION_SLUG/$BUILDKITE_PIPELINE_SLUG/builds/$BUILDKITE_BUILD_NUMBER"
	elif [ -n "${CIRCLE_WORKFLOW_ID:-}" ]; then printf %s "$CIRCLE_PROJECT_USERNAME/$CIRCLE_PROJECT_REPONAME/workflows/$CIRCLE_WORKFLOW_ID"
	elif [ -n "${JENKINS_URL:-}" ]; then b=${BUILD_URL#"$JENKINS_URL"}; printf %s "${b%/}"
	else die "Which build is this? Set MUSTER_BUILD, or run it in a build."
	fi
}

# text writes a JSON string; control characters have no place in any of these words.
text() { printf '"%s"' "$(printf %s "$1" | tr -d '\000-\037\177' | sed 's/\\/\\\\/g; s/"/\\"/g')"; }
field() { [ -z "$2" ] || printf ',"%s":%s' "$1" "$(text "$2")"; }

# repository ADDRESS prints host and path of https://host/path.git, ssh://git@host/path or git@host:path.
repository() { printf %s "$1" | sed 's|^[a-z+]*://||; s|^[^/@]*@||; s|^\([^/:]*\):[0-9]*/|\1/|; s|^\([^/:]*\):|\1/|; s|/*$||; s|\.git$||' | tr '[:upper:]' '[:lower:]'; }

fork() {
	case ${MUSTER_FORK:-} in true|false) printf %s "$MUSTER_FORK"; return ;; '') ;; *) die "MUSTER_FORK is true or false." ;; esac
	if [ -n "${CI_MERGE_REQUEST_SOURCE_PROJECT_ID:-}" ]; then
		[ "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID" = "${CI_MERGE_REQUEST_PROJECT_ID:-}" ] && printf false || printf true
	elif [ -n "${CI_PIPELINE_ID:-}" ]; then printf false
	elif [ "${BUILDKITE_PULL_REQUEST:-}" = false ]; then printf false
	elif [ -n "${BUILDKITE_PULL_REQUEST_REPO:-}" ] && [ -n "${BUILDKITE_REPO:-}" ]; then
		[ "$(repository "$BUILDKITE_PULL_REQUEST_REPO")" = "$(repository "$BUILDKITE_REPO")" ] && printf false || printf true
	elif [ -n "${CIRCLE_PR_REPONAME:-}" ]; then printf true
	fi
}

# generic PHASE [RESULT] is a body in Muster's own words.
generic() {
	f=$(fork) || exit 1
	job=${MUSTER_JOB-${GITHUB_JOB:-${CI_JOB_NAME:-${BUILDKITE_STEP_KEY:-${CIRCLE_JOB:-}}}}}
	branch=${GITHUB_HEAD_REF:-${CI_MERGE_REQUEST_SOURCE_BRANCH_NAME:-${CI_COMMIT_BRANCH:-${BUILDKITE_BRANCH:-${CIRCLE_BRANCH:-${BRANCH_NAME:-}}}}}}
	[ -n "$branch" ] || [ "${GITHUB_REF_TYPE:-}" != branch ] || branch=$GITHUB_REF_NAME
	tag=${CI_COMMIT_TAG:-${BUILDKITE_TAG:-${CIRCLE_TAG:-${TAG_NAME:-}}}}
	[ "${GITHUB_REF_TYPE:-}" != tag ] || tag=$GITHUB_REF_NAME
	printf '{"event":"build","phase":"%s","build":%s' "$1" "$(text "$which")"
	field job "$job"
	field job_id "${CI_JOB_ID:-${BUILDKITE_JOB_ID:-}}"
	field result "${2:-}"
	field repository "${GITHUB_REPOSITORY:-${CI_PROJECT_PATH:-${CIRCLE_PROJECT_USERNAME:+$CIRCLE_PROJECT_USERNAME/$CIRCLE_PROJECT_REPONAME}}}"
	field branch "$branch"
	field tag "$tag"
	field commit "${GITHUB_SHA:-${CI_COMMIT_SHA:-${BUILDKITE_COMMIT:-${CIRCLE_SHA1:-${GIT_COMMIT:-}}}}}"
	field actor "${GITHUB_ACTOR:-${GITLAB_USER_LOGIN:-${BUILDKITE_BUILD_CREATOR:-${CIRCLE_USERNAME:-}}}}"
	page=${CI_JOB_URL:-${BUILDKITE_BUILD_URL:-${CIRCLE_BUILD_URL:-${BUILD_URL:-}}}}
	[ -z "${GITHUB_RUN_ID:-}" ] || page=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID
	case $page in https://*) field url "$page" ;; esac
	n=${CI_MERGE_REQUEST_IID:-${BUILDKITE_PULL_REQUEST:-${CIRCLE_PR_NUMBER:-${CHANGE_ID:-}}}}
	case ${GITHUB_REF:-} in refs/pull/*/*) n=${GITHUB_REF#refs/pull/}; n=${n%%/*} ;; esac
	case $n in ''|0*|*[!0-9]*) ;; *) printf ',"pull_request":%s' "$n" ;; esac
	[ -z "$f" ] || printf ',"fork":%s' "$f"
	if [ -n "${MUSTER_LABELS:-}" ]; then
		printf ',"labels":['
		sep=
		set -f
		for l in $MUSTER_LABELS; do printf '%s%s' "$sep" "$(text "$l")"; sep=,; done
		set +f
		printf ']'
	fi
	printf '}'
}

# jenkins PHASE [RESULT] is a body in the words of Jenkins' Notification plugin.
jenkins() {
	case $1 in running) phase=STARTED ;; *) phase=FINALIZED ;; esac
	path=${BUILD_URL#"$JENKINS_URL"}
	printf '{"name":%s,"url":%s,"build":{"full_url":%s,"number":%s,"phase":"%s","url":%s' "$(text "${JOB_BASE_NAME:-$JOB_NAME}")" \
		"$(text "${path%"$BUILD_NUMBER"/}")" "$(text "$BUILD_URL")" "$BUILD_NUMBER" "$phase" "$(text "$path")"
	field status "${2:-}"
	printf ',"scm":{"url":%s,"branch":%s,"commit":%s},"parameters":{}}}' "$(text "${GIT_URL:-}")" "$(text "${GIT_BRANCH:-}")" "$(text "${GIT_COMMIT:-}")"
}

body() { if [ "${MUSTER_FORMAT:-}" = jenkins ]; then jenkins "$@"; else generic "$@"; fi; }

# hmac reads a text and prints its HMAC-SHA256 in base64. It is made of two hashes, since openssl takes keys from its command line only.
hmac() {
	hex=$(printf %s "${MUSTER_HOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
	[ ${#hex} -ge 32 ] && [ ${#hex} -le 128 ] || die "MUSTER_HOOK_SECRET is not whsec_ and base64 of 16 to 64 bytes."
	while [ ${#hex} -lt 128 ]; do hex=${hex}00; done
	inner= outer=
	while [ -n "$hex" ]; do
		rest=${hex#??}; byte=$((0x${hex%"$rest"})); hex=$rest
		a=$((byte ^ 0x36)) b=$((byte ^ 0x5c))
		inner=$inner\\$((a / 64))$((a / 8 % 8))$((a % 8)) outer=$outer\\$((b / 64))$((b / 8 % 8))$((b % 8))
	done
	{ printf "$inner"; cat; } | openssl dgst -sha256 -binary >"$dir/inner"
	{ printf "$outer"; cat "$dir/inner"; } | openssl dgst -sha256 -binary | openssl base64 -A
	rm -f "$dir/inner"
}

# request METHOD ADDRESS HEADERS [BODY FILE] leaves the answer in $dir/answer and its status in $status. What did not arrive, or was too much, is
# tried again: the server knows a delivery that comes twice.
request() {
	try=0
	while :; do
		set -- "$1" "$2" "$3" "${4:-}"
		status=$(curl --silent --show-error --max-time 60 --proto '=https,http' ${MUSTER_CA:+--cacert "$MUSTER_CA"} --request "$1" --header "@$3" ${4:+--data-binary "@$4"} \
			--output "$dir/answer" --write-out '%{http_code}' "$2") || status=000
		case $status in
		000|429|5??) try=$((try + 1)); [ $try -lt 6 ] || return 0; sleep $((try * ${MUSTER_PAUSE:-2})) ;;
		*) return 0 ;;
		esac
	done
}

# deliver PHASE [RESULT] sends a signed delivery.
deliver() {
	body "$@" >"$dir/body"
	id=msg_$(openssl rand -hex 16) now=$(date +%s)
	sign=$({ printf '%s.%s.' "$id" "$now"; cat "$dir/body"; } | hmac) || exit 1
	printf 'Content-Type: application/json\nwebhook-id: %s\nwebhook-timestamp: %s\nwebhook-signature: v1,%s\n' "$id" "$now" "$sign" >"$dir/headers"
	request POST "$url" "$dir/headers" "$dir/body"
	rm -f "$dir/headers"
}

# word NAME prints the first text of that name in the answer. A quote inside of other texts is escaped there, so it cannot be mistaken for one.
word() { tr -d '\n' <"$dir/answer" | grep -o "\"$1\": *\"\([^\"\\\\]\|\\\\.\)*\"" | head -n 1 | sed 's/^"[^"]*": *"//; s/"$//; s/\\"/"/g; s/\\\\/\\/g'; }
number() { tr -d '\n' <"$dir/answer" | grep -o "\"$1\": *[0-9][0-9]*" | head -n 1 | sed 's/.*: *//'; }
why() { w=$(word words); [ -n "$w" ] || w=$(word detail); [ -n "$w" ] || w=$(word message); printf %s "${w:-no reason was given}"; }

# about METHOD PATH [BODY FILE] asks about the build that begin remembered.
about() {
	request "$1" "$url/builds/$(cat "$dir/build")$2" "$dir/token" "${3:-}"
}

begin() {
	check
	rm -f "$dir/build" "$dir/token" "$dir/env"
	asked=yes
	deliver running
	[ "$status" != 409 ] || deliver running # its answer got lost; to another number it is given again
	case $status in
	2??) ;;
	401) die "The server does not take the signature. Is MUSTER_HOOK_SECRET the secret of this hook, and is this machine's clock right?" ;;
	000) die "The server cannot be reached." ;;
	*) die "The server answers $status: $(why)" ;;
	esac
	build=$(number build) token=$(word token)
	[ -n "$build" ] && [ -n "$token" ] || die "There is no cluster for this build: $(why)"
	case $token in *[!A-Za-z0-9_-]*) die "The server's token makes no sense." ;; esac
	printf %s "$build" >"$dir/build"
	printf 'Content-Type: application/json\nAuthorization: Bearer %s\n' "$token" >"$dir/token"
	w=$(word words)
	say "Build $build asked for a cluster. $w"
	await
}

await() {
	until=$(($(date +%s) + ${MUSTER_TIMEOUT:-3600})) before=
	while :; do
		about GET '?wait=20'
		[ "$status" = 200 ] || die "The server answers $status: $(why)"
		state=$(word state)
		[ "$state" = "$before" ] || say "It is $state."
		before=$state
		case $state in
		ready) break ;;
		waiting|asking|creating) ;;
		*) die "There is no cluster: $state. $(why)" ;;
		esac
		[ "$(date +%s)" -lt "$until" ] || die "It was not ready within ${MUSTER_TIMEOUT:-3600} seconds."
	done
	# Each file names the others where they are. Some characters can't be part of such a path, such as spaces.
	query= at=
	case $dir in
	*[!A-Za-z0-9_./@+-]*) say "$dir has characters that SSH and Ansible files can't hold: keep inventory.known_hosts where they name it, or set MUSTER_DIR." ;;
	*) at=$(printf %s "$dir" | sed 's/+/%2B/g'); query="&known_hosts=$at/inventory.known_hosts" ;;
	esac
	if [ "${MUSTER_KEY:-}" = yes ]; then
		about GET /key
		[ "$status" = 200 ] || die "The key is not to be had: $(why)"
		mv "$dir/answer" "$dir/key.pem"
		[ -z "$at" ] || query="$query&key=$at/key.pem"
	fi
	for format in env json ansible ssh known_hosts; do
		about GET "/inventory?format=$format$query"
		[ "$status" = 200 ] || die "The inventory is not to be had: $(why)"
		mv "$dir/answer" "$dir/inventory.$format"
	done
	# Only plain assignments, whatever the server says: shells read them.
	grep -E '^MUSTER_(CLUSTER|CLUSTER_NAME|SSH_KEY|NODES|NODE_[A-Z0-9_]+|SERVICE_[A-Z0-9_]+)=[A-Za-z0-9_.,:/~@+-]*$' "$dir/inventory.env" >"$dir/env"
	[ -z "$at" ] || printf 'MUSTER_INVENTORY=%s\n' "$dir/inventory.ansible" >>"$dir/env"
	if [ -n "${GITHUB_ENV:-}" ]; then cat "$dir/env" >>"$GITHUB_ENV"; fi
	if [ -n "${BASH_ENV:-}" ] && [ -n "${CIRCLECI:-}" ]; then sed 's/^/export /' "$dir/env" >>"$BASH_ENV"; fi
	say "Its addresses are in $dir/env:"
	sed 's/^/  /' "$dir/env" >&2
}

end() {
	check
	if [ -f "$dir/build" ]; then
		: >"$dir/body"
		about POST /end "$dir/body"
		case $status in
		2??) say "Build $(cat "$dir/build") was ended."; forget; return 0 ;;
		esac
	fi
	# Without a token, or where it opens nothing any more, the signature still tells that the build is over.
	deliver ended "${1:-}"
	forget
	case $status in 2??|409) say "Build end reported." ;; *) die "The server answers $status: $(why) Its lease ends by itself." ;; esac
}

forget() { rm -f "$dir/build" "$dir/token" "$dir/key.pem" "$dir/body" "$dir/answer"; }

run() {
	[ $# -gt 0 ] || die "What is to be run? muster-build.sh run COMMAND..."
	asked= child=
	trap 'over $?' EXIT
	trap 'stop HUP 129' HUP
	trap 'stop INT 130' INT
	trap 'stop TERM 143' TERM
	begin
	set -a
	. "$dir/env"
	set +a
	# In the background, so that a signal is heard while it runs. It does not need the secret, nor does whatever it starts.
	(unset MUSTER_HOOK_SECRET; exec "$@") <&0 &
	child=$!
	wait "$child"
}

stop() {
	[ -z "$child" ] || { kill -TERM "$child" 2>/dev/null && wait "$child" || :; }
	exit "$2"
}

# over deletes the cluster whatever happened, and keeps the command's exit code.
over() {
	trap - EXIT
	trap '' HUP INT TERM
	result=success
	[ "$1" = 0 ] || result=failure
	[ -z "$asked" ] || (end "$result") || :
	exit "$1"
}

case ${1:-} in
begin) begin ;;
end) end "${2:-}" ;;
run) shift; run "$@" ;;
extend)
	check
	[ -f "$dir/build" ] || die "No build was begun here."
	printf '{"by":%s}' "$(text "${2:-1h}")" >"$dir/body"
	about POST /extend "$dir/body"
	case $status in 2??) say "Its lease was extended." ;; *) die "The server answers $status: $(why)" ;; esac ;;
*) sed -n '2,/^set -eu/{/^set -eu/d;s/^# \{0,1\}//;p;}' "$0" >&2; exit 2 ;;
esac
