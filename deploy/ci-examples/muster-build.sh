#!/bin/sh
# A cluster for a build. Needs sh, curl and openssl; docs/build-systems.md says what it sends.
#
#   muster-build.sh run COMMAND...   creates a cluster, runs the command with its addresses, and deletes it, whatever the exit code
#   muster-build.sh begin            requests a cluster and waits until it's ready; its addresses are then in $MUSTER_DIR/env
#   muster-build.sh end              deletes it; safe to repeat
#   muster-build.sh extend 1h        extends its lease
#
# Required:        MUSTER_HOOK_URL     the build hook's address, https://muster.example.com/hooks/…
#                  MUSTER_HOOK_SECRET  its secret, whsec_…
# Optional:        MUSTER_BUILD        the build; by default from the variables of GitHub, GitLab, Buildkite, CircleCI and Jenkins
#                  MUSTER_JOB          a job with its own cluster; must be unique in a matrix
#                  MUSTER_LABELS       labels for the hook's rules, separated by spaces
#                  MUSTER_FORK         true or false: whether the code comes from a fork
#                  MUSTER_TIMEOUT      how long to wait until the cluster is ready, in seconds; 3600
#                  MUSTER_KEY          yes: save the cluster's private key in $MUSTER_DIR/key.pem
#                  MUSTER_FORMAT       jenkins: send messages of Jenkins' Notification plugin, for hooks of that kind
#                  MUSTER_DIR          directory for state between begin and end; .muster. Besides env it has inventory.json, .ansible, .ssh and .known_hosts:
#                                      ssh -F .muster/inventory.ssh NODE, ansible -i .muster/inventory.ansible all -m ping
#                  MUSTER_PAUSE        seconds before the first retry of a failed request; 2, and longer each time
#                  MUSTER_CA           a file with your own CA certificate for the server
#
# Secret and token are never on a command line, where other users of the machine could read them.
set -eu
umask 077

say() { printf 'muster: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

dir=${MUSTER_DIR:-.muster}
case $dir in /*) ;; *) dir=$PWD/$dir ;; esac
url=${MUSTER_HOOK_URL:-}
url=${url%/}

check() {
	[ -n "$url" ] || die "Set MUSTER_HOOK_URL to the build hook's address."
	[ -n "${MUSTER_HOOK_SECRET:-}" ] || die "Set MUSTER_HOOK_SECRET. Builds of forks don't get it, on purpose."
	case $url in https://*|http://127.0.0.1:*|http://localhost:*) ;; *) die "MUSTER_HOOK_URL must start with https://." ;; esac
	for tool in curl openssl od; do command -v $tool >/dev/null 2>&1 || die "$tool isn't installed."; done
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
	else die "Unknown build. Set MUSTER_BUILD, or run this script in a build."
	fi
}

# text writes a JSON string; control characters have no place in any of these words.
text() { printf '"%s"' "$(printf %s "$1" | tr -d '\000-\037\177' | sed 's/\\/\\\\/g; s/"/\\"/g')"; }
field() { [ -z "$2" ] || printf ',"%s":%s' "$1" "$(text "$2")"; }

# repository ADDRESS prints host and path of https://host/path.git, ssh://git@host/path or git@host:path.
repository() { printf %s "$1" | sed 's|^[a-z+]*://||; s|^[^/@]*@||; s|^\([^/:]*\):[0-9]*/|\1/|; s|^\([^/:]*\):|\1/|; s|/*$||; s|\.git$||' | tr '[:upper:]' '[:lower:]'; }

fork() {
	case ${MUSTER_FORK:-} in true|false) printf %s "$MUSTER_FORK"; return ;; '') ;; *) die "MUSTER_FORK must be true or false." ;; esac
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

# jenkins PHASE [RESULT] prints a message of Jenkins' Notification plugin.
jenkins() {
	case $1 in running) phase=STARTED ;; *) phase=FINALIZED ;; esac
	path=${BUILD_URL#"$JENKINS_URL"}
	printf '{"name":%s,"url":%s,"build":{"full_url":%s,"number":%s,"phase":"%s","url":%s' "$(text "${JOB_BASE_NAME:-$JOB_NAME}")" \
		"$(text "${path%"$BUILD_NUMBER"/}")" "$(text "$BUILD_URL")" "$BUILD_NUMBER" "$phase" "$(text "$path")"
	field status "${2:-}"
	printf ',"scm":{"url":%s,"branch":%s,"commit":%s},"parameters":{}}}' "$(text "${GIT_URL:-}")" "$(text "${GIT_BRANCH:-}")" "$(text "${GIT_COMMIT:-}")"
}

body() { if [ "${MUSTER_FORMAT:-}" = jenkins ]; then jenkins "$@"; else generic "$@"; fi; }

# hmac reads a text and prints its HMAC-SHA256 in base64. It uses two hashes, since openssl takes keys only on its command line.
hmac() {
	hex=$(printf %s "${MUSTER_HOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
	[ ${#hex} -ge 32 ] && [ ${#hex} -le 128 ] || die "MUSTER_HOOK_SECRET must be whsec_ and base64 of 16 to 64 bytes."
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

# request METHOD ADDRESS HEADERS [BODY FILE] saves the response in $dir/answer and its status in $status. Failed and rate-limited requests are
# retried: the server recognizes repeated deliveries.
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

# word NAME prints the first text of that name in the response. Quotes inside other texts are escaped there, so they can't be mistaken for one.
word() { tr -d '\n' <"$dir/answer" | grep -o "\"$1\": *\"\([^\"\\\\]\|\\\\.\)*\"" | head -n 1 | sed 's/^"[^"]*": *"//; s/"$//; s/\\"/"/g; s/\\\\/\\/g'; }
number() { tr -d '\n' <"$dir/answer" | grep -o "\"$1\": *[0-9][0-9]*" | head -n 1 | sed 's/.*: *//'; }
why() { w=$(word words); [ -n "$w" ] || w=$(word detail); [ -n "$w" ] || w=$(word message); printf %s "${w:-no reason was given}"; }

# about METHOD PATH [BODY FILE] queries the build that begin saved.
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
	401) die "The server rejected the signature. Check MUSTER_HOOK_SECRET and this machine's clock." ;;
	000) die "Can't connect to the server." ;;
	*) die "The server responded $status: $(why)" ;;
	esac
	build=$(number build) token=$(word token)
	[ -n "$build" ] && [ -n "$token" ] || die "No cluster for this build: $(why)"
	case $token in *[!A-Za-z0-9_-]*) die "The server sent an invalid token." ;; esac
	printf %s "$build" >"$dir/build"
	printf 'Content-Type: application/json\nAuthorization: Bearer %s\n' "$token" >"$dir/token"
	w=$(word words)
	say "Build $build requested a cluster. $w"
	await
}

