// Package operation keeps operations at work: it creates clusters, submits, plans, claims and finishes steps, and keeps requests,
// questions, top-ups, pools and life-cycle hooks, which all begin, hold or end an operation in one transaction. The rules
// are app/ledger's; it uses the parts below it for the rows that such a transaction writes.
package operation
