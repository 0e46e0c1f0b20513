// Package apptest has what tests of many packages share: a clock that only the test moves, small plans and clusters as a store takes
// them, the codes of an authenticator app, and a PostgreSQL server. The suites are beside what they try: app/store/storetest,
// app/execution/executiontest and app/ledger/ledgertest.
package apptest