await() {
	until=$(($(date +%s) + ${MUSTER_TIMEOUT:-3600})) before=
	while :; do
		about GET '?wait=20'
		[ "$status" = 200 ] || die "The server responded $status: $(why)"
		state=$(word state)
		[ "$state" = "$before" ] || say "State: $state."
		before=$state
		case $state in
		ready) break ;;
		waiting|asking|creating) ;;
		*) die "No cluster: $state. $(why)" ;;
		esac
		[ "$(date +%s)" -lt "$until" ] || die "The cluster wasn't ready within ${MUSTER_TIMEOUT:-3600} s."
	done
	# Each file names the others where they are. Some characters can't be part of such a path, such as spaces.
	query= at=
	case $dir in
	*[!A-Za-z0-9_./@+-]*) say "$dir has characters that SSH and Ansible files can't hold: keep inventory.known_hosts where they name it, or set MUSTER_DIR." ;;
	*) at=$(printf %s "$dir" | sed 's/+/%2B/g'); query="&known_hosts=$at/inventory.known_hosts" ;;
	esac
	if [ "${MUSTER_KEY:-}" = yes ]; then
		about GET /key
		[ "$status" = 200 ] || die "Can't get the key: $(why)"
		mv "$dir/answer" "$dir/key.pem"
		[ -z "$at" ] || query="$query&key=$at/key.pem"
	fi
	for format in env json ansible ssh known_hosts; do
		about GET "/inventory?format=$format$query"
		[ "$status" = 200 ] || die "Can't get the inventory: $(why)"
		mv "$dir/answer" "$dir/inventory.$format"
	done
	# Only plain assignments, whatever the server says: shells read them.
	grep -E '^MUSTER_(CLUSTER|CLUSTER_NAME|SSH_KEY|NODES|NODE_[A-Z0-9_]+|SERVICE_[A-Z0-9_]+)=[A-Za-z0-9_.,:/~@+-]*$' "$dir/inventory.env" >"$dir/env"
	[ -z "$at" ] || printf 'MUSTER_INVENTORY=%s\n' "$dir/inventory.ansible" >>"$dir/env"
	if [ -n "${GITHUB_ENV:-}" ]; then cat "$dir/env" >>"$GITHUB_ENV"; fi
	if [ -n "${BASH_ENV:-}" ] && [ -n "${CIRCLECI:-}" ]; then sed 's/^/export /' "$dir/env" >>"$BASH_ENV"; fi
	say "Addresses, in $dir/env:"
	sed 's/^/  /' "$dir/env" >&2
}

end() {
	check
	if [ -f "$dir/build" ]; then
		: >"$dir/body"
		about POST /end "$dir/body"
		case $status in
		2??) say "Build $(cat "$dir/build") ended."; forget; return 0 ;;
		esac
	fi
	# Without a token, or where it opens nothing any more, the signature still tells that the build is over.
	deliver ended "${1:-}"
	forget
	case $status in 2??|409) say "Build end reported." ;; *) die "The server responded $status: $(why) The cluster expires with its lease." ;; esac
}

forget() { rm -f "$dir/build" "$dir/token" "$dir/key.pem" "$dir/body" "$dir/answer"; }

run() {
	[ $# -gt 0 ] || die "Usage: muster-build.sh run COMMAND..."
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
	[ -f "$dir/build" ] || die "No build was started here."
	printf '{"by":%s}' "$(text "${2:-1h}")" >"$dir/body"
	about POST /extend "$dir/body"
	case $status in 2??) say "Lease extended." ;; *) die "The server responded $status: $(why)" ;; esac ;;
*) sed -n '2,/^set -eu/{/^set -eu/d;s/^# \{0,1\}//;p;}' "$0" >&2; exit 2 ;;
esac
