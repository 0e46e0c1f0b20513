// Package operation keeps operations and the steps that workers carry out: it creates clusters, accepts, plans, claims
// and finishes. It also keeps requests, manual steps, top-ups, pools and operation hooks, since each of them begins,
// holds or ends an operation in one transaction. The rules are those of app/ledger. It uses the packages of all nouns
// whose rows such a transaction writes.
package operation
