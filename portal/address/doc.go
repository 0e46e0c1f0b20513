// Package address knows where in the portal a subject is shown. The core names subjects only; pages, the API, chats, webhooks and commit
// statuses have their addresses from here, so that an address is written in one place. It uses the core's nouns and nothing else.
package address
